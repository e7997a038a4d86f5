//! The host's routing, as far as the daemon changes it: routes through its interface, and those that its uplinks'
//! sockets need to leave by their own devices (`docs/decisions/0013-routes.md`).
//!
//! Nothing of the host's is ever replaced or removed: ours are added beside, behind the host's, known by our number,
//! and go with us. It is read again on a thread of its own whenever the kernel says that routes, rules, devices or
//! addresses have changed: what the kernel takes its time for never stops packets.

mod conflict;
mod host;
mod note;
mod plan;
#[cfg(test)]
mod tests;
mod wanted;

pub use note::undo;
pub use plan::METRIC;
pub use wanted::{ANYWHERE, WantedRouting, mark_of, numbers};

use crate::daemon::site::{Prefix, Site};
use crate::error::LabError;
use crate::netlink::devices::{Address, Setting};
use crate::netlink::routes::{PROTOCOL, TABLE_MAIN};
use crate::netlink::{Netlink, Watch, WatchTopic};
use host::Host;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use note::Note;
use plan::{Plan, STEPS, priority};
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use wanted::RANGE;

/// Wait for further changes after the first, as they come several at once \[ms\].
const SETTLE: u16 = 50;
/// Shortest interval of two checks, so that a host whose routes never rest costs a thread little \[ms\].
const PAUSE: u16 = 1_000;
/// Longest interval of two checks: settings change without news \[ms\].
const LOOK: u16 = 30_000;

/// The reports about the host's routing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Conflicts of the wanted routing with the host's.
    pub conflicts: Vec<String>,
    /// Uplinks that cannot work, by index, with the reason.
    pub causes: Vec<(usize, String)>,
}

/// The daemon's part of the host's routing. Dropped, it stops; the journal undoes its changes.
#[derive(Debug)]
pub struct Routing {
    shared: Arc<Shared>,
    /// Wakes the thread.
    bell: UnixStream,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    wanted: Mutex<WantedRouting>,
    report: Mutex<Report>,
    work: Mutex<Work>,
    is_over: AtomicBool,
}

#[derive(Debug)]
struct Work {
    netlink: Netlink,
    note: Note,
}

impl Routing {
    /// Makes the wanted routing, and keeps it as the host changes. `path` is the file of its note.
    ///
    /// # Errors
    /// The kernel refuses routes or rules, or the system a thread.
    pub fn begin(path: PathBuf, wanted: WantedRouting) -> Result<Self, LabError> {
        let failed = || LabError::failed("rtnetlink");
        let mut netlink = Netlink::open().map_err(failed())?;
        // What a daemon has left of whose end nobody knows.
        note::remove_all(&mut netlink, wanted.table).map_err(failed())?;
        let work = Work { netlink, note: Note::begin(path, wanted.table)? };
        let watch = Watch::open(WatchTopic::Routing).map_err(failed())?;
        let shared = Arc::new(Shared {
            wanted: Mutex::new(wanted),
            report: Mutex::default(),
            work: Mutex::new(work),
            is_over: AtomicBool::new(false),
        });
        shared.renew()?;
        let (bell, heard) = UnixStream::pair().map_err(LabError::io("routing"))?;
        for end in [&bell, &heard] {
            end.set_nonblocking(true).map_err(LabError::io("routing"))?;
        }
        let theirs = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("routing".to_owned()).spawn(move || keep(&theirs, &watch, heard));
        let thread = Some(thread.map_err(LabError::io("a thread for routes"))?);
        Ok(Self { shared, bell, thread })
    }

    /// Sets another wanted routing; it is made soon.
    pub fn want(&self, wanted: WantedRouting) {
        let mut before = held(&self.shared.wanted);
        if *before != wanted {
            *before = wanted;
            drop(before);
            // If it is full, it rings.
            let _ = (&self.bell).write(&[1]);
        }
    }

    /// Sets another wanted routing, and makes it now.
    ///
    /// # Errors
    /// The kernel refuses something.
    pub fn want_now(&self, wanted: WantedRouting) -> Result<(), LabError> {
        *held(&self.shared.wanted) = wanted;
        self.shared.renew()
    }

    pub fn report(&self) -> Report {
        held(&self.shared.report).clone()
    }
}

impl Drop for Routing {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Release);
        let _ = (&self.bell).write(&[1]);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The reports about a file on this host, where it is not up.
///
/// # Errors
/// The kernel's error.
pub fn check(site: &Site) -> Result<Vec<String>, LabError> {
    let failed = || LabError::failed("rtnetlink");
    let mut netlink = Netlink::open().map_err(failed())?;
    let index = nix::net::if_::if_nametoindex(site.interface.name.as_str()).unwrap_or(0);
    let uplinks = site.uplinks.iter().map(|uplink| (uplink, uplink.is_on));
    let wanted = WantedRouting::new(&site.interface, index, uplinks, site.peers.iter());
    let host = Host::look(&mut netlink, &wanted).map_err(failed())?;
    let plan = Plan::new(&wanted, &host);
    let causes = plan.causes.into_iter().map(|(place, why)| format!("uplink {}: {why}", wanted.uplinks[place].name));
    Ok(conflict::conflicts(&wanted, &host).into_iter().chain(causes).collect())
}

/// Locks a mutex. A thread that died while it held it has left a whole value: each is written at once.
fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The network of an address.
fn network_of(address: &Address) -> Prefix {
    Prefix { address: address.network, length: address.prefix }.network()
}

/// The life of the thread.
fn keep(shared: &Shared, watch: &Watch, mut bell: UnixStream) {
    let wait = |bell: &UnixStream, with_watch: bool, patience: u16| {
        let mut heard = vec![PollFd::new(bell.as_fd(), PollFlags::POLLIN)];
        if with_watch {
            heard.push(PollFd::new(watch.as_fd(), PollFlags::POLLIN));
        }
        // Whatever the answer: it is looked.
        let _ = poll(&mut heard, PollTimeout::from(patience));
    };
    let mut room = [0; 64];
    // It is over before the bell rings: whoever has heard it sees that it is.
    let is_over = || shared.is_over.load(Ordering::Acquire);
    while !is_over() {
        wait(&bell, true, LOOK);
        wait(&bell, false, SETTLE);
        while bell.read(&mut room).is_ok_and(|length| length == room.len()) {}
        watch.has_news();
        if is_over() {
            return;
        }
        if let Err(error) = shared.renew() {
            tracing::error!(%error, "routing; it is tried again");
        }
        wait(&bell, false, PAUSE);
    }
}

impl Shared {
    /// Reads the host, makes missing routes, removes those no longer wanted, and logs news.
    fn renew(&self) -> Result<(), LabError> {
        let mut work = held(&self.work);
        let wanted = held(&self.wanted).clone();
        let done = work.renew(&wanted);
        let (report, failure) = match done {
            Ok(done) => done,
            Err(error) => return Err(LabError::failed("rtnetlink")(error)),
        };
        let before = std::mem::replace(&mut *held(&self.report), report.clone());
        tell(&wanted, &before, &report);
        failure.map_or(Ok(()), Err)
    }
}

impl Work {
    fn renew(&mut self, wanted: &WantedRouting) -> nix::Result<(Report, Option<LabError>)> {
        let host = Host::look(&mut self.netlink, wanted)?;
        let plan = Plan::new(wanted, &host);
        let mut failure = self.make(wanted, &host, &plan).err();
        let mut report = Report { conflicts: conflict::conflicts(wanted, &host), causes: plan.causes.clone() };
        report.conflicts.extend(self.set(&host, &plan).err());
        match self.is_first(wanted) {
            Ok(said) => report.conflicts.extend(said),
            Err(error) => failure = failure.or_else(|| Some(LabError::failed("rtnetlink")(error))),
        }
        Ok((report, failure))
    }

    /// Adds missing routes and rules, and removes those of ours that are not wanted. A rule is never there before its
    /// table.
    fn make(&mut self, wanted: &WantedRouting, host: &Host, plan: &Plan) -> Result<(), LabError> {
        let (first, tables) = (priority(wanted.table), wanted.table..wanted.table + RANGE);
        let rules: Vec<_> = {
            let of_us = host.rules.iter().filter(|rule| rule.protocol == PROTOCOL);
            of_us.filter(|rule| (first..first + STEPS).contains(&rule.priority)).copied().collect()
        };
        let routes: BTreeSet<_> = {
            let of_us = host.routes.iter().filter(|route| route.protocol == PROTOCOL);
            let is_of_table = |table: u32, device: u32| table == TABLE_MAIN && device == wanted.index;
            of_us.filter(|r| tables.contains(&r.table) || is_of_table(r.table, r.device)).copied().collect()
        };
        for route in plan.routes.iter().filter(|route| !routes.contains(route)) {
            let prefix = Prefix { address: route.network, length: route.prefix };
            match self.netlink.add_route(route) {
                // Another daemon's, which is told among the conflicts.
                Ok(()) | Err(Errno::EEXIST) => {}
                Err(error) => {
                    return Err(LabError::failed(format!("the route {prefix} by {}", host.name_of(route.device)))(
                        error,
                    ));
                }
            }
        }
        for rule in plan.rules.iter().filter(|rule| !rules.contains(rule)) {
            match self.netlink.add_rule(rule) {
                Ok(()) | Err(Errno::EEXIST) => {}
                Err(Errno::EOPNOTSUPP | Errno::EAFNOSUPPORT) => {
                    let why = "this kernel has no routing by rules (CONFIG_IP_MULTIPLE_TABLES)";
                    return Err(LabError::Failed(format!("{why}: take the default route out of `allowed`")));
                }
                Err(error) => return Err(LabError::failed(format!("the rule of priority {}", rule.priority))(error)),
            }
        }
        for rule in rules.iter().filter(|rule| !plan.rules.contains(rule)) {
            note::gone(self.netlink.remove_rule(rule)).map_err(LabError::failed("a rule"))?;
        }
        for route in routes.iter().filter(|route| !plan.routes.contains(route)) {
            note::gone(self.netlink.remove_route(route)).map_err(LabError::failed("a route"))?;
        }
        Ok(())
    }

    /// Makes the settings of devices, with a note of the old values; a value that is right already stays.
    fn set(&mut self, host: &Host, plan: &Plan) -> Result<(), String> {
        let kept: Vec<u32> = plan.settings.iter().map(|(index, _, _)| *index).collect();
        self.note.put_back_but(&mut self.netlink, &kept);
        for (index, setting, value) in &plan.settings {
            let Some(device) = host.devices.iter().find(|device| device.index == *index) else { continue };
            if device.setting(*setting) != 0 {
                continue;
            }
            let (name, what) = (&device.name, setting.name());
            let refused = |why: &dyn std::fmt::Display| {
                format!(
                    "two uplinks are in one network, and {what} of {name} cannot be set ({why}): run \
                     sysctl -w net.ipv4.conf.{name}.{}=1 net.ipv4.conf.{name}.{}=2",
                    Setting::ArpIgnore.name(),
                    Setting::ArpAnnounce.name()
                )
            };
            self.note.add(name, *index, *setting, 0, *value).map_err(|error| refused(&error))?;
            self.netlink.set(*index, *setting, *value).map_err(|error| refused(&error.desc()))?;
            tracing::info!(device = name, "{what} = {value}, as two uplinks are in one network");
        }
        Ok(())
    }

    /// Whether packets without a nearer route go through the interface, where they should.
    fn is_first(&mut self, wanted: &WantedRouting) -> nix::Result<Vec<String>> {
        let mut said = Vec::new();
        for anywhere in ANYWHERE {
            let everything = Prefix { address: anywhere, length: 0 }.network();
            if !wanted.prefixes().contains(&everything) {
                continue;
            }
            let there = self.netlink.look_up(anywhere, None, None, None)?;
            if there.iter().any(|route| route.device == wanted.index) {
                continue;
            }
            let devices = self.netlink.devices()?;
            let by = there.first().and_then(|route| devices.iter().find(|device| device.index == route.device));
            said.push(format!(
                "the default route {everything} through {} is not the one that counts: what goes to {anywhere} goes {}; \
                 `ip rule` shows a rule before priority {}",
                wanted.interface,
                by.map_or_else(|| "nowhere".to_owned(), |device| format!("by {}", device.name)),
                priority(wanted.table)
            ));
        }
        Ok(said)
    }
}

/// Logs a new report once, and its end.
fn tell(wanted: &WantedRouting, before: &Report, now: &Report) {
    for conflict in now.conflicts.iter().filter(|conflict| !before.conflicts.contains(conflict)) {
        tracing::warn!("routes: {conflict}");
    }
    for conflict in before.conflicts.iter().filter(|conflict| !now.conflicts.contains(conflict)) {
        tracing::info!("routes, no longer so: {conflict}");
    }
    let name = |place: usize| wanted.uplinks.get(place).map_or("", |line| &line.name);
    for (place, why) in now.causes.iter().filter(|cause| !before.causes.contains(cause)) {
        tracing::warn!(uplink = name(*place), "{why}");
    }
    for (place, _) in &before.causes {
        if !now.causes.iter().any(|(other, _)| other == place) {
            tracing::info!(uplink = name(*place), "it has a route now");
        }
    }
}
