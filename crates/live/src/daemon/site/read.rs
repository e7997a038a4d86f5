//! The keys of the daemon's file.

use super::device::device;
use super::{Endpoint, Interface, KEEPALIVE, PEERS_MAX, PORT, Peer, Prefix, Site, UPLINKS_MAX, Uplink};
use crate::daemon::hours::Hours;
use crate::daemon::keys;
use airbraid_engine::converge::session::{PublicKey, Secret};
use airbraid_sim::scenario::Errors;
use airbraid_sim::scenario::document::{self, Complaint, Context, Data, Document, Value, View, list, quantity, text};
use airbraid_units::{BitRate, Bytes, Duration};
use jiff::Timestamp;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

/// Allowed MTUs: the least that any IPv4 host takes, and a TUN's longest packet.
const MTU: std::ops::RangeInclusive<u64> = 576..=65_535;
/// Default memory of all peers' packets: a small router has it to spare.
const MEMORY: Bytes = Bytes::new(256 << 20);
/// Default memory of one peer's packets: 1 Gbit/s for a round trip of 100 ms, in buffers of 2 KiB, both ways, with
/// space for repair symbols.
const PEER_MEMORY: Bytes = Bytes::new(64 << 20);
/// Least memory: a flow's packets at 100 Mbit/s and 40 ms.
const MEMORY_MIN: Bytes = Bytes::new(1 << 20);

/// Reads the daemon's file, and key files; names of peers are not looked up.
///
/// # Errors
/// All that is wrong, up to ten errors, each with its line.
pub fn read(path: &Path) -> Result<Site, Errors> {
    read_document(&Document::read(path, "site")?, path)
}

/// Reads the text of a daemon's file that is at `path`, and key files.
///
/// # Errors
/// As of [`read`].
pub fn parse(path: &Path, text: &str) -> Result<Site, Errors> {
    read_document(&Document::parse(&path.display().to_string(), text)?, path)
}

fn read_document(document: &Document, path: &Path) -> Result<Site, Errors> {
    let cx = Context::new(false);
    let mut site = site(&document.top(&cx), path);
    document.finish(cx)?;
    let cx = Context::new(false);
    site.keys = key_files(&document.top(&cx), path);
    Ok(site)
}

/// The key files that a valid file names.
fn key_files(top: &View<'_>, path: &Path) -> Vec<PathBuf> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let (interface, peers) = (top.sub("interface"), top.tables("peer"));
    let shared = peers.iter().filter_map(|peer| peer.find("preshared_key"));
    let named = interface.find("private_key").into_iter().chain(shared);
    named.filter_map(|found| text(found.value).ok()).map(|name| folder.join(name)).collect()
}

fn site(top: &View<'_>, path: &Path) -> Site {
    let schema = top.required("schema", "1", |value| document::integer(value, 1).and_then(one));
    let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
    let interface = interface(&top.sub("interface"), &folder);
    let policy = document::policy(top.sub("policy"));
    let uplinks = uplinks(top);
    let gateway = super::gateway::read(top, &interface.name);
    let services = super::service::read(top, &uplinks, interface.listen != 0);
    let peers = peers(top, &folder, &uplinks, &interface);
    super::service::check_peers(top, &services, peers.iter().map(|peer| peer.name.as_str()));
    let _ = schema;
    top.check_keys();
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Site { name, file: path.to_path_buf(), keys: Vec::new(), interface, policy, uplinks, gateway, services, peers }
}

fn one(number: u128) -> Result<u128, Complaint> {
    if number == 1 { Ok(1) } else { Err(Complaint::new("there is no such schema", "write schema = 1")) }
}

fn interface(view: &View<'_>, folder: &Path) -> Interface {
    let addresses = view.required("address", "[\"10.77.0.1/24\"]", |value| prefixes(value, true));
    let identity = view.required("private_key", "\"site.key\"", |value| key_file(value, folder));
    let metrics = view.optional("metrics", "none", socket_address);
    let is_local = metrics.is_none_or(|at| at.ip().is_loopback());
    let interface = Interface {
        name: view.read("name", "air0".to_owned(), "", device),
        addresses: addresses.unwrap_or_default(),
        mtu: view.optional("mtu", "the uplinks'", mtu).flatten(),
        identity: identity.unwrap_or(Secret::new([0; 32])),
        listen: view.optional("listen", "any port", port).unwrap_or(0),
        routes: view.flag("routes", true, ""),
        table: view.optional("table", "by its name", table),
        mark: view.optional("mark", "by its name", mark),
        dns: view.optional("dns", "left alone", servers).unwrap_or_default(),
        offload: view.flag("offload", true, ""),
        threads: view.flag("threads", has_processors(), "on from four processors on"),
        memory: view.quantity("memory", MEMORY, "for all peers together"),
        peer_memory: view.quantity("peer_memory", PEER_MEMORY, "for each"),
        metrics,
        page: view.optional("page", "none", page_address),
        metrics_names: view.flag("metrics_names", is_local, "where metrics are on a loopback address"),
        post_up: view.optional("post_up", "none", names).unwrap_or_default(),
        pre_down: view.optional("pre_down", "none", names).unwrap_or_default(),
    };
    for (key, memory) in [("memory", interface.memory), ("peer_memory", interface.peer_memory)] {
        let message = || "this does not hold what is under way at usual rates".to_owned();
        view.require(memory >= MEMORY_MIN, key, message, "at least 1 MiB; leave it out for what suits 1 Gbit/s");
    }
    view.check_keys();
    interface
}

/// Whether there are more processors than the daemon, the programs and the interrupts keep busy.
fn has_processors() -> bool {
    std::thread::available_parallelism().is_ok_and(|count| count.get() >= 4)
}

fn uplinks(top: &View<'_>) -> Vec<Uplink> {
    let views = top.tables("uplink");
    let mut uplinks: Vec<Uplink> = Vec::with_capacity(views.len());
    for view in &views {
        let uplink = uplink(view);
        unique(view, "name", &uplink.name, uplinks.iter().map(|other| other.name.as_str()), "uplink");
        if let Some(device) = &uplink.device {
            let others = uplinks.iter().filter_map(|other| other.device.as_deref());
            unique(view, "device", device, others, "uplink's device");
        }
        uplinks.push(uplink);
    }
    if uplinks.len() > UPLINKS_MAX {
        top.complain("uplink", Complaint::new(format!("{} uplinks are too many", uplinks.len()), "at most 8"));
    }
    if uplinks.is_empty() {
        uplinks.push(Uplink::any());
    }
    uplinks
}

fn uplink(view: &View<'_>) -> Uplink {
    let name = view.name();
    let quota = view.optional("quota", "none", quantity::<Bytes>);
    let uplink = Uplink {
        device: Some(view.read("device", name.clone(), "its name", device)),
        name,
        is_on: view.choice("state", &[("on", true), ("off", false)], true, ""),
        gateways: view.optional("gateway", "the host's", gateways).unwrap_or_default(),
        tier: view.read("tier", 0, "", |value| document::integer(value, 7).map(|tier| tier as u8)),
        is_backup: view.flag("backup", false, ""),
        quota,
        quota_day: view.read("quota_day", 1, "", day),
        is_metered: view.flag("metered", quota.is_some(), "where it has a quota"),
        hours: view.optional("hours", "always", hours).unwrap_or_default(),
        rate: view.optional("rate", "none", quantity::<BitRate>),
        keepalive: view.quantity("keepalive", KEEPALIVE, "below most NATs' patience"),
    };
    if uplink.rate.is_some_and(|rate| rate.as_bps() < 8_000) {
        view.complain("rate", Complaint::new("so slow a link carries nothing", "at least 8 kbit/s, or leave it out"));
    }
    let is_long = uplink.keepalive >= Duration::from_secs(1);
    view.require(is_long, "keepalive", || "this is too often".to_owned(), "at least 1 s; 20 s suits most NATs");
    view.check_keys();
    uplink
}

fn peers(top: &View<'_>, folder: &Path, uplinks: &[Uplink], interface: &Interface) -> Vec<Peer> {
    let views = top.tables("peer");
    let mut peers: Vec<Peer> = Vec::with_capacity(views.len());
    let mut behind: BTreeSet<Prefix> = BTreeSet::new();
    for view in &views {
        let peer = peer(view, folder, uplinks);
        unique(view, "name", &peer.name, peers.iter().map(|other| other.name.as_str()), "peer");
        if peers.iter().any(|other| other.public == peer.public) {
            view.complain("public_key", Complaint::new("two peers have the same key", "a key is one peer's"));
        }
        for prefix in &peer.allowed {
            let message = || format!("{prefix} is behind two peers");
            view.require(behind.insert(*prefix), "allowed", message, "a prefix leads to one peer");
        }
        peers.push(peer);
    }
    let are_introduced = check_introductions(&views, &peers);
    let is_reached = interface.listen != 0 || views.iter().any(|view| view.find("endpoint").is_some());
    let help = format!("give [interface] listen = {PORT}, or a peer its endpoint");
    let message = || "nobody can come to this end, and it goes to nobody".to_owned();
    // A wrong introduction has its own complaint: set right, it may lead to a peer.
    top.require(is_reached || !are_introduced || peers.is_empty(), "peer", message, &help);
    let few = (1..=PEERS_MAX).contains(&peers.len());
    top.require(few, "peer", || format!("{} peers", peers.len()), "write a [[peer]] table for each, at most 4096");
    peers
}

fn peer(view: &View<'_>, folder: &Path, uplinks: &[Uplink]) -> Peer {
    let name = view.name();
    let public = view.required("public_key", "\"... as `airbraid pubkey` prints it\"", |value| {
        text(value).and_then(|text| keys::public(&text).map_err(wrong_key))
    });
    let allowed = view.required("allowed", "[\"10.77.0.2/32\"]", |value| prefixes(value, false));
    let except = view.optional("except", "none", |value| prefixes(value, false));
    let peer = Peer {
        name,
        public: public.unwrap_or(PublicKey([0; 32])),
        psk: view.optional("preshared_key", "none", |v| key_file(v, folder)).unwrap_or(Secret::new([0; 32])),
        via: view.optional("via", "it is reached without", text),
        introduces: view.optional("introduces", "nobody", names).unwrap_or_default(),
        endpoints: view.optional("endpoint", "it comes to us", |v| endpoints(v, uplinks)).unwrap_or_default(),
        allowed: allowed.unwrap_or_default().iter().map(Prefix::network).collect(),
        except: except.unwrap_or_default().iter().map(Prefix::network).collect(),
        until: view.optional("until", "for ever", until),
    };
    for prefix in &peer.except {
        let is_part = peer.allowed.iter().any(|whole| whole.length < prefix.length && whole.contains(prefix.address));
        let message = || format!("{prefix} is no part of a prefix in `allowed`");
        view.require(is_part, "except", message, "an exception lies in a shorter prefix, such as 0.0.0.0/0");
    }
    view.check_keys();
    peer
}

/// Refuses a peer that introduces, or is introduced by, anybody but another peer of this file that is reached without
/// an introduction. Returns whether all is well.
fn check_introductions(views: &[View<'_>], peers: &[Peer]) -> bool {
    let is_well = Cell::new(true);
    let find = |name: &String| peers.iter().find(|other| other.name == *name);
    for (view, peer) in views.iter().zip(peers) {
        let require = |holds: bool, key: &str, message: &dyn Fn() -> String, help: &str| {
            is_well.set(is_well.get() && holds);
            view.require(holds, key, message, help);
        };
        let others = others(peer, peers);
        let of_via = peer.via.iter().map(|name| ("via", name));
        let named = of_via.clone().chain(peer.introduces.iter().map(|name| ("introduces", name)));
        for (key, name) in named {
            require(find(name).is_some(), key, &|| format!("there is no peer `{name}`"), &others);
            require(*name != peer.name, key, &|| format!("`{name}` is this peer itself"), &others);
        }
        for (key, name) in of_via {
            let is_reached = find(name).is_none_or(|other| other.via.is_none() || other.name == peer.name);
            let message = || format!("`{name}` has to be introduced itself");
            require(is_reached, key, &message, "name a peer that both ends reach by themselves");
            let message = || "a peer has `endpoint` or `via`, not both".to_owned();
            require(view.find("endpoint").is_none(), key, &message, "leave one of the two out");
        }
        let message = || "this end cannot introduce a peer that it does not reach by itself".to_owned();
        let help = "`introduces` is for the end that both reach, `via` for these two";
        require(peer.introduces.is_empty() || peer.via.is_none(), "introduces", &message, help);
    }
    is_well.get()
}

/// The names that a peer's introductions may have, as a remedy.
fn others(own: &Peer, peers: &[Peer]) -> String {
    let names: Vec<&str> = peers.iter().map(|peer| peer.name.as_str()).filter(|name| *name != own.name).collect();
    if names.is_empty() {
        return "write a [[peer]] table for it, too: this file has no other peer".to_owned();
    }
    format!("allowed: {}", names.join(", "))
}

fn names(value: &Value) -> Result<Vec<String>, Complaint> {
    list(value)?.iter().map(text).collect()
}

fn unique<'a>(view: &View<'_>, key: &str, own: &str, mut others: impl Iterator<Item = &'a str>, what: &str) {
    if others.any(|other| other == own) {
        let message = format!("there are two {what}s called `{own}`");
        view.complain(key, Complaint::new(message, "names differ"));
    }
}

fn wrong_key(why: String) -> Complaint {
    Complaint::new(why, "`airbraid genkey` makes a private key, `airbraid pubkey` says its public one")
}

/// Reads the key file of a path, relative to the folder of the file.
fn key_file(value: &Value, folder: &Path) -> Result<Secret, Complaint> {
    let path: PathBuf = folder.join(text(value)?);
    let help = "umask 077; airbraid genkey > FILE makes one, genpsk one that both ends share";
    keys::read(&path).map_err(|why| Complaint::new(why, help))
}

/// `"auto"`, or a size.
fn mtu(value: &Value) -> Result<Option<u32>, Complaint> {
    if matches!(&value.data, Data::Text(word) if word == "auto") {
        return Ok(None);
    }
    let size = quantity::<Bytes>(value)?.as_u64();
    let refused = || Complaint::new(format!("an MTU of {size} byte cannot be had"), "\"auto\", or 576 to 65535 byte");
    MTU.contains(&size).then_some(Some(size as u32)).ok_or_else(refused)
}

fn port(value: &Value) -> Result<u16, Complaint> {
    document::integer(value, u128::from(u16::MAX)).map(|port| port as u16)
}

/// Below are the kernel's and the system's tables; above there is no space for an uplink's.
fn table(value: &Value) -> Result<u32, Complaint> {
    let number = document::integer(value, u128::from(u32::MAX))? as u32;
    let refused = || Complaint::new(format!("the tables from {number} on are not free"), "256 to 4294967279");
    (256..=u32::MAX - 16).contains(&number).then_some(number).ok_or_else(refused)
}

/// Its four lowest bits identify the uplink.
fn mark(value: &Value) -> Result<u32, Complaint> {
    let number = document::integer(value, u128::from(u32::MAX))? as u32;
    let refused = || Complaint::new(format!("{number} is no first mark"), "a multiple of 16, but not 0");
    (number != 0 && number.is_multiple_of(16)).then_some(number).ok_or_else(refused)
}

/// An address, or one for each family.
fn gateways(value: &Value) -> Result<Vec<IpAddr>, Complaint> {
    let address = |value: &Value| {
        let given = text(value)?;
        given.parse().map_err(|_| Complaint::new(format!("`{given}` is no address"), "such as \"192.168.8.1\""))
    };
    let gateways: Vec<IpAddr> = if matches!(value.data, Data::Text(_)) {
        vec![address(value)?]
    } else {
        list(value)?.iter().map(address).collect::<Result<_, _>>()?
    };
    let is_one_each =
        [true, false].into_iter().all(|is_v4| gateways.iter().filter(|at| at.is_ipv4() == is_v4).count() < 2);
    let refused = || Complaint::new("an uplink has one router", "one address, or one of each family");
    is_one_each.then_some(gateways).ok_or_else(refused)
}

/// A day that every month has.
fn day(value: &Value) -> Result<i8, Complaint> {
    let day = document::integer(value, 28)?;
    let refused = || Complaint::new("a month has no such day", "1 to 28: every month has these");
    (day > 0).then_some(day as i8).ok_or_else(refused)
}

/// Hours of the week, or several.
fn hours(value: &Value) -> Result<Vec<Hours>, Complaint> {
    let help = "such as \"Mon-Fri 08:00-18:00\", or a list of such; this host's time counts";
    let one = |value: &Value| Hours::parse(&text(value)?).map_err(|why| Complaint::new(why, help));
    if matches!(value.data, Data::Text(_)) { Ok(vec![one(value)?]) } else { list(value)?.iter().map(one).collect() }
}

/// A date with the time and its zone (RFC 3339).
fn until(value: &Value) -> Result<Timestamp, Complaint> {
    let given = text(value)?;
    let refused = || Complaint::new(format!("`{given}` is no time"), "such as \"2026-12-31T18:00:00Z\" (RFC 3339)");
    given.parse().map_err(|_| refused())
}

fn servers(value: &Value) -> Result<Vec<IpAddr>, Complaint> {
    let read = |item: &Value| {
        let given = text(item)?;
        given.parse().map_err(|_| Complaint::new(format!("`{given}` is no address"), "such as \"10.77.0.1\""))
    };
    list(value)?.iter().map(read).collect()
}

fn socket_address(value: &Value) -> Result<SocketAddr, Complaint> {
    let given = text(value)?;
    given
        .parse()
        .map_err(|_| Complaint::new(format!("`{given}` is no address with a port"), "such as \"127.0.0.1:9518\""))
}

/// An address of the loopback: who reaches the page is asked for no password.
fn page_address(value: &Value) -> Result<SocketAddr, Complaint> {
    let refused = |what: &str| {
        let from_elsewhere = "`ssh -L 9519:127.0.0.1:9519 HOST` brings it elsewhere";
        Complaint::new(what, format!("a loopback address and a port, such as \"127.0.0.1:9519\"; {from_elsewhere}"))
    };
    let at = socket_address(value)?;
    if !at.ip().is_loopback() {
        return Err(refused("the page asks nobody for a password, so it is for this host only"));
    }
    if at.port() == 0 { Err(refused("nobody would find this port")) } else { Ok(at) }
}

fn prefixes(value: &Value, needs_one: bool) -> Result<Vec<Prefix>, Complaint> {
    let read =
        |item: &Value| Prefix::parse(&text(item)?).map_err(|why| Complaint::new(why, "such as \"10.77.0.1/24\""));
    let items = list(value)?;
    if needs_one && items.is_empty() {
        return Err(Complaint::new("it needs an address", "such as [\"10.77.0.1/24\"]"));
    }
    items.iter().map(read).collect()
}

/// `"host:port"` for every uplink, or a table with one for some of them.
fn endpoints(value: &Value, uplinks: &[Uplink]) -> Result<Vec<(usize, Endpoint)>, Complaint> {
    let Data::Table(table) = &value.data else {
        let endpoint = endpoint(value)?;
        return Ok((0..uplinks.len()).map(|uplink| (uplink, endpoint.clone())).collect());
    };
    let names: Vec<&str> = uplinks.iter().map(|uplink| uplink.name.as_str()).collect();
    let mut found = Vec::with_capacity(table.entries.len());
    for entry in &table.entries {
        let Some(uplink) = names.iter().position(|name| *name == entry.key) else {
            let help = format!("allowed: {}", names.join(", "));
            return Err(Complaint::new(format!("there is no uplink `{}`", entry.key), help));
        };
        found.push((uplink, endpoint(&entry.value)?));
    }
    Ok(found)
}

fn endpoint(value: &Value) -> Result<Endpoint, Complaint> {
    let text = text(value)?;
    let refused = |why: String| {
        Complaint::new(why, "such as \"198.51.100.7:5182\", \"[2001:db8::7]:5182\" or \"hub.example:5182\"")
    };
    if let Ok(address) = text.parse::<SocketAddr>() {
        if address.port() == 0 {
            return Err(refused(format!("`{text}` has no port")));
        }
        return Ok(Endpoint { text, addresses: vec![address] });
    }
    let Some((host, port)) = text.rsplit_once(':') else { return Err(refused(format!("`{text}` has no port"))) };
    if !port.parse::<u16>().is_ok_and(|port| port != 0) {
        return Err(refused(format!("`{text}` has no port")));
    }
    if !is_host(host) {
        return Err(refused(format!("`{host}` is neither an address nor the name of a host")));
    }
    Ok(Endpoint { text, addresses: Vec::new() })
}

/// Whether this can be the name of a host (RFC 1123, section 2.1; `_`, which some have, is allowed). It is looked up
/// later: the network may not be there yet.
fn is_host(host: &str) -> bool {
    let labels = host.strip_suffix('.').unwrap_or(host).split('.');
    let is_label = |label: &str| {
        let is_fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        (1..=63).contains(&label.len())
            && label.chars().all(is_fine)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    // The last label of an address that has a mistake in it is a number, that of a name is none.
    let is_number = labels.clone().next_back().is_some_and(|last| last.chars().all(|c| c.is_ascii_digit()));
    host.len() <= 253 && !is_number && labels.clone().all(is_label)
}
