//! The daemon: one interface out of several uplinks, encrypted, for each of its peers.
//!
//! It drives [`airbraid_engine::trunk::bonding::Bond`], one for each peer, and
//! [`airbraid_engine::converge::session`]; what these decide it carries out. [`up`] makes the interface and works until
//! it is told to end; [`ask`] talks to one that works. `docs/guide/daemon.md` is for those who run it.

mod address;
mod budget;
mod calls;
mod cause;
mod check;
mod checksum;
mod coalesce;
mod coded;
mod commands;
mod confine;
mod core;
mod desk;
mod dns;
mod follow;
mod fragment;
mod gateway;
mod history;
mod hours;
pub(crate) mod inner;
mod introduce;
mod introductions;
mod journal;
pub mod keys;
mod knock;
mod lane;
mod manager;
mod memory;
mod metrics;
mod nat64;
mod note_files;
mod notice;
#[cfg(test)]
mod offload_tests;
mod outside;
mod packet;
pub mod page;
pub mod pair;
mod peer;
mod peers;
mod places;
mod presence;
mod question;
mod replace;
mod routing;
mod segment;
mod serve;
mod service;
pub mod site;
mod socket;
mod status;
mod table;
mod tag;
pub mod uci;
mod uplink;

pub use check::notes;
pub use commands::run as run_commands;
pub use confine::needs_low_port;
pub use history::event::Event;
pub use history::{HistoryReport, LinkHistory, Span};
pub use journal::{clean, names};
pub use outside::addresses as name_answer;
pub use question::Question;
pub use routing::check as check_routes;
pub use serve::ask;
pub use status::{CallerReport, MemberReport, PeerReport, Status, UplinkReport};

/// Runs of segments as the kernel gives and takes them, for tests with arbitrary bytes.
pub mod offload {
    pub use super::coalesce::{Coalescer, Parcel};
    pub use super::inner::{Summary, summary};
    pub use super::packet::{IpPacket, Pool, Run};
    pub use super::segment::{Cut, Malformed, finish};
}

/// The readers of bytes from outside, for tests with arbitrary bytes.
pub mod readers {
    pub use super::budget::parse as months;
    pub use super::inner::{carry_mark, clamp_mss, is_acknowledgement, is_opening, too_big, without_padding};
    pub use super::introduce::Introduction;
    pub use super::notice::Notice;
    pub use super::page::{ParsedRequest, parse as page_request};
    pub use super::question::{ParsedQuestion, control, http};
    pub use super::site::{Prefix, parse as site};
}

use crate::clock::Clock;
use crate::error::LabError;
use crate::netlink::{Netlink, Watch, WatchTopic};
use crate::tun::{DEVICE, Tun};
use airbraid_engine::Stream;
use airbraid_engine::converge::session::{
    Aead, Config, Entropy, Keyring, PeerConfig, PeerId, Sessions, Suite, Timing, public_key,
};
use airbraid_engine::trunk::bonding as tunnel;
use airbraid_units::Instant;
use budget::{Budget, Months};
use commands::Commands;
use core::Daemon;
use core::handshakes::Handshakes;
use core::jumps::{Clocks, Copies, Jumps};
use core::names::Names;
use core::turn::LoopInputs;
use gateway::GatewayState;
use history::History;
use journal::Journal;
use keys::Random;
use manager::Manager;
use nix::sys::time::TimeValLike;
use nix::time::{ClockId, clock_gettime};
use outside::Outside;
use peer::PeerState;
use peers::Peers;
use routing::{Routing, WantedRouting};
use serve::Server;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::low_level::pipe;
use site::Site;
use std::collections::BTreeMap;
use std::os::unix::net::UnixStream;
use table::Table;
use uplink::UplinkState;

/// Packets that the kernel keeps for the interface while the daemon is not awake: the queue of a link is in the tunnel.
const QUEUE: u32 = 500;
/// The MTU before a path is known \[byte\]: the least of IPv6.
const FIRST_MTU: u32 = 1_280;

/// Makes the interface and works until SIGTERM, SIGINT or `down`; then restores everything. `ready` is called when the
/// interface is there.
///
/// # Errors
/// The daemon is up already, or the system refuses; nothing is left behind.
pub fn up(site: Site, ready: impl FnOnce()) -> Result<(), LabError> {
    // Frames are paced: a wake-up that is 50 us late, as by default, makes bursts of some packets at 100 Mbit/s.
    let _ = nix::sys::prctl::set_timerslack(1);
    let mut commands = Commands::begin(&site)?;
    confine::drop_privileges(&site)?;
    let journal = Journal::begin(&site.name)?;
    let name = &site.interface.name;
    let tun = if site.interface.offload { Tun::create_offloaded(name) } else { Tun::create(name) };
    let tun = tun.map_err(|error| refused(&site, &error))?;
    let (mut inputs, signals) = listen(&site)?;
    // Before others are set: these are the host's own.
    let outside = Outside::new(&site.interface.dns, routing::numbers(&site.interface).1);
    if let Err(error) = dns::set(&site.interface.name, &site.interface.dns, &site.name) {
        tracing::error!(%error, "name servers");
    }
    let gateway = GatewayState::begin(&site)?;
    // The last program has been run, the last listener listens, and no thread but this one has begun.
    confine::confine(&site);
    let mut daemon = begin(site, tun, outside)?;
    daemon.find_introducers();
    daemon.on_interfaces();
    let site = &daemon.site;
    if site.interface.offload {
        let offloads = daemon.offloads();
        let lacks: Vec<&str> = offloads.into_iter().filter(|(_, works)| !works).map(|(what, _)| what).collect();
        if !lacks.is_empty() {
            tracing::warn!("the kernel lacks offloads, packets go one by one there: {}", lacks.join(", "));
        }
    }
    if let Some(commands) = &mut commands {
        commands.post_up()?;
    }
    tracing::info!(interface = site.interface.name, peers = site.peers.len(), "up");
    ready();
    inputs.manager.tell("READY=1");
    let ended = daemon.run(&mut inputs);
    inputs.manager.tell("STOPPING=1");
    if let Some(commands) = &mut commands {
        commands.pre_down();
    }
    for signal in signals {
        signal_hook::low_level::unregister(signal);
    }
    drop(daemon);
    drop(gateway);
    drop(journal);
    ended
}

fn refused(site: &Site, error: &std::io::Error) -> LabError {
    let name = &site.interface.name;
    let help = match error.raw_os_error() {
        Some(libc::EBUSY) => format!("there is an interface {name} already: give [interface] another name"),
        Some(libc::EPERM | libc::EACCES) => "it needs root, or the capability CAP_NET_ADMIN".to_owned(),
        Some(libc::ENOENT) => "load the module: modprobe tun".to_owned(),
        _ => "it needs /dev/net/tun".to_owned(),
    };
    LabError::Failed(format!("{DEVICE}: {error}: {help}"))
}

/// Sets up the interface and everything that works on it.
fn begin(site: Site, tun: Tun, outside: Outside) -> Result<Daemon, LabError> {
    let interface = &site.interface;
    let index = nix::net::if_::if_nametoindex(interface.name.as_str());
    let index = index.map_err(LabError::failed(&interface.name))?;
    let mut netlink = Netlink::open().map_err(LabError::failed("rtnetlink"))?;
    let mtu = interface.mtu.unwrap_or(FIRST_MTU);
    netlink.configure(index, mtu, QUEUE).map_err(LabError::failed(&interface.name))?;
    for prefix in &interface.addresses {
        let put = netlink.put_address(index, prefix.address, prefix.length, routing::METRIC);
        put.map_err(LabError::failed(format!("the address {prefix}")))?;
    }
    let uplinks = site.uplinks.iter().map(|uplink| (uplink, uplink.is_on));
    let wanted = WantedRouting::new(interface, index, uplinks, site.peers.iter());
    let needs_outside = wanted.hides_name_servers(&interface.dns);
    let routing = Routing::begin(note_files::routing(&site.name), wanted)?;
    let mark = routing::numbers(interface).1;
    let time = clock_gettime(ClockId::CLOCK_REALTIME).map_err(LabError::failed("the time of day"))?;
    // A clock before 1970 says nothing; link security finds out what the peers have seen of this end.
    let epoch_ns = u64::try_from(time.num_nanoseconds()).unwrap_or(0);
    let mut random = Random::new();
    let (mut seed, mut life) = ([0; 8], [0; 4]);
    random.fill(&mut seed);
    random.fill(&mut life);
    // By chance: two starts are two lives, however soon after each other and whatever the clock says.
    let tunnel = tunnel::BondConfig { policy: site.policy, epoch: u32::from_ne_bytes(life) };
    let own = public_key(&interface.identity);
    let peer = |(index, peer): (usize, &site::Peer)| PeerState::new(peer.clone(), PeerId::at(index), &own, tunnel);
    let peers = Peers::new(site.peers.iter().enumerate().map(peer));
    outside.need(needs_outside);
    let names = Names::new(outside).map_err(LabError::io("names"))?;
    let sessions = Sessions::new(config(&site, epoch_ns), random, Stream::new(u64::from_ne_bytes(seed), 0, "session"));
    let clock = Clock::start();
    let sessions = Handshakes::start(sessions, clock).map_err(LabError::io("the thread of the handshakes"))?;
    let pool = packet::Pool::default();
    let history_file = site.interface.page.map(|_| note_files::history(&site.name));
    let uplink =
        |(place, uplink): (usize, &site::Uplink)| UplinkState::new(uplink.clone(), routing::mark_of(mark, place));
    let mut uplinks: Vec<UplinkState> = site.uplinks.iter().enumerate().map(uplink).collect();
    let months = Months::load(&note_files::months(&site.name));
    for uplink in &mut uplinks {
        uplink.budget = Budget::of(months.of(&uplink.config.name));
    }
    Ok(Daemon {
        routing,
        clock,
        time: Instant::ZERO,
        seen: Instant::ZERO,
        tun,
        tun_index: index,
        mtu,
        netlink,
        interfaces: Vec::new(),
        sessions,
        ring: Keyring::new(Aead),
        jumps: Jumps::since(Clocks::now()),
        interfaces_at: None,
        uplinks,
        table: Table::new(peers.iter().enumerate().map(core::reload::behind)),
        introduced: BTreeMap::new(),
        peers,
        sent_to: Vec::new(),
        tunnel,
        counts: status::DaemonCounts::default(),
        names,
        care: core::care::Care::new(months),
        room: socket::Room::new(&pool),
        pool,
        refused: Vec::new(),
        outputs: Vec::new(),
        later: Vec::new(),
        fragment_number: u32::from_ne_bytes([seed[0], seed[1], seed[2], seed[3]]),
        occupied: 0,
        longest: memory::LONGEST_LEAST,
        reading: None,
        coalescer: coalesce::Coalescer::default(),
        handed_out: 0,
        history: History::begin(history_file.as_deref(), core::history::time_of_day()),
        site,
    })
}

fn config(site: &Site, epoch_ns: u64) -> Config {
    let peer = |peer: &site::Peer| PeerConfig { public: peer.public, psk: peer.psk.clone(), addresses: Vec::new() };
    Config {
        identity: site.interface.identity.clone(),
        peers: site.peers.iter().map(peer).collect(),
        suites: suites(),
        epoch_ns,
        timing: Timing::default(),
    }
}

/// AES first where the processor has instructions for it (decision 6).
fn suites() -> Vec<Suite> {
    #[cfg(target_arch = "x86_64")]
    let has_aes = std::arch::is_x86_feature_detected!("aes") && std::arch::is_x86_feature_detected!("pclmulqdq");
    #[cfg(target_arch = "aarch64")]
    let has_aes = std::arch::is_aarch64_feature_detected!("aes");
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let has_aes = false;
    if has_aes {
        vec![Suite::Aes256Gcm, Suite::ChaCha20Poly1305]
    } else {
        vec![Suite::ChaCha20Poly1305, Suite::Aes256Gcm]
    }
}

fn listen(site: &Site) -> Result<(LoopInputs, Vec<signal_hook::SigId>), LabError> {
    let server = Server::open(&site.name, site.interface.metrics, site.interface.page)?;
    let watch = Watch::open(WatchTopic::Interfaces).map_err(LabError::failed("rtnetlink"))?;
    let failed = || LabError::io("signals");
    let (end, ended) = UnixStream::pair().map_err(failed())?;
    let (reload, reloaded) = UnixStream::pair().map_err(failed())?;
    reload.set_nonblocking(true).map_err(failed())?;
    let mut signals = Vec::new();
    for signal in [SIGTERM, SIGINT] {
        signals.push(pipe::register(signal, ended.try_clone().map_err(failed())?).map_err(failed())?);
    }
    signals.push(pipe::register(SIGHUP, reloaded).map_err(failed())?);
    let manager = Manager::of_environment();
    Ok((
        LoopInputs {
            server,
            page: None,
            history: [const { None }; Span::COUNT],
            manager,
            watch,
            copies: Copies::open(),
            end,
            reload,
        },
        signals,
    ))
}
