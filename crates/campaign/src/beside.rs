//! A thread that writes a run's files while the run goes on: on a second core, writing hundreds of megabytes costs a
//! run no time.
//!
//! The run fills a block of each file; a full block goes to the thread, which gives it back empty. The number of blocks
//! under way is limited, so a slow disk holds the run up and no memory fills.

use std::cell::Cell;
use std::io::{Error, ErrorKind, Result, Write};
use std::ops::RangeInclusive;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

/// Memory of the blocks of all files together \[byte\]: little beside a run.
const BLOCKS: usize = 16 << 20;
/// Sizes of a block \[byte\]. To wake the thread for less costs more than to write it; more gains nothing.
const BLOCK: RangeInclusive<usize> = (16 << 10)..=(256 << 10);
/// Blocks under way at most: some milliseconds of a disk's work.
const UNDER_WAY: usize = 8;

/// An order of the run to the thread.
enum Order {
    /// Takes a file, and tells of its failure by the flag.
    Take(Box<dyn Write + Send>, Arc<AtomicBool>),
    /// Writes a block to the file of this number.
    Write(usize, Vec<u8>),
    /// Ends the file of this number, and answers with the first error of its writing.
    Finish(usize, SyncSender<Result<()>>),
    /// Ends the thread.
    End,
}

/// The thread, as the run sees it.
#[derive(Debug)]
pub struct Writer {
    link: Rc<Link>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Link {
    orders: SyncSender<Order>,
    empty: Receiver<Vec<u8>>,
    /// The number of files.
    taken: Cell<usize>,
}

impl Link {
    /// The size of a block \[byte\]: small where there are many files.
    fn block_size(&self) -> usize {
        (BLOCKS / self.taken.get().max(1)).clamp(*BLOCK.start(), *BLOCK.end())
    }

    fn send(&self, order: Order) -> Result<()> {
        self.orders.send(order).map_err(|_| Error::new(ErrorKind::BrokenPipe, "the thread that writes files has ended"))
    }
}

impl Writer {
    /// Starts the thread.
    ///
    /// # Errors
    /// The system's error.
    pub fn start() -> Result<Self> {
        let (orders, received) = sync_channel(UNDER_WAY);
        let (give_back, empty) = channel();
        let work = move || serve(&received, &give_back);
        let thread = std::thread::Builder::new().name("files".to_owned()).spawn(work)?;
        Ok(Self { link: Rc::new(Link { orders, empty, taken: Cell::new(0) }), thread: Some(thread) })
    }

    /// Hands a file over. What is written to the result is written to `out` by the thread, soon.
    ///
    /// # Errors
    /// The thread has ended.
    pub fn hand_over(&mut self, out: Box<dyn Write + Send>) -> Result<Beside> {
        let failed = Arc::new(AtomicBool::new(false));
        self.link.send(Order::Take(out, Arc::clone(&failed)))?;
        let number = self.link.taken.get();
        self.link.taken.set(number + 1);
        Ok(Beside { link: Rc::clone(&self.link), number, block: Vec::new(), size: *BLOCK.start(), failed })
    }
}

impl Drop for Writer {
    /// Waits for what is under way: the files may be removed next.
    fn drop(&mut self) {
        // A thread that has ended already has nothing under way.
        let _ = self.link.send(Order::End);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A file that the thread writes. An error is told by a later call, at the latest by the flush, which waits.
#[derive(Debug)]
pub struct Beside {
    link: Rc<Link>,
    number: usize,
    block: Vec<u8>,
    /// The size at which the block goes to the thread \[byte\].
    size: usize,
    failed: Arc<AtomicBool>,
}

impl Beside {
    fn send_block(&mut self) -> Result<()> {
        if self.failed.load(Ordering::Relaxed) {
            return self.finish();
        }
        self.size = self.link.block_size();
        let empty = self.link.empty.try_recv().unwrap_or_default();
        let block = std::mem::replace(&mut self.block, empty);
        self.link.send(Order::Write(self.number, block))
    }

    fn finish(&self) -> Result<()> {
        let (answer, answered) = sync_channel(1);
        self.link.send(Order::Finish(self.number, answer))?;
        answered.recv().unwrap_or_else(|_| Err(ErrorKind::BrokenPipe.into()))
    }
}

impl Write for Beside {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        if self.block.len() >= self.size {
            self.send_block()?;
        }
        self.block.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        if !self.block.is_empty() {
            self.send_block()?;
        }
        self.finish()
    }
}

/// A file on the thread's side.
struct Taken {
    out: Box<dyn Write + Send>,
    /// Its first error. What is written after it goes nowhere.
    error: Option<Error>,
    failed: Arc<AtomicBool>,
}

impl Taken {
    fn attempt(&mut self, work: impl FnOnce(&mut dyn Write) -> Result<()>) {
        if self.failed.load(Ordering::Relaxed) {
            return;
        }
        if let Err(error) = work(&mut self.out) {
            self.error = Some(error);
            self.failed.store(true, Ordering::Relaxed);
        }
    }
}

/// The thread's work.
fn serve(orders: &Receiver<Order>, give_back: &Sender<Vec<u8>>) {
    let mut files: Vec<Taken> = Vec::new();
    for order in orders {
        match order {
            Order::Take(out, failed) => files.push(Taken { out, error: None, failed }),
            Order::Write(number, mut block) => {
                files[number].attempt(|out| out.write_all(&block));
                block.clear();
                // Nobody takes it: the run is over.
                let _ = give_back.send(block);
            }
            Order::Finish(number, answer) => {
                files[number].attempt(|out| out.flush());
                // Nobody waits: the run has been given up.
                let _ = answer.send(files[number].error.take().map_or(Ok(()), Err));
            }
            Order::End => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    /// A disk of limited size.
    #[derive(Clone)]
    struct Disk(Arc<Mutex<Vec<u8>>>, usize);

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> Result<usize> {
            let mut disk = self.0.lock().unwrap();
            if disk.len() + bytes.len() > self.1 {
                return Err(ErrorKind::StorageFull.into());
            }
            disk.extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> Result<()> {
            Ok(())
        }
    }

    #[test]
    fn after_a_flush_every_byte_is_where_it_belongs() {
        let mut writer = Writer::start().unwrap();
        let disks = [0, 1, 2].map(|_| Disk(Arc::default(), usize::MAX));
        let mut files = disks.clone().map(|disk| writer.hand_over(Box::new(disk)).unwrap());
        // Steps that share no factor with a block's size: every place of its end is met.
        let step = 977;
        let bytes = |file: usize, turn: usize| vec![(file * 97 + turn) as u8; step * (file + 1)];
        for turn in 0..1_000 {
            for (number, file) in files.iter_mut().enumerate() {
                file.write_all(&bytes(number, turn)).unwrap();
            }
        }
        for (number, (file, disk)) in files.iter_mut().zip(&disks).enumerate() {
            file.flush().unwrap();
            let expected: Vec<u8> = (0..1_000).flat_map(|turn| bytes(number, turn)).collect();
            assert!(*disk.0.lock().unwrap() == expected, "file {number}");
        }
    }

    #[test]
    fn a_full_disk_stops_its_file_alone() {
        let mut writer = Writer::start().unwrap();
        let full = Disk(Arc::default(), 5 * BLOCK.end());
        let mut file = writer.hand_over(Box::new(full)).unwrap();
        let mut other = writer.hand_over(Box::new(Disk(Arc::default(), usize::MAX))).unwrap();
        // More than can be under way: it is told before the end.
        let written = (0..10 * UNDER_WAY).take_while(|_| file.write_all(&[1; *BLOCK.end()]).is_ok()).count();
        assert!((5..10 * UNDER_WAY).contains(&written), "{written}");
        other.write_all(&[1; 3 * *BLOCK.end()]).unwrap();
        other.flush().unwrap();
    }

    #[test]
    fn an_error_of_the_last_block_is_told_by_the_flush() {
        let mut writer = Writer::start().unwrap();
        let mut file = writer.hand_over(Box::new(Disk(Arc::default(), 10))).unwrap();
        file.write_all(&[1; 11]).unwrap();
        assert_eq!(file.flush().unwrap_err().kind(), ErrorKind::StorageFull);
    }

    #[test]
    fn a_file_outlives_its_writer_as_an_error() {
        let mut writer = Writer::start().unwrap();
        let mut file = writer.hand_over(Box::new(Disk(Arc::default(), 10))).unwrap();
        drop(writer);
        file.write_all(&[1; 5]).unwrap();
        assert_eq!(file.flush().unwrap_err().kind(), ErrorKind::BrokenPipe);
    }
}
