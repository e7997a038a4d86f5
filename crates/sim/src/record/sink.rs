//! Where recordings go: files made by whoever started the run, or memory. What a recorder writes leaves at once, so
//! that the length of a run does not matter.

use std::cell::{OnceCell, RefCell};
use std::io::{self, Write};
use std::rc::Rc;

/// Makes the files of a run's recordings.
pub trait Sinks {
    /// Begins a file of this name; a flush ends it.
    ///
    /// # Errors
    /// There can be no such file.
    fn create(&mut self, name: &str) -> io::Result<Box<dyn Write>>;

    /// The file's place, as messages name it.
    fn place(&self, name: &str) -> String {
        name.to_owned()
    }
}

/// A recording could not be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {cause}")]
pub struct RecordError {
    /// The file.
    pub place: String,
    /// The system's message.
    pub cause: String,
}

/// The first failure of any recording of a run. It stops the run; what is written after it goes nowhere.
pub type Failure = Rc<OnceCell<RecordError>>;

/// One file of a recording. Writing to it does not fail: the run looks at its [`Failure`] now and then.
pub struct Sink {
    place: String,
    out: Option<Box<dyn Write>>,
    failure: Failure,
}

impl std::fmt::Debug for Sink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Sink").field(&self.place).finish()
    }
}

impl Sink {
    pub fn create(sinks: &mut dyn Sinks, name: &str, failure: &Failure) -> Self {
        let mut sink = Self { place: sinks.place(name), out: None, failure: Rc::clone(failure) };
        match sinks.create(name) {
            Ok(out) => sink.out = Some(out),
            Err(error) => sink.fail(&error),
        }
        sink
    }

    fn fail(&mut self, error: &io::Error) {
        self.out = None;
        // A failure before this one is the cause that is told.
        let _ = self.failure.set(RecordError { place: self.place.clone(), cause: error.to_string() });
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes).map(|()| bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some(out) = &mut self.out
            && let Err(error) = out.write_all(bytes)
        {
            self.fail(&error);
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        if let Some(out) = &mut self.out
            && let Err(error) = out.flush()
        {
            self.fail(&error);
        }
        Ok(())
    }
}

/// A file of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedFile {
    pub name: String,
    /// Its bytes; `None`: they went to the sinks of whoever started the run.
    pub bytes: Option<Vec<u8>>,
}

impl RecordedFile {
    /// Whether it is a capture for Wireshark.
    pub fn is_capture(&self) -> bool {
        self.name.ends_with(".pcapng")
    }
}

/// Keeps every file in memory.
#[derive(Debug, Default)]
pub struct Memory {
    files: Vec<(String, Rc<RefCell<Vec<u8>>>)>,
}

impl Memory {
    /// The files in the order in which they were begun.
    pub fn into_files(self) -> Vec<RecordedFile> {
        let file = |(name, bytes): (String, Rc<RefCell<Vec<u8>>>)| RecordedFile { name, bytes: Some(bytes.take()) };
        self.files.into_iter().map(file).collect()
    }
}

impl Sinks for Memory {
    fn create(&mut self, name: &str) -> io::Result<Box<dyn Write>> {
        let bytes = Rc::default();
        self.files.push((name.to_owned(), Rc::clone(&bytes)));
        Ok(Box::new(MemoryFile(bytes)))
    }
}

struct MemoryFile(Rc<RefCell<Vec<u8>>>);

impl Write for MemoryFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Remembers the names of the files that others make.
pub(crate) struct Named<'a> {
    pub sinks: &'a mut dyn Sinks,
    pub names: Vec<String>,
}

impl Sinks for Named<'_> {
    fn create(&mut self, name: &str) -> io::Result<Box<dyn Write>> {
        self.names.push(name.to_owned());
        self.sinks.create(name)
    }
    fn place(&self, name: &str) -> String {
        self.sinks.place(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Full(u32);

    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 -= 1;
            if self.0 == 0 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(bytes.len()) }
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Sinks for u32 {
        fn create(&mut self, _: &str) -> io::Result<Box<dyn Write>> {
            Ok(Box::new(Full(*self)))
        }
    }

    #[test]
    fn the_first_failure_is_told_with_its_place() {
        let failure = Failure::default();
        let mut late = Sink::create(&mut 3, "late", &failure);
        let mut early = Sink::create(&mut 2, "early", &failure);
        for _ in 0..4 {
            early.write_all(b"x").unwrap();
            late.write_all(b"x").unwrap();
        }
        assert_eq!(failure.get().unwrap().to_string(), "early: no storage space");
    }
}
