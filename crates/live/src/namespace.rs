//! Network namespaces with names: made, entered, removed, as `ip netns` does, so that it sees them too.
//!
//! A namespace belongs to a thread; nothing here changes that of the thread that calls.

use crate::error::LabError;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, setns, unshare};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Directory of the namespaces' names.
const NAMES: &str = "/run/netns";
/// Directory of the files that differ in a namespace.
const FILES: &str = "/etc/netns";
/// For nix, where an argument is left out.
const NONE: Option<&str> = None;

/// The file of a namespace's name.
pub fn path(name: &str) -> PathBuf {
    Path::new(NAMES).join(name)
}

/// The folder of files that are different in a namespace.
pub fn files(name: &str) -> PathBuf {
    Path::new(FILES).join(name)
}

/// Takes a name for a namespace.
///
/// # Errors
/// It is taken, or the system refuses.
pub fn reserve(name: &str) -> Result<(), LabError> {
    fs::create_dir_all(NAMES).map_err(LabError::io(NAMES))?;
    let path = path(name);
    if files(name).exists() {
        return Err(taken(name));
    }
    let made = File::create_new(&path).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => taken(name),
        _ => LabError::Failed(format!("{}: {error}", path.display())),
    });
    made.map(|_| ())
}

/// Makes a namespace under a name that is reserved.
///
/// # Errors
/// The system refuses.
pub fn create(name: &str) -> Result<(), LabError> {
    let path = path(name);
    let made = on_thread(|| {
        unshare(CloneFlags::CLONE_NEWNET)?;
        mount(Some("/proc/thread-self/ns/net"), &path, NONE, MsFlags::MS_BIND, NONE)
    });
    made.map_err(LabError::failed(format!("network namespace {name}")))
}

/// The error of a name that is taken.
pub fn taken(name: &str) -> LabError {
    LabError::Input(format!(
        "the network namespace {name}, or its folder in /etc/netns, exists already: `airbraid lab --clean` removes what an earlier lab left, \
         `ip netns delete {name}` what is not a lab's"
    ))
}

/// Removes a namespace's name; the namespace goes with its last process. A missing name is no error.
///
/// # Errors
/// The system refuses.
pub fn remove(name: &str) -> io::Result<()> {
    let path = path(name);
    // Not mounted: it was made but half.
    let _ = umount2(&path, MntFlags::MNT_DETACH);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Runs `work` in a namespace.
///
/// # Errors
/// There is no such namespace.
pub fn inside<T: Send>(name: &str, work: impl FnOnce() -> T + Send) -> Result<T, LabError> {
    on_thread(|| enter(name).map(|()| work()))
}

/// Moves this thread into a namespace, for good.
///
/// # Errors
/// There is no such namespace, or no permission.
pub fn enter(name: &str) -> Result<(), LabError> {
    let path = path(name);
    let file = File::open(&path).map_err(LabError::io(path.display()))?;
    setns(file, CloneFlags::CLONE_NEWNET).map_err(LabError::failed(format!("entering the namespace {name}")))
}

/// Moves this thread into a namespace and a view of the file system in which its own hosts file lies over the
/// system's and `/sys` shows its interfaces.
///
/// # Errors
/// There is no such namespace, or no permission.
pub fn enter_with_files(name: &str) -> Result<(), LabError> {
    let failed = |what: &str| LabError::failed(format!("{what} in the namespace {name}"));
    enter(name)?;
    unshare(CloneFlags::CLONE_NEWNS).map_err(failed("a mount namespace"))?;
    mount(NONE, "/", NONE, MsFlags::MS_SLAVE | MsFlags::MS_REC, NONE).map_err(failed("/"))?;
    // Where sysfs may not be mounted (some containers) the old one stays: nothing but tools that list interfaces sees
    // it.
    let _ = mount(Some("sysfs"), "/sys", Some("sysfs"), MsFlags::empty(), NONE);
    let hosts = files(name).join("hosts");
    mount(Some(&hosts), "/etc/hosts", NONE, MsFlags::MS_BIND, NONE).map_err(failed("/etc/hosts"))
}

/// The processes in this network namespace.
pub fn processes(name: &str) -> Vec<i32> {
    let Ok(own) = fs::metadata(path(name)) else { return Vec::new() };
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let is_inside = |pid: &i32| {
        let found = fs::metadata(format!("/proc/{pid}/ns/net"));
        found.is_ok_and(|found| found.ino() == own.ino() && found.dev() == own.dev())
    };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(is_inside).collect()
}

/// Runs `work` on a thread of its own: changes of its namespaces end with it.
fn on_thread<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| match scope.spawn(work).join() {
        Ok(value) => value,
        Err(panic) => std::panic::resume_unwind(panic),
    })
}
