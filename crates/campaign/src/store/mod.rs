//! The run store: the result of every finished run, in one SQLite file, so that an interrupted campaign continues.
//!
//! A result is found by the scenario as resolved, the seed, and the sources that it was computed from. One thread
//! writes; a result that is written survives the death of the process. What is damaged is reported, set aside and never
//! used: each row has a checksum of itself and of the key that it stands under.

mod key;
#[cfg(test)]
mod sources;

pub(crate) use key::hex;
pub use key::{Build, Key, RELEASE};

use airbraid_sim::facts::Facts;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The file in the store's directory.
const FILE: &str = "runs.sqlite";
/// "AirB": tells our files from those of other programs.
const APPLICATION: i32 = 0x4169_7242;
/// The layout of the file.
const VERSION: i32 = 1;
/// Longest wait for another process that writes.
const PATIENCE: Duration = Duration::from_secs(20);

const LAYOUT: &str = "
    CREATE TABLE runs (
        scenario BLOB NOT NULL,
        seed     INTEGER NOT NULL,
        build    BLOB NOT NULL,
        facts    TEXT NOT NULL,
        checksum BLOB NOT NULL,
        PRIMARY KEY (scenario, seed, build)
    ) WITHOUT ROWID;
";

#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
    build: Build,
}

/// The reason why a store cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file is not ours.
    #[error("{} is {what}; move it away, or use another directory", .path.display())]
    Foreign { path: PathBuf, what: String },
    /// The file is damaged, and could not be set aside or is in use.
    #[error("the run store {} is damaged ({what}); nothing of it is used: move it away, or use another directory", .path.display())]
    Damaged { path: PathBuf, what: String },
    /// The system or the database reports an error.
    #[error("the run store {}: {message}", .path.display())]
    Failed { path: PathBuf, message: String },
}

/// The result of a lookup in the store.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    /// The run was done before.
    Facts(Facts),
    /// The run was not done before.
    Nothing,
    /// There is a row, but it is not what was written; it was removed.
    Damaged,
}

impl Store {
    /// Opens or makes the store in `dir`. The second value is a message for the user: a damaged file was set aside.
    ///
    /// # Errors
    /// The file belongs to something else or to a newer airbraid, or the system refuses.
    pub fn open(dir: &Path, build: Build) -> Result<(Self, Option<String>), StoreError> {
        let path = dir.join(FILE);
        let failed = |e: std::io::Error| StoreError::Failed { path: path.clone(), message: e.to_string() };
        std::fs::create_dir_all(dir).map_err(failed)?;
        check_head(&path)?;
        match connect(&path) {
            Ok(connection) => Ok((Self { connection, path, build }, None)),
            Err(Opening::Damaged(what)) => {
                let moved =
                    set_aside(&path).map_err(|_| StoreError::Damaged { path: path.clone(), what: what.clone() })?;
                let connection = connect(&path).map_err(|e| e.into_error(&path))?;
                let said = format!(
                    "the run store {} is damaged ({what}); nothing of it is used. It was moved to {}, and a new one begun",
                    path.display(),
                    moved.display()
                );
                Ok((Self { connection, path, build }, Some(said)))
            }
            Err(other) => Err(other.into_error(&path)),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Looks up `key` in the store.
    ///
    /// # Errors
    /// The database says no.
    pub fn get(&self, key: &Key) -> Result<Found, StoreError> {
        let sql = "SELECT facts, checksum FROM runs WHERE scenario = ?1 AND seed = ?2 AND build = ?3";
        let read =
            |row: &rusqlite::Row<'_>| Ok((row.get_ref(0)?.as_bytes()?.to_vec(), row.get_ref(1)?.as_bytes()?.to_vec()));
        let looked = self.connection.prepare(sql).and_then(|mut statement| {
            statement.query_row((&key.scenario[..], key.seed as i64, self.build.digest()), read).optional()
        });
        let (text, checksum) = match looked.map_err(|e| self.failed(&e))? {
            None => return Ok(Found::Nothing),
            Some(row) => row,
        };
        let facts = (checksum == self.checksum(key, &text)).then(|| serde_json::from_slice(&text).ok()).flatten();
        match facts {
            Some(facts) => Ok(Found::Facts(facts)),
            None => {
                let sql = "DELETE FROM runs WHERE scenario = ?1 AND seed = ?2 AND build = ?3";
                let removed = self.connection.execute(sql, (&key.scenario[..], key.seed as i64, self.build.digest()));
                removed.map(|_| Found::Damaged).map_err(|e| self.failed(&e))
            }
        }
    }

    /// Keeps the facts of several runs, all of them or none.
    ///
    /// # Errors
    /// The database says no: the disk is full.
    pub fn put(&mut self, runs: &[(Key, Facts)]) -> Result<(), StoreError> {
        let mut rows = Vec::with_capacity(runs.len());
        for (key, facts) in runs {
            let text = serde_json::to_string(facts)
                .map_err(|e| StoreError::Failed { path: self.path.clone(), message: e.to_string() })?;
            let checksum = self.checksum(key, text.as_bytes());
            rows.push((key, text, checksum));
        }
        let written = || {
            let transaction = self.connection.unchecked_transaction()?;
            {
                let sql = "INSERT OR REPLACE INTO runs VALUES (?1, ?2, ?3, ?4, ?5)";
                let mut insert = transaction.prepare(sql)?;
                for (key, text, checksum) in &rows {
                    let row = (&key.scenario[..], key.seed as i64, self.build.digest(), text, &checksum[..]);
                    insert.execute(row)?;
                }
            }
            transaction.commit()
        };
        written().map_err(|e| self.failed(&e))
    }

    /// Number of results, of any scenario and build.
    ///
    /// # Errors
    /// The database says no.
    pub fn len(&self) -> Result<u64, StoreError> {
        let count = self.connection.query_row("SELECT count(*) FROM runs", (), |row| row.get::<_, i64>(0));
        count.map(|n| n.unsigned_abs()).map_err(|e| self.failed(&e))
    }

    /// Whether it has none.
    ///
    /// # Errors
    /// The database says no.
    pub fn is_empty(&self) -> Result<bool, StoreError> {
        self.len().map(|n| n == 0)
    }

    fn checksum(&self, key: &Key, text: &[u8]) -> Vec<u8> {
        key.checksum(&self.build, text)
    }

    fn failed(&self, error: &rusqlite::Error) -> StoreError {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                StoreError::Damaged { path: self.path.clone(), what: error.to_string() }
            }
            _ => StoreError::Failed { path: self.path.clone(), message: error.to_string() },
        }
    }
}

/// Refuses a file that is not an SQLite file of ours by its first bytes, before SQLite touches it.
fn check_head(path: &Path) -> Result<(), StoreError> {
    let failed = |e: &std::io::Error| StoreError::Failed { path: path.to_owned(), message: e.to_string() };
    let foreign = |what: &str| Err(StoreError::Foreign { path: path.to_owned(), what: what.to_owned() });
    match std::fs::symlink_metadata(path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(failed(&e)),
        Ok(m) if m.is_dir() => return foreign("a directory"),
        // The process that made it died before its first write.
        Ok(m) if m.len() == 0 => return Ok(()),
        Ok(_) => {}
    }
    let mut head = Vec::new();
    let file = std::fs::File::open(path).map_err(|e| failed(&e))?;
    file.take(72).read_to_end(&mut head).map_err(|e| failed(&e))?;
    if !head.starts_with(b"SQLite format 3\0") {
        return foreign("not an SQLite file, or its head is damaged");
    }
    // Bytes 68 to 71: the application's number. Zero with a log beside it: the first write is still in the log. Zero in
    // a file of one page of 4096 byte, which has no tables: another process is making it.
    let application = head.get(68..72).and_then(|b| b.try_into().ok()).map_or(0, i32::from_be_bytes);
    let is_page = std::fs::metadata(path).is_ok_and(|m| m.len() <= 4096);
    let fresh = application == 0 && (is_page || beside(path, "-wal").exists());
    if application == APPLICATION || fresh { Ok(()) } else { foreign("the database of another program") }
}

/// The reason why a connection failed.
enum Opening {
    Damaged(String),
    Newer(i32),
    Foreign,
    Failed(String),
}

impl Opening {
    fn into_error(self, path: &Path) -> StoreError {
        let path = path.to_owned();
        match self {
            Self::Damaged(what) => StoreError::Damaged { path, what },
            Self::Newer(version) => StoreError::Foreign {
                path,
                what: format!("of layout {version}; this airbraid writes layout {VERSION}"),
            },
            Self::Foreign => StoreError::Foreign { path, what: "the database of another program".to_owned() },
            Self::Failed(message) => StoreError::Failed { path, message },
        }
    }
}

impl From<rusqlite::Error> for Opening {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Damaged(error.to_string()),
            _ => Self::Failed(error.to_string()),
        }
    }
}

fn connect(path: &Path) -> Result<Connection, Opening> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    // With a write-ahead log a commit is whole or absent after a kill, and readers do not wait.
    patiently(|| connection.pragma_update(None, "journal_mode", "WAL"))?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    if number("application_id")? == 0 {
        make(&connection)?;
    }
    match (number("application_id")?, number("user_version")?) {
        (APPLICATION, VERSION) => {}
        (APPLICATION, version) => return Err(Opening::Newer(version)),
        _ => return Err(Opening::Foreign),
    }
    let verdict: String = connection.query_row("PRAGMA quick_check(1)", (), |row| row.get(0))?;
    if verdict == "ok" { Ok(connection) } else { Err(Opening::Damaged(verdict.replace('\n', " "))) }
}

/// Makes the tables of an empty file, unless another process has made them meanwhile.
fn make(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", (), |row| row.get(0))?;
    if tables == 0 {
        connection.execute_batch(LAYOUT)?;
        connection.pragma_update(None, "application_id", APPLICATION)?;
        connection.pragma_update(None, "user_version", VERSION)?;
    }
    connection.execute_batch("COMMIT")?;
    // From now on the file itself says whose it is, whatever becomes of the log.
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(()))
}

/// Tries again while another process has the file, as SQLite does by itself but where the mode of the log changes.
fn patiently<T>(attempt: impl Fn() -> rusqlite::Result<T>) -> rusqlite::Result<T> {
    const PAUSE: Duration = Duration::from_millis(10);
    let is_busy = |tried: &rusqlite::Result<T>| {
        tried.as_ref().is_err_and(|error| error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy))
    };
    for _ in 0..PATIENCE.as_millis() / PAUSE.as_millis() {
        let tried = attempt();
        if !is_busy(&tried) {
            return tried;
        }
        std::thread::sleep(PAUSE);
    }
    attempt()
}

/// Gives a damaged store another name, its log too.
fn set_aside(path: &Path) -> std::io::Result<PathBuf> {
    let free = (1..10_000).map(|k| beside(path, &format!(".damaged-{k}"))).find(|p| !p.exists());
    let target = free.ok_or_else(|| std::io::Error::other("too many damaged stores"))?;
    std::fs::rename(path, &target)?;
    for suffix in ["-wal", "-shm"] {
        let log = beside(path, suffix);
        if log.exists() {
            std::fs::rename(&log, beside(&target, suffix))?;
        }
    }
    Ok(target)
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// The default place of the store: in the user's cache, by the XDG rules.
pub fn default_dir() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache"))).map(|dir| dir.join("airbraid"))
}
