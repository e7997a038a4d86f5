//! The place where the files of `--out DIR` are made: a directory beside DIR, which then takes its place in one step.
//! DIR is the old result or the new one, never a half of it, and what is given up leaves nothing behind.

use crate::beside::Writer;
use crate::page::timeline::TimelinePage;
use airbraid_sim::FRAMES;
use airbraid_sim::record::Sinks;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Error, ErrorKind, Result, Write};
use std::path::{Path, PathBuf};

/// A directory that is being filled. Dropped before it has taken its place, it is removed.
#[derive(Debug, PartialEq, Eq)]
pub struct Scratch {
    dir: PathBuf,
    partial: PathBuf,
    /// The topmost directory that was made for it.
    made: Option<PathBuf>,
}

impl Scratch {
    /// Makes the directory beside `dir`.
    ///
    /// # Errors
    /// The file system's error.
    pub fn new(dir: &Path) -> Result<Self> {
        let partial = beside(dir, "partial");
        remove(&partial)?;
        let above = partial.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
        let made = above.take_while(|above| !above.exists()).last().map(Path::to_owned);
        let scratch = Self { dir: dir.to_owned(), partial, made };
        std::fs::create_dir_all(&scratch.partial)?;
        Ok(scratch)
    }

    /// The directory to fill.
    pub fn path(&self) -> &Path {
        &self.partial
    }

    /// Takes the place of DIR.
    ///
    /// # Errors
    /// The file system's error; DIR is then as it was.
    pub fn finish(mut self) -> Result<()> {
        let old = beside(&self.dir, "old");
        remove(&old)?;
        if self.dir.exists() {
            std::fs::rename(&self.dir, &old)?;
        }
        std::fs::rename(&self.partial, &self.dir).inspect_err(|_| {
            // Put the old result back; if that fails too, it is still there under its other name.
            let _ = std::fs::rename(&old, &self.dir);
        })?;
        self.made = None;
        remove(&old)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Nobody is left to hear of an error.
        let _ = remove(&self.partial);
        let Some(made) = &self.made else { return };
        for above in self.partial.ancestors().skip(1) {
            // One that somebody else uses meanwhile is not empty, and stays.
            if std::fs::remove_dir(above).is_err() || above == made {
                break;
            }
        }
    }
}

/// The place of the recordings of one cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<'a> {
    pub scratch: &'a Scratch,
    /// The cell's number, where there are several: each has a directory of its own.
    pub cell: Option<usize>,
}

impl Place<'_> {
    fn below(&self, dir: &Path) -> PathBuf {
        self.cell.map_or_else(|| dir.to_owned(), |number| dir.join(cell_name(number)))
    }
}

/// The directory of a cell's recordings, where there are several.
pub fn cell_name(number: usize) -> String {
    format!("cell-{number}")
}

/// The files of one run.
#[derive(Debug)]
pub struct Files<'a> {
    place: Place<'a>,
    created: Vec<PathBuf>,
    /// The thread that writes them, from the first one on.
    writer: Option<Writer>,
}

impl<'a> Files<'a> {
    pub const fn new(place: Place<'a>) -> Self {
        Self { place, created: Vec::new(), writer: None }
    }

    /// Removes what was written: the run has come to nothing.
    pub fn remove(mut self) {
        self.writer = None;
        for path in self.created {
            // What cannot be removed goes with the directory.
            let _ = std::fs::remove_file(path);
        }
        if self.place.cell.is_some() {
            let _ = std::fs::remove_dir(self.place.below(&self.place.scratch.partial));
        }
    }
}

impl Sinks for Files<'_> {
    fn create(&mut self, name: &str) -> Result<Box<dyn Write>> {
        let place = self.place.below(&self.place.scratch.partial);
        std::fs::create_dir_all(&place)?;
        let path = place.join(file_name(name));
        File::create(&path)?;
        self.created.push(path.clone());
        let file = Appender { path };
        let out: Box<dyn Write + Send> =
            if name == FRAMES { Box::new(TimelinePage::new(BufWriter::new(file))) } else { Box::new(file) };
        let writer = match &mut self.writer {
            Some(writer) => writer,
            none => none.insert(Writer::start()?),
        };
        Ok(Box::new(writer.hand_over(out)?))
    }

    fn place(&self, name: &str) -> String {
        self.place.below(&self.place.scratch.dir).join(file_name(name)).display().to_string()
    }
}

/// The file of a recording: the frames are in their page.
pub fn file_name(name: &str) -> String {
    // A name, not a path: whatever it is, it stays in its directory.
    if name == FRAMES { "timeline.html".to_owned() } else { name.replace(['/', '\\'], "-") }
}

/// A file that is open only while it is written to: a run may have more recordings than a process may have open files.
#[derive(Debug)]
struct Appender {
    path: PathBuf,
}

impl Write for Appender {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        OpenOptions::new().append(true).open(&self.path)?.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

/// A name in the same directory, so that a rename stays within one file system.
pub(crate) fn beside(dir: &Path, role: &str) -> PathBuf {
    let name = dir.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    dir.with_file_name(format!(".{name}.{role}-{}", std::process::id()))
}

fn remove(dir: &Path) -> Result<()> {
    match std::fs::remove_dir_all(dir) {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(Error::new(e.kind(), format!("{}: {e}", dir.display()))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn empty(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("airbraid-scratch-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn what_is_given_up_leaves_nothing_behind() {
        let folder = empty("dropped");
        let scratch = Scratch::new(&folder.join("a/b/result")).unwrap();
        let mut files = Files::new(Place { scratch: &scratch, cell: Some(3) });
        files.create("timeline.txt").unwrap().write_all(&[0; 100_000]).unwrap();
        assert!(folder.join("a/b").exists());
        drop(scratch);
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0, "directories that were made for it are gone");
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_is_finished_replaces_what_was_there() {
        let folder = empty("finished");
        let dir = folder.join("result");
        for text in ["old", "a new one"] {
            let scratch = Scratch::new(&dir).unwrap();
            let mut files = Files::new(Place { scratch: &scratch, cell: None });
            let mut file = files.create("../x").unwrap();
            file.write_all(text.as_bytes()).unwrap();
            file.flush().unwrap();
            scratch.finish().unwrap();
            assert_eq!(std::fs::read_to_string(dir.join("..-x")).unwrap(), text);
        }
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "nothing lies beside it");
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_file_that_cannot_be_written_says_where_and_why() {
        let folder = empty("full");
        let scratch = Scratch::new(&folder.join("result")).unwrap();
        let mut files = Files::new(Place { scratch: &scratch, cell: None });
        // A directory of the file's name stands for a disk that is full.
        std::fs::create_dir(scratch.path().join("timeline.txt")).unwrap();
        assert!(files.create("timeline.txt").is_err());
        assert_eq!(files.place("timeline.txt"), folder.join("result/timeline.txt").display().to_string());
        drop(scratch);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
