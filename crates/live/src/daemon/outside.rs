//! Names of peers' endpoints, looked up beside the tunnel: where everything goes through it, or the host's name server
//! is behind it, the system's resolver reaches no server before the tunnel is up, and the tunnel has no peer before a
//! name is found.
//!
//! The servers are those that the host has without the daemon; they are asked by a socket with the mark that the host's
//! rules let pass (RFC 1035, over UDP). The host's own file of names comes first. Where none of it finds the name, the
//! system's resolver is asked as ever.

use super::keys::Random;
use airbraid_engine::converge::session::Entropy as _;
use nix::sys::socket::{setsockopt, sockopt};
use simple_dns::rdata::RData;
use simple_dns::{CLASS, Name, Packet, PacketFlag, Question, RCODE, TYPE};
use std::collections::BTreeSet;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The system's list of name servers.
const RESOLV: &str = "/etc/resolv.conf";
/// The list of servers that systemd's resolver asks; the other list has only the resolver itself.
const RESOLVED: &str = "/run/systemd/resolve/resolv.conf";
/// The file of names that need no server.
const HOSTS: &str = "/etc/hosts";
/// Wait for a server, before one more attempt: resolvers wait 5 s by default, but a router answers at once.
const PATIENCE: Duration = Duration::from_secs(2);
const ATTEMPTS: usize = 2;
/// Largest number of servers that are asked: resolvers know three.
const SERVERS_MAX: usize = 3;
/// The port of name servers.
const PORT: u16 = 53;
/// Longest answer over UDP (RFC 1035, section 4.2.1) \[byte\].
const ANSWER_MAX: usize = 512;
const TYPES: [TYPE; 2] = [TYPE::A, TYPE::AAAA];

/// A resolver beside the tunnel.
#[derive(Debug)]
pub struct Outside {
    is_needed: AtomicBool,
    /// Name servers set by the daemon: they are behind the tunnel.
    inside: Vec<IpAddr>,
    /// The servers before these were set.
    before: Vec<IpAddr>,
    mark: u32,
}

impl Outside {
    /// Remembers the host's servers, before the daemon sets others.
    pub fn new(inside: &[IpAddr], mark: u32) -> Self {
        let before = servers().into_iter().filter(|server| !inside.contains(server)).collect();
        Self { is_needed: AtomicBool::new(false), inside: inside.to_vec(), before, mark }
    }

    /// Whether the system's resolver might ask through the tunnel.
    pub fn need(&self, is_needed: bool) {
        self.is_needed.store(is_needed, Ordering::Relaxed);
    }

    /// The addresses of `host:port`; `None` where the tunnel is not in the way, or nothing was found.
    pub fn look_up(&self, text: &str) -> Option<Vec<SocketAddr>> {
        if !self.is_needed.load(Ordering::Relaxed) {
            return None;
        }
        let (host, port) = text.rsplit_once(':')?;
        let (host, port) = (host.strip_suffix('.').unwrap_or(host), port.parse().ok()?);
        let found = hosts(host).or_else(|| self.servers().into_iter().find_map(|server| self.ask(server, host)))?;
        Some(found.into_iter().map(|address| SocketAddr::new(address, port)).collect())
    }

    /// The present servers, which a lease may have brought, and those before the daemon's.
    fn servers(&self) -> Vec<IpAddr> {
        let now = servers().into_iter().filter(|server| !self.inside.contains(server));
        let mut all: Vec<IpAddr> = Vec::new();
        for server in now.chain(self.before.iter().copied()) {
            if !all.contains(&server) && all.len() < SERVERS_MAX {
                all.push(server);
            }
        }
        all
    }

    /// All addresses of a host at a server; `None` if it has none, or does not answer.
    fn ask(&self, server: IpAddr, host: &str) -> Option<Vec<IpAddr>> {
        let any: IpAddr = if server.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
        let socket = UdpSocket::bind((any, 0)).ok()?;
        setsockopt(&socket, sockopt::Mark, &self.mark).ok()?;
        socket.set_read_timeout(Some(PATIENCE)).ok()?;
        socket.connect((server, PORT)).ok()?;
        let mut number = [0; 2];
        Random::new().fill(&mut number);
        let number = u16::from_ne_bytes(number);
        let numbers = [number, number.wrapping_add(1)];
        let mut answers = [None, None];
        for _ in 0..ATTEMPTS {
            for at in (0..TYPES.len()).filter(|at| answers[*at].is_none()) {
                socket.send(&question(numbers[at], host, TYPES[at])?).ok()?;
            }
            let mut room = [0; ANSWER_MAX];
            while answers.iter().any(Option::is_none) {
                let Ok(length) = socket.recv(&mut room) else { break };
                for (number, answer) in numbers.into_iter().zip(&mut answers) {
                    *answer = answer.take().or_else(|| addresses(&room[..length], number, host));
                }
            }
        }
        let found: BTreeSet<IpAddr> = answers.into_iter().flatten().flatten().collect();
        (!found.is_empty()).then(|| found.into_iter().collect())
    }
}

/// The host's name servers.
fn servers() -> Vec<IpAddr> {
    let by_systemd = fs::canonicalize(RESOLV).is_ok_and(|path| path.starts_with("/run/systemd/resolve"));
    let path = if by_systemd { RESOLVED } else { RESOLV };
    servers_in(&fs::read_to_string(path).unwrap_or_default())
}

/// The servers of a list that any device can ask.
fn servers_in(text: &str) -> Vec<IpAddr> {
    let lines = text.lines().filter_map(|line| line.split_whitespace().collect::<Vec<_>>().try_into().ok());
    lines.filter_map(|[key, value]: [&str; 2]| (key == "nameserver").then(|| value.parse().ok())?).collect()
}

/// The addresses of a name in the host's own file.
fn hosts(host: &str) -> Option<Vec<IpAddr>> {
    hosts_in(&fs::read_to_string(Path::new(HOSTS)).ok()?, host)
}

fn hosts_in(text: &str, host: &str) -> Option<Vec<IpAddr>> {
    let mut found = Vec::new();
    for line in text.lines() {
        let mut words = line.split('#').next().unwrap_or_default().split_whitespace();
        let address = words.next().and_then(|word| word.parse::<IpAddr>().ok());
        if words.any(|name| name.eq_ignore_ascii_case(host)) {
            found.extend(address);
        }
    }
    (!found.is_empty()).then_some(found)
}

fn question(number: u16, host: &str, kind: TYPE) -> Option<Vec<u8>> {
    let mut packet = Packet::new_query(number);
    packet.set_flags(PacketFlag::RECURSION_DESIRED);
    packet.questions.push(Question::new(Name::new(host).ok()?, kind.into(), CLASS::IN.into(), false));
    packet.build_bytes_vec().ok()
}

/// The addresses in the answer to a question, of the host or its alias; `None` if it is no answer to it.
pub fn addresses(answer: &[u8], number: u16, host: &str) -> Option<Vec<IpAddr>> {
    let packet = Packet::parse(answer).ok()?;
    let is_it = packet.id() == number && packet.has_flags(PacketFlag::RESPONSE);
    let name = Name::new(host).ok()?.to_string();
    let asks = |question: &Question<'_>| question.qname.to_string().eq_ignore_ascii_case(&name);
    if !is_it || !packet.questions.iter().all(asks) || !matches!(packet.rcode(), RCODE::NoError | RCODE::NameError) {
        return None;
    }
    let found = packet.answers.iter().filter_map(|record| match &record.rdata {
        RData::A(found) => Some(Ipv4Addr::from(found.address).into()),
        RData::AAAA(found) => Some(Ipv6Addr::from(found.address).into()),
        _ => None,
    });
    Some(found.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use simple_dns::ResourceRecord;
    use simple_dns::rdata::{A, CNAME};

    #[test]
    fn lists_of_servers_and_hosts() {
        let text = "# a list\nsearch example\nnameserver 192.0.2.53\nnameserver fe80::1%eth0\noptions edns0\n\
                    nameserver 2001:db8::53\nnameserver\n";
        assert_eq!(servers_in(text), ["192.0.2.53", "2001:db8::53"].map(|text| text.parse::<IpAddr>().unwrap()));
        let text = "127.0.0.1 localhost\n192.0.2.7\thub.example Hub # not.this\n::1 localhost\n";
        assert_eq!(hosts_in(text, "hub"), Some(vec![IpAddr::from([192, 0, 2, 7])]));
        assert_eq!(hosts_in(text, "localhost").unwrap().len(), 2);
        assert_eq!(hosts_in(text, "not.this"), None);
    }

    #[test]
    fn an_answer_is_read_by_any_name_and_only_to_its_question() {
        let asked = question(7, "hub.example", TYPE::A).unwrap();
        let mut packet = Packet::parse(&asked).unwrap().into_reply();
        let other = RData::CNAME(CNAME(Name::new_unchecked("other.example")));
        packet.answers.push(ResourceRecord::new(Name::new_unchecked("hub.example"), CLASS::IN, 60, other));
        let address = RData::A(A { address: 0xc000_0207 });
        packet.answers.push(ResourceRecord::new(Name::new_unchecked("other.example"), CLASS::IN, 60, address));
        let bytes = packet.build_bytes_vec().unwrap();
        assert_eq!(addresses(&bytes, 7, "HUB.example"), Some(vec![IpAddr::from([192, 0, 2, 7])]));
        assert_eq!(addresses(&bytes, 8, "hub.example"), None);
        assert_eq!(addresses(&bytes, 7, "mallory.example"), None);
        assert_eq!(addresses(&asked, 7, "hub.example"), None);
        for length in 0..bytes.len() {
            let _ = addresses(&bytes[..length], 7, "hub.example");
        }
    }
}
