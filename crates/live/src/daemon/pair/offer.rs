//! The end that prints the line: it makes its file where there is none, lets the line's end in for ten minutes, and
//! makes a peer of it.

use super::exchange::{self, Newcomer, Reply, Welcome, Wish};
use super::files::{self, Head, Made, PeerTable};
use super::ticket::{OneTime, Ticket};
use super::{GUEST, Hands, PORT, free_interface, is_up, measure, secret_file, site_file, speaks_ipv6};
use crate::clock::Clock;
use crate::daemon::keys::{self, Random};
use crate::daemon::question::Question;
use crate::daemon::routing::ANYWHERE;
use crate::daemon::serve::ask;
use crate::daemon::site::{self, Prefix, Site};
use crate::error::LabError;
use crate::netlink::Netlink;
use airbraid_engine::converge::session::{Entropy, Secret, public_key};
use jiff::{SignedDuration, Timestamp};
use nix::sys::socket::{setsockopt, sockopt};
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The tunnel's network, if nobody says another.
const NETWORK: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 0);
/// The last number of the end that has the line, and the largest that a peer can have.
const GUEST_NUMBER: u8 = 254;
/// Interval at which the person's patience and the time are looked at.
const PAUSE: Duration = Duration::from_millis(50);
/// Longest time that a connection may keep others waiting without a byte.
const SILENCE: Duration = Duration::from_secs(5);

/// The wishes of the end that prints the line.
#[derive(Debug)]
pub struct OfferOptions<'a> {
    pub folder: &'a Path,
    /// Name of this end: of its file, and of the peer that the other end has.
    pub name: &'a str,
    /// This host's name or address outside.
    pub address: &'a str,
    /// The port of a file that is made.
    pub port: u16,
    /// Time for which the line is good.
    pub valid: Duration,
    pub hands: Hands<'a>,
}

/// This host's address towards the Internet, if it has one.
pub fn own_address() -> Option<IpAddr> {
    let mut netlink = Netlink::open().ok()?;
    let by = netlink.look_up(ANYWHERE[1], None, None, None).ok()?.first()?.device;
    let found = netlink.devices().ok()?;
    let device = found.iter().find(|device| device.index == by)?;
    device.addresses.iter().map(|address| address.own).find(IpAddr::is_ipv4)
}

/// Prints a line by `hands.say`, and waits for the end that has it. Returns the new peer's name.
///
/// # Errors
/// The system refuses, nobody has come in time, or the person has had enough: everything is as before.
pub fn offer(options: &OfferOptions<'_>) -> Result<String, LabError> {
    let mut offer = Offer::begin(options)?;
    let ticket = offer.open()?;
    (options.hands.say)(&format!(
        "On the other machine run `airbraid pair --join` and paste this line. It is good once, for {} s:\n\n{}\n",
        options.valid.as_secs(),
        *ticket.line()
    ));
    let begun = Clock::start();
    while begun.elapsed() < options.valid {
        if (options.hands.is_over)() {
            return Err(LabError::Failed("stopped: the line is worth nothing any more".to_owned()));
        }
        let Some(listener) = &offer.listener else { break };
        let Ok((stream, from)) = listener.accept() else {
            std::thread::sleep(PAUSE);
            continue;
        };
        if let Some(name) = offer.serve(stream, from)? {
            return Ok(name);
        }
    }
    Err(LabError::Failed("nobody has come in time: the line is worth nothing any more".to_owned()))
}

/// An offer that is open. Dropped before a peer has come of it, it undoes its changes.
struct Offer<'a> {
    options: &'a OfferOptions<'a>,
    file: PathBuf,
    /// Whether the file was there before.
    is_new: bool,
    secret: OneTime,
    /// This end's addresses in the tunnel.
    own: (Ipv4Addr, Option<Ipv6Addr>),
    listener: Option<TcpListener>,
    until: String,
    /// The peer that came of it, before it has confirmed.
    joined: Option<PeerTable>,
    is_done: bool,
}

impl<'a> Offer<'a> {
    fn begin(options: &'a OfferOptions<'a>) -> Result<Self, LabError> {
        exchange::check_name(options.name).map_err(LabError::Input)?;
        let failed = || LabError::io(options.folder.display());
        fs::create_dir_all(options.folder).map_err(failed())?;
        let file = site_file(options.folder, options.name);
        let mut bytes = [0; 32];
        Random::new().fill(&mut bytes);
        let ends =
            SignedDuration::try_from(options.valid).ok().and_then(|valid| Timestamp::now().checked_add(valid).ok());
        let ends = ends.ok_or_else(|| LabError::Input("a line is good for a shorter time".to_owned()))?;
        let mut offer = Self {
            options,
            is_new: !file.exists(),
            file,
            secret: OneTime::new(Secret::new(bytes)),
            own: (Ipv4Addr::UNSPECIFIED, None),
            listener: None,
            until: Timestamp::from_second(ends.as_second()).unwrap_or(ends).to_string(),
            joined: None,
            is_done: false,
        };
        if offer.is_new {
            offer.own = offer.make()?;
        } else {
            offer.clean()?;
            offer.own = own_addresses(&offer.site()?)?;
        }
        Ok(offer)
    }

    /// Makes a file without a peer, and its key.
    fn make(&self) -> Result<(Ipv4Addr, Option<Ipv6Addr>), LabError> {
        let mut random = Random::new();
        let mut id = [0; 5];
        random.fill(&mut id);
        let number = |last: u8| Ipv4Addr::from(u32::from(NETWORK) + u32::from(last));
        // A network of its own (RFC 4193): two such never meet.
        let six = Ipv6Addr::from([0xfd, id[0], id[1], id[2], id[3], id[4], 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        let six = speaks_ipv6().then_some(six);
        let head = Head {
            interface: free_interface(),
            addresses: [format!("{}/24", number(1))].into_iter().chain(six.map(|six| format!("{six}/64"))).collect(),
            private_key: format!("{}.key", self.options.name),
            listen: Some(self.options.port),
            uplinks: Vec::new(),
            lan: Some(Vec::new()),
        };
        files::write_secret(&self.options.folder.join(&head.private_key), &Secret::draw(&mut random))?;
        files::write(&self.file, &head.text())?;
        Ok((number(1), six))
    }

    /// Takes out what an earlier offer has left that was killed.
    fn clean(&self) -> Result<(), LabError> {
        let mut text = files::read(&self.file)?;
        for (name, table) in files::paired(&text) {
            let Some(until) = table.lines().find_map(|line| line.strip_prefix("until")) else { continue };
            let until = until.trim_matches([' ', '=', '"']);
            if until.parse::<Timestamp>().is_ok_and(|until| until > Timestamp::now()) {
                let how = "it is good until then, or until Ctrl-C ends its `airbraid pair`";
                return Err(LabError::Input(format!(
                    "a line of {} waits until {until} already: {how}",
                    self.options.name
                )));
            }
            text = files::without(&text, &name).unwrap_or(text);
            let _ = fs::remove_file(self.options.folder.join(secret_file(self.options.name, &name)));
        }
        files::write(&self.file, &text)
    }

    /// The address of the line's end in the tunnel, while it pairs.
    fn guest(&self) -> Ipv4Addr {
        let [a, b, c, _] = self.own.0.octets();
        Ipv4Addr::new(a, b, c, GUEST_NUMBER)
    }

    fn site(&self) -> Result<Site, LabError> {
        site::read(&self.file).map_err(|errors| LabError::Input(errors.to_string()))
    }

    /// Lets the line's end in, and listens for it inside the tunnel.
    fn open(&mut self) -> Result<Ticket, LabError> {
        let guest = self.guest();
        let identity = self.secret.identity();
        let table = PeerTable {
            name: GUEST.to_owned(),
            public_key: keys::encode(&public_key(&identity)),
            preshared_key: secret_file(self.options.name, GUEST),
            endpoint: None,
            allowed: vec![Prefix { address: guest.into(), length: 32 }],
            except: Vec::new(),
            until: Some(self.until.clone()),
        };
        self.add(&table, &self.secret.preshared())?;
        let site = self.site()?;
        let port = site.interface.listen;
        if port == 0 {
            let help = format!("write listen = {PORT} into [interface]");
            return Err(LabError::Input(format!("{}: nobody can come to this end: {help}", self.file.display())));
        }
        let failed = || LabError::io(format!("a port at {}", self.own.0));
        let listener = TcpListener::bind((self.own.0, 0)).map_err(failed())?;
        // From the tunnel alone, whatever else may reach this address.
        setsockopt(&listener, sockopt::BindToDevice, &OsString::from(&site.interface.name))
            .map_err(LabError::failed(&site.interface.name))?;
        listener.set_nonblocking(true).map_err(failed())?;
        let inside = listener.local_addr().map_err(failed())?;
        self.listener = Some(listener);
        let address = self.options.address;
        let host = if address.parse::<Ipv6Addr>().is_ok() { format!("[{address}]") } else { address.to_owned() };
        Ok(Ticket {
            secret: self.secret.clone(),
            public: public_key(&site.interface.identity),
            theirs: self.own.0,
            ours: guest,
            port: inside.port(),
            endpoint: format!("{host}:{port}"),
        })
    }

    /// Adds a peer to the file, with its secret, and lets the daemon know.
    fn add(&self, table: &PeerTable, secret: &Secret) -> Result<(), LabError> {
        let path = self.options.folder.join(&table.preshared_key);
        let _ = fs::remove_file(&path);
        files::write_secret(&path, secret)?;
        let made = Made(vec![path]);
        let before = files::read(&self.file)?;
        files::write(&self.file, &(before.clone() + &table.text()))?;
        match self.apply() {
            Ok(()) => {
                made.keep();
                Ok(())
            }
            Err(error) => {
                files::write(&self.file, &before)?;
                Err(error)
            }
        }
    }

    /// Takes a peer out of the file.
    fn remove(&self, name: &str) -> Result<(), LabError> {
        if let Some(left) = files::without(&files::read(&self.file)?, name) {
            files::write(&self.file, &left)?;
        }
        let _ = fs::remove_file(self.options.folder.join(secret_file(self.options.name, name)));
        Ok(())
    }

    /// Lets the daemon read the file, or begins it.
    fn apply(&self) -> Result<(), LabError> {
        // A file that is wrong is told here, with its line.
        self.site()?;
        if is_up(self.options.name) {
            ask(self.options.name, &Question::Reload).map(drop)
        } else {
            (self.options.hands.up)(&self.file)
        }
    }

    /// Handles a connection; returns the name of the peer that has come of it.
    fn serve(&mut self, mut stream: TcpStream, from: SocketAddr) -> Result<Option<String>, LabError> {
        let prepared = stream.set_nonblocking(false).and_then(|()| stream.set_read_timeout(Some(SILENCE)));
        if prepared.and_then(|()| stream.set_write_timeout(Some(SILENCE))).is_err() {
            return Ok(None);
        }
        let is_guest = from.ip() == self.guest();
        let is_joined = self.joined.as_ref().is_some_and(|joined| joined.allowed[0].address == from.ip());
        // Other peers of this end reach the port as well, and nobody waits for them.
        if !(is_guest || is_joined) {
            return Ok(None);
        }
        let Ok(wish) = exchange::read::<Wish>(&mut stream) else { return Ok(None) };
        // Connections that break are the other end's to make again.
        let _ = match wish {
            Wish::Send { ms } => measure::send(&mut stream, ms),
            Wish::Receive => measure::receive(&mut stream),
            Wish::Join(newcomer) if is_guest => {
                let reply = self.join(&newcomer).unwrap_or_else(|error| Reply::Refused(error.to_string()));
                stream.write_all(exchange::line(&reply).as_bytes())
            }
            Wish::Confirm if is_joined => {
                let name = self.confirm()?;
                let _ = stream.write_all(exchange::line(&Reply::Done).as_bytes());
                return Ok(Some(name));
            }
            _ => stream.write_all(exchange::line(&Reply::Refused("not from here".to_owned())).as_bytes()),
        };
        Ok(None)
    }

    /// Makes a peer of the line's end, for now.
    fn join(&mut self, newcomer: &Newcomer) -> Result<Reply, LabError> {
        if self.joined.is_some() {
            return Err(LabError::Input("this line was used already: print another".to_owned()));
        }
        let networks = newcomer.check().map_err(LabError::Input)?;
        let site = self.site()?;
        if newcomer.name == GUEST || site.peers.iter().any(|peer| peer.name == newcomer.name) {
            let help = "choose another by --name, or `airbraid unpair` the old one first";
            return Err(LabError::Input(format!("there is a peer called `{}` already: {help}", newcomer.name)));
        }
        let taken = |prefix: &Prefix| site.peers.iter().find(|peer| peer.allowed.contains(prefix));
        if let Some((network, peer)) = networks.iter().find_map(|network| Some((network, taken(network)?))) {
            return Err(LabError::Input(format!("{network} is behind the peer {} already", peer.name)));
        }
        let number = self.free_number(&site)?;
        let [a, b, c, _] = self.own.0.octets();
        let four = Ipv4Addr::new(a, b, c, number);
        let six = self.own.1.map(|own| Ipv6Addr::from((u128::from(own) >> 64 << 64) | u128::from(number)));
        let ours = [Prefix { address: four.into(), length: 32 }].into_iter();
        let ours = ours.chain(six.map(|six| Prefix { address: six.into(), length: 128 }));
        let table = PeerTable {
            name: newcomer.name.clone(),
            public_key: newcomer.public_key.clone(),
            preshared_key: secret_file(self.options.name, &newcomer.name),
            endpoint: None,
            allowed: ours.chain(networks).collect(),
            except: Vec::new(),
            until: Some(self.until.clone()),
        };
        let secret = Secret::draw(&mut Random::new());
        self.add(&table, &secret)?;
        self.joined = Some(table);
        let addresses = [format!("{four}/24")].into_iter().chain(six.map(|six| format!("{six}/64")));
        Ok(Reply::Welcome(Welcome {
            name: self.options.name.to_owned(),
            addresses: addresses.collect(),
            preshared_key: keys::encode_secret(&secret).to_string(),
            has_ipv6: has_ipv6(),
        }))
    }

    /// The first number that no peer has.
    fn free_number(&self, site: &Site) -> Result<u8, LabError> {
        let [a, b, c, own] = self.own.0.octets();
        let is_free = |number: &u8| {
            let address = IpAddr::from([a, b, c, *number]);
            *number != own && !site.peers.iter().any(|peer| peer.allowed.iter().any(|prefix| prefix.contains(address)))
        };
        let found = (2..GUEST_NUMBER).find(is_free);
        found.ok_or_else(|| LabError::Input(format!("every address of {a}.{b}.{c}.0/24 is a peer's already")))
    }

    /// The peer lasts, and the line's end is no peer any more.
    fn confirm(&mut self) -> Result<String, LabError> {
        let Some(mut table) = self.joined.take() else { return Ok(String::new()) };
        table.until = None;
        let text = files::read(&self.file)?;
        let text = files::without(&text, &table.name).unwrap_or(text);
        let text = files::without(&text, GUEST).unwrap_or(text);
        files::write(&self.file, &(text + &table.text()))?;
        let _ = fs::remove_file(self.options.folder.join(secret_file(self.options.name, GUEST)));
        self.is_done = true;
        self.apply()?;
        Ok(table.name)
    }
}

impl Drop for Offer<'_> {
    fn drop(&mut self) {
        if self.is_done {
            return;
        }
        let name = self.options.name;
        let joined = self.joined.take().map(|table| table.name);
        for peer in joined.iter().map(String::as_str).chain([GUEST]) {
            let _ = self.remove(peer);
        }
        if self.is_new {
            if is_up(name) {
                let _ = (self.options.hands.down)(name);
            }
            let _ = fs::remove_file(self.options.folder.join(format!("{name}.key")));
            let _ = fs::remove_file(&self.file);
        } else if is_up(name) {
            let _ = ask(name, &Question::Reload);
        }
    }
}

/// This end's addresses in the tunnel, by its file.
fn own_addresses(site: &Site) -> Result<(Ipv4Addr, Option<Ipv6Addr>), LabError> {
    let addresses = site.interface.addresses.iter();
    let four = addresses.clone().find_map(|prefix| match prefix.address {
        IpAddr::V4(address) if prefix.length <= 24 => Some(address),
        _ => None,
    });
    let six = addresses.clone().find_map(|prefix| match prefix.address {
        IpAddr::V6(address) if prefix.length <= 64 => Some(address),
        _ => None,
    });
    let help = "give [interface] an address with a network of /24, such as \"10.77.0.1/24\"";
    let four =
        four.ok_or_else(|| LabError::Input(format!("{}: no address for a peer: {help}", site.file.display())))?;
    Ok((four, six))
}

/// Whether this host reaches the Internet by IPv6.
fn has_ipv6() -> bool {
    let found = Netlink::open().and_then(|mut netlink| netlink.look_up(ANYWHERE[0], None, None, None));
    found.is_ok_and(|routes| !routes.is_empty())
}
