//! The end that has the line: it comes to the other by it, tests each uplink, and becomes a peer with keys that last.

use super::exchange::{self, Newcomer, Reply, Welcome, Wish};
use super::files::{self, Head, Made, PeerTable};
use super::measure::{self, Speed};
use super::ticket::Ticket;
use super::{GUEST, Hands, free_interface, secret_file, site_file, speaks_ipv6};
use crate::clock::Clock;
use crate::daemon::keys::{self, Random};
use crate::daemon::question::Question;
use crate::daemon::serve::ask;
use crate::daemon::site::{Prefix, UPLINKS_MAX};
use crate::daemon::status::Status;
use crate::error::LabError;
use crate::netlink::Netlink;
use airbraid_engine::converge::session::{Secret, public_key};
use serde::Serialize;
use std::fs;
use std::io::Write;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Folder of the files that are good while the line is.
const WHILE: &str = "/run/airbraid";
/// Wait for further uplinks after the first has answered: two round trips of a slow one.
const GRACE: Duration = Duration::from_secs(2);
/// Interval of looks.
const PAUSE: Duration = Duration::from_millis(50);

/// The wishes of the end that has the line.
#[derive(Debug)]
pub struct JoinOptions<'a> {
    pub folder: &'a Path,
    /// Name of this end: of its file, and of the other end's peer.
    pub name: &'a str,
    pub ticket: &'a Ticket,
    /// Devices of the uplinks.
    pub uplinks: Vec<String>,
    /// Networks that are reached through the other end; `None` for everything.
    pub networks: Option<Vec<Prefix>>,
    /// Networks that are not.
    pub except: Vec<Prefix>,
    /// Devices of the networks behind this end.
    pub lan: Vec<String>,
    /// Time of each test of speed; none for zero.
    pub test: Duration,
    /// Longest wait for an answer of the other end.
    pub patience: Duration,
    pub hands: Hands<'a>,
}

/// A device that may be an uplink, or have a network behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub device: String,
    /// Its addresses with their networks.
    pub networks: Vec<Prefix>,
    /// Whether this host has a default route by it.
    pub is_way_out: bool,
}

/// The result of a pairing.
#[derive(Clone, Debug, Serialize)]
pub struct Joined {
    /// Name of this end.
    pub name: String,
    /// Name of the other end.
    pub peer: String,
    pub file: PathBuf,
    /// Each uplink alone.
    pub uplinks: Vec<Tested>,
    /// All together, where there are several.
    pub together: Option<Speed>,
}

/// An uplink that was tested.
#[derive(Clone, Debug, Serialize)]
pub struct Tested {
    pub name: String,
    /// Its results; `None` where it did not answer.
    pub speed: Option<Speed>,
    /// Why it did not, and what to do.
    pub remedy: Option<String>,
}

/// The devices of this host.
///
/// # Errors
/// The kernel's error.
pub fn candidates() -> Result<Vec<Candidate>, LabError> {
    let failed = || LabError::failed("rtnetlink");
    let mut netlink = Netlink::open().map_err(failed())?;
    let (devices, routes) = (netlink.devices().map_err(failed())?, netlink.routes().map_err(failed())?);
    let candidate = |device: &crate::netlink::devices::Device| Candidate {
        device: device.name.clone(),
        networks: networks(device),
        is_way_out: routes.iter().any(|route| route.is_default() && route.device == device.index),
    };
    let is_one = |device: &&crate::netlink::devices::Device| device.is_up && device.name != "lo";
    let found = devices.iter().filter(is_one).map(candidate);
    Ok(found.filter(|candidate| !candidate.networks.is_empty()).collect())
}

/// The addresses of a device but those of the link alone, with their networks.
fn networks(device: &crate::netlink::devices::Device) -> Vec<Prefix> {
    let is_of_link = |address: &IpAddr| matches!(address, IpAddr::V6(address) if address.is_unicast_link_local());
    let usable = device.addresses.iter().filter(|address| !is_of_link(&address.own));
    usable.map(|address| Prefix { address: address.own, length: address.prefix }).collect()
}

/// Pairs this end with the one that printed the line.
///
/// # Errors
/// The other end does not answer, or refuses; or the system does: everything is as before.
pub fn join(options: &JoinOptions<'_>) -> Result<Joined, LabError> {
    exchange::check_name(options.name).map_err(LabError::Input)?;
    let file = site_file(options.folder, options.name);
    if file.exists() {
        let name = options.name;
        let help = format!("choose another --name, or undo it: `airbraid unpair {name}`");
        return Err(LabError::Input(format!("{} is there already: {help}", file.display())));
    }
    if !(1..=UPLINKS_MAX).contains(&options.uplinks.len()) {
        let help = format!("name 1 to {UPLINKS_MAX} devices by --uplink");
        return Err(LabError::Input(format!("{} uplinks: {help}", options.uplinks.len())));
    }
    fs::create_dir_all(options.folder).map_err(LabError::io(options.folder.display()))?;
    let to = SocketAddr::from((options.ticket.theirs, options.ticket.port));
    let identity = Secret::draw(&mut Random::new());
    let (welcome, uplinks, together) = {
        let guest = Guest::begin(options)?;
        let uplinks = guest.test(to)?;
        let works = uplinks.iter().filter(|uplink| uplink.speed.is_some()).count();
        let together = (works > 1).then(|| measure::measure(to, options.test).ok()).flatten();
        (guest.ask(to, &identity)?, uplinks, together)
    };
    lasting(options, &file, &identity, &welcome, to)?;
    Ok(Joined { name: options.name.to_owned(), peer: welcome.name, file, uplinks, together })
}

/// The tunnel by the line. Dropped, it is gone.
struct Guest<'a> {
    options: &'a JoinOptions<'a>,
    name: String,
    folder: PathBuf,
}

impl<'a> Guest<'a> {
    fn begin(options: &'a JoinOptions<'a>) -> Result<Self, LabError> {
        let name = format!("{}-{GUEST}", options.name);
        let folder = Path::new(WHILE).join(format!("{name}.d"));
        let guest = Self { options, name, folder };
        let _ = fs::remove_dir_all(&guest.folder);
        fs::create_dir_all(&guest.folder).map_err(LabError::io(guest.folder.display()))?;
        let ticket = options.ticket;
        let own = |what: &str| format!("{}.{what}", guest.name);
        files::write_secret(&guest.folder.join(own("key")), &ticket.secret.identity())?;
        files::write_secret(&guest.folder.join(own("psk")), &ticket.secret.preshared())?;
        let head = Head {
            interface: free_interface(),
            addresses: vec![format!("{}/32", ticket.ours)],
            private_key: own("key"),
            listen: None,
            uplinks: options.uplinks.clone(),
            lan: None,
        };
        let peer = PeerTable {
            name: GUEST.to_owned(),
            public_key: keys::encode(&ticket.public),
            preshared_key: own("psk"),
            endpoint: Some(ticket.endpoint.clone()),
            allowed: vec![Prefix { address: ticket.theirs.into(), length: 32 }],
            except: Vec::new(),
            until: None,
        };
        let file = guest.folder.join(own("toml"));
        files::write(&file, &(head.text() + &peer.text()))?;
        (options.hands.up)(&file)?;
        Ok(guest)
    }

    /// Tests each uplink alone.
    fn test(&self, to: SocketAddr) -> Result<Vec<Tested>, LabError> {
        (self.options.hands.say)("waiting for the other end ...");
        let status = self.wait(|status| !active(status).is_empty(), self.options.patience)?;
        let first = status.peers.first();
        if active(&status).is_empty() {
            let why = first.and_then(|peer| peer.remedy.clone());
            let why = why.unwrap_or_else(|| "is the line still good, and the address in it right?".to_owned());
            return Err(LabError::Failed(format!("{} does not answer: {why}", self.options.ticket.endpoint)));
        }
        let count = self.options.uplinks.len();
        let status = self.wait(|status| active(status).len() == count, GRACE)?;
        let works = active(&status);
        let mut tested = Vec::new();
        for name in &self.options.uplinks {
            if (self.options.hands.is_over)() {
                return Err(LabError::Failed("stopped: everything is as before".to_owned()));
            }
            let speed = if works.contains(name) { Some(self.alone(name, to)?) } else { None };
            let remedy = speed.is_none().then(|| remedy(&status, name));
            tested.push(Tested { name: name.clone(), speed: speed.flatten(), remedy });
        }
        self.wait(|status| active(status).len() == works.len(), GRACE)?;
        Ok(tested)
    }

    /// Tests an uplink while the others are off.
    fn alone(&self, name: &str, to: SocketAddr) -> Result<Option<Speed>, LabError> {
        (self.options.hands.say)(&format!("testing {name} ..."));
        let others: Vec<&String> = self.options.uplinks.iter().filter(|other| *other != name).collect();
        let switch = |is_on: bool| {
            let all = others.iter().map(|other| ask(&self.name, &Question::Link((*other).clone(), is_on)).map(drop));
            all.collect::<Result<(), LabError>>()
        };
        switch(false)?;
        let status = self.wait(|status| active(status) == [name], self.options.patience)?;
        let speed = if active(&status) == [name] { measure::measure(to, self.options.test).ok() } else { None };
        switch(true)?;
        Ok(speed)
    }

    /// Waits until the status is so, or the time is over; returns the last one.
    fn wait(&self, is_so: impl Fn(&Status) -> bool, patience: Duration) -> Result<Status, LabError> {
        let begun = Clock::start();
        loop {
            let answer = ask(&self.name, &Question::Status)?;
            let status: Status =
                serde_json::from_str(&answer).map_err(|error| LabError::Failed(format!("{}: {error}", self.name)))?;
            if is_so(&status) || begun.elapsed() > patience || (self.options.hands.is_over)() {
                return Ok(status);
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Asks the other end to take this one as a peer.
    fn ask(&self, to: SocketAddr, identity: &Secret) -> Result<Welcome, LabError> {
        let newcomer = Newcomer {
            name: self.options.name.to_owned(),
            public_key: keys::encode(&public_key(identity)),
            networks: behind(&self.options.lan)?.iter().map(Prefix::to_string).collect(),
        };
        match say(to, &Wish::Join(newcomer))? {
            Reply::Welcome(welcome) => Ok(welcome),
            Reply::Refused(why) => Err(LabError::Input(format!("the other end refuses: {why}"))),
            _ => Err(LabError::Failed("the other end answers something else".to_owned())),
        }
    }
}

impl Drop for Guest<'_> {
    fn drop(&mut self) {
        let _ = (self.options.hands.down)(&self.name);
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Uplinks whose links work.
fn active(status: &Status) -> Vec<String> {
    let members = status.peers.iter().flat_map(|peer| &peer.members);
    members.filter(|member| member.state == "active").map(|member| member.uplink.clone()).collect()
}

/// Why an uplink does not work.
fn remedy(status: &Status, name: &str) -> String {
    let of_uplink = status.uplinks.iter().find(|uplink| uplink.name == name).and_then(|uplink| uplink.remedy.clone());
    let members = status.peers.iter().flat_map(|peer| &peer.members);
    let of_member = members.filter(|member| member.uplink == name).find_map(|member| member.remedy.clone());
    of_uplink.or(of_member).unwrap_or_else(|| "nothing has come back by it".to_owned())
}

/// Makes a wish known; returns the answer.
fn say(to: SocketAddr, wish: &Wish) -> Result<Reply, LabError> {
    let mut stream = measure::open(to).map_err(LabError::io("the other end"))?;
    stream.write_all(exchange::line(wish).as_bytes()).map_err(LabError::io("the other end"))?;
    exchange::read(&mut stream).map_err(LabError::io("the other end"))
}

/// The networks behind devices.
fn behind(lan: &[String]) -> Result<Vec<Prefix>, LabError> {
    let known = candidates()?;
    let missing = lan.iter().find(|device| !known.iter().any(|known| known.device == **device));
    if let Some(device) = missing {
        let names: Vec<&str> = known.iter().map(|known| known.device.as_str()).collect();
        let message = format!("--lan {device}: there is no such device with an address, but {}", names.join(", "));
        return Err(LabError::Input(message));
    }
    let of_them = known.iter().filter(|known| lan.contains(&known.device));
    Ok(of_them.flat_map(|known| known.networks.iter().map(Prefix::network)).collect())
}

/// Writes the files that last, begins the daemon by them, and confirms.
fn lasting(
    options: &JoinOptions<'_>,
    file: &Path,
    identity: &Secret,
    welcome: &Welcome,
    to: SocketAddr,
) -> Result<(), LabError> {
    let strange = |why: String| LabError::Failed(format!("the other end answers something else: {why}"));
    exchange::check_name(&welcome.name).map_err(strange)?;
    let preshared = keys::secret(&welcome.preshared_key).map_err(strange)?;
    let addresses = welcome.addresses.iter().map(|text| Prefix::parse(text));
    let mut addresses = addresses.collect::<Result<Vec<Prefix>, String>>().map_err(strange)?;
    let has_six = speaks_ipv6();
    addresses.retain(|prefix| has_six || prefix.address.is_ipv4());
    let allowed = allowed(options, &addresses, welcome.has_ipv6 && has_six);
    let head = Head {
        interface: free_interface(),
        addresses: addresses.iter().map(Prefix::to_string).collect(),
        private_key: format!("{}.key", options.name),
        listen: None,
        uplinks: options.uplinks.clone(),
        lan: (!options.lan.is_empty()).then(|| options.lan.clone()),
    };
    let peer = PeerTable {
        name: welcome.name.clone(),
        public_key: keys::encode(&options.ticket.public),
        preshared_key: secret_file(options.name, &welcome.name),
        endpoint: Some(options.ticket.endpoint.clone()),
        allowed,
        except: options.except.clone(),
        until: None,
    };
    let (key, psk) = (options.folder.join(&head.private_key), options.folder.join(&peer.preshared_key));
    let made = Made(vec![file.to_path_buf(), key.clone(), psk.clone()]);
    files::write_secret(&key, identity)?;
    files::write_secret(&psk, &preshared)?;
    files::write(file, &(head.text() + &peer.text()))?;
    (options.hands.up)(file)?;
    match confirm(options, to) {
        Ok(()) => {
            made.keep();
            Ok(())
        }
        Err(error) => {
            let _ = (options.hands.down)(options.name);
            Err(error)
        }
    }
}

/// Tells the other end, by the new keys, that they work.
fn confirm(options: &JoinOptions<'_>, to: SocketAddr) -> Result<(), LabError> {
    let begun = Clock::start();
    loop {
        match say(to, &Wish::Confirm) {
            Ok(Reply::Done) => return Ok(()),
            Ok(Reply::Refused(why)) => return Err(LabError::Failed(format!("the other end refuses: {why}"))),
            _ if begun.elapsed() > options.patience || (options.hands.is_over)() => {
                return Err(LabError::Failed("the other end does not answer by the new keys".to_owned()));
            }
            _ => std::thread::sleep(PAUSE),
        }
    }
}

/// The networks that are reached through the other end.
fn allowed(options: &JoinOptions<'_>, addresses: &[Prefix], has_ipv6: bool) -> Vec<Prefix> {
    let everything = if has_ipv6 { &["0.0.0.0/0", "::/0"][..] } else { &["0.0.0.0/0"] };
    let Some(networks) = &options.networks else {
        return everything.iter().filter_map(|text| Prefix::parse(text).ok()).collect();
    };
    // The other end's networks in the tunnel are reached in any case.
    let mut all: Vec<Prefix> = networks.iter().chain(addresses).map(Prefix::network).collect();
    all.sort_unstable();
    all.dedup();
    all
}
