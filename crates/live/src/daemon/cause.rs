//! Causes of failures, as far as this end can know them: a word that stays the same from version to version, and a
//! remedy.
//!
//! The network's report (an ICMP message) is a hint that anyone can forge: it is shown, and changes nothing.

use super::keys;
use super::knock::Verdict;
use airbraid_engine::converge::session::PublicKey;
use nix::errno::Errno;
use std::net::{IpAddr, SocketAddr};

/// The cause of a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// For programs: `docs/guide/daemon.md` lists them.
    pub word: &'static str,
    /// For people: the meaning and the remedy.
    pub remedy: String,
}

impl Cause {
    const fn new(word: &'static str, remedy: String) -> Self {
        Self { word, remedy }
    }

    /// There is no interface of this name.
    pub fn no_device(device: &str) -> Self {
        Self::new(
            "no-device",
            format!("there is no interface {device}: is its name right (`ip link`), is it plugged in?"),
        )
    }

    /// An interface is down, or has no carrier.
    pub fn device_down(device: &str) -> Self {
        Self::new("device-down", format!("{device} is down or has no carrier: `ip link set {device} up`, or its cable"))
    }

    /// An interface has no address.
    pub fn no_address(device: &str) -> Self {
        Self::new("no-address", format!("{device} has no address: does its DHCP client run, has it a lease?"))
    }

    /// The kernel does not open a socket.
    pub fn socket(error: Errno, port: u16) -> Self {
        match error {
            Errno::EADDRINUSE => {
                let who = format!("`ss -ulnp sport = :{port}` shows which");
                Self::new("port-taken", format!("another program has UDP port {port}: {who}; it is tried again"))
            }
            error => {
                Self::new("cannot-open", format!("its socket cannot be opened ({}); it is tried again", error.desc()))
            }
        }
    }

    /// An uplink has carried the quota of its month; `until` is the first day of the next.
    pub fn quota_spent(until: &str) -> Self {
        Self::new("quota-spent", format!("its quota of this month is spent; it is used again on {until}"))
    }

    /// An uplink is used at other times.
    pub fn outside_hours() -> Self {
        Self::new("outside-hours", "now is outside its `hours`; it is used when they begin".to_owned())
    }

    /// The host's routing makes an uplink useless; `why` is its explanation.
    pub const fn routing(why: String) -> Self {
        Self::new("no-route", why)
    }

    /// A peer is not called: it has no endpoint.
    pub fn waits() -> Self {
        Self::new(
            "waits-to-be-called",
            "it has no `endpoint` here, so it comes to us; its first message has not come".to_owned(),
        )
    }

    /// A peer that is introduced by another was not met.
    pub fn not_met(via: &str, is_up: bool) -> Self {
        let what = if is_up {
            format!(
                "its packets go through `{via}`, which has not introduced it, or neither translator lets the other end in; does `{via}` \
                     name both in `introduces`, does the other end name it in `via`?"
            )
        } else {
            format!("`{via}`, which introduces it, is not reached")
        };
        Self::new("not-met", what)
    }

    /// A peer calls, is answered, and does not accept the answer.
    pub fn not_confirmed() -> Self {
        let why = "`preshared_key` differs at the two ends, or the answers do not reach it";
        Self::new("not-confirmed", format!("it calls, and does not come back when it is answered: {why}"))
    }

    /// A peer answers with a message that cannot be opened.
    pub fn preshared_key() -> Self {
        let how = "`preshared_key` must be the same at both ends, or at neither";
        Self::new("preshared-key", format!("the other end answers, but with another secret: {how}"))
    }

    /// A name cannot be looked up.
    pub fn name_not_found(name: &str, why: &str) -> Self {
        Self::new("name-not-found", format!("`{name}` cannot be looked up ({why}); it is tried again"))
    }

    /// No uplink reaches any address of a peer's.
    pub fn no_uplink() -> Self {
        let why = "none that is open has an address of the endpoint's family; an uplink that is away says why";
        Self::new("no-uplink", format!("there is no uplink from which it can be reached: {why}"))
    }

    /// The verdict on a place that does not answer.
    pub fn silent(verdict: Verdict, to: SocketAddr, uplink: &str, device: Option<&str>, own: &PublicKey) -> Self {
        let ip = to.ip();
        match verdict {
            Verdict::NoRoute => {
                let device = device.unwrap_or("DEVICE");
                let six = if ip.is_ipv6() { "-6 " } else { "" };
                let how = format!("`ip {six}route add {ip} via ROUTER dev {device}`, or a default route there");
                Self::new("no-route", format!("there is no route to {ip} over {uplink}: {how}"))
            }
            Verdict::PortClosed => {
                let port = to.port();
                let why = format!("is the daemon up there, and is its `listen` {port}?");
                Self::new("port-closed", format!("{ip} says that nobody listens on its UDP port {port}: {why}"))
            }
            Verdict::Unreachable => {
                let why = "a router is down, or a firewall refuses it";
                Self::new("unreachable", format!("this host or one on the way says that {to} cannot be reached: {why}"))
            }
            Verdict::Silent => {
                let there =
                    format!("is UDP port {} let through, is the other end up, is `public_key` its own", to.port());
                let known =
                    format!("and is ours, {}, in a [[peer]] there? Its log and `status` tell", keys::encode(own));
                Self::new("no-answer", format!("nothing comes back from {to}: {there}, {known}"))
            }
        }
    }

    /// A caller's key is no peer's.
    pub fn unknown_key(key: &PublicKey, from: IpAddr) -> Self {
        let key = keys::encode(key);
        let how = "a [[peer]] with this `public_key` lets it in";
        Self::new("unknown-key", format!("a stranger with key {key} at {from} is no peer here: {how}"))
    }

    /// A caller addresses another key than ours.
    pub fn other_key(own: &PublicKey, from: IpAddr) -> Self {
        let own = keys::encode(own);
        let how = format!("its [[peer]] for us needs `public_key = \"{own}\"`");
        Self::new("calls-another-key", format!("somebody at {from} calls another public key than ours: {how}"))
    }
}
