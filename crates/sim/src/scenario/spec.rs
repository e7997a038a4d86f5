//! A scenario, fully resolved: every default filled in, every name an index. A run is made from it.

mod trunk;

pub use trunk::{LinkMember, LinkTrunk, MultiLinkTrunk, RadioTrunk, Select, Trunk};

use crate::killer;
use crate::phy::spectrum::{OperatingChannel, Shape};
use crate::phy::{RadioConfig, Wear};
use airbraid_engine::slots::{Layout, Timetable};
use airbraid_engine::{TrafficClass, link};
use airbraid_mac::dcf::DcfConfig;
use airbraid_mac::edca::EdcaConfig;
use airbraid_mac::erp::{NonErp, Protection};
use airbraid_mac::multichannel::MultichannelConfig;
use airbraid_mac::phy::Phy;
use airbraid_mac::polled::PolledConfig;
use airbraid_mac::power_save::{AccessPointConfig, PlannedSlot};
use airbraid_net::aodv::AodvConfig;
use airbraid_net::link::LinkConfig;
use airbraid_net::loss::Loss;
use airbraid_net::source::Source;
use airbraid_net::tcp;
use airbraid_units::{BitRate, Bytes, Db, Dbm, Duration, Instant, Metres, Probability, Speed};
use std::sync::Arc;

/// A scenario, ready to run.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    pub title: String,
    /// The question that it answers.
    pub question: String,
    /// Simulated time.
    pub duration: Duration,
    /// End of the warm-up: counting begins here.
    pub warm_up: Duration,
    /// Seed of the first replication.
    pub seed: u64,
    /// Number of replications, on consecutive seeds.
    pub replications: u32,
    /// Hosts and routers.
    pub nodes: Vec<Node>,
    /// Nodes that each run places in a rectangle by its seed.
    pub scattered: Option<Scattered>,
    /// The choice of paths where no route is written.
    pub routing: Routing,
    /// Trunks of either kind, each over one hop.
    pub trunks: Vec<Trunk>,
    pub links: Vec<Link>,
    /// Radios that go from one access point to the next.
    pub slots: Vec<Slots>,
    /// Packet killers.
    pub killers: Vec<Killer>,
    /// Transfers.
    pub flows: Vec<Flow>,
    /// Changes during the run, by time.
    pub changes: Vec<Change>,
    pub record: Record,
    /// Commands of a lab.
    pub execs: Vec<Exec>,
}

impl Spec {
    /// The radios of all nodes, in their order.
    pub fn radios(&self) -> impl Iterator<Item = &Radio> {
        self.nodes.iter().flat_map(|node| &node.radios).map(|radio| &**radio)
    }
    /// Trunks over radios, in the order of the file.
    pub fn radio_trunks(&self) -> impl Iterator<Item = &RadioTrunk> {
        self.trunks.iter().filter_map(Trunk::radios)
    }
    /// Trunks of multi-link devices, in the order of the file.
    pub fn multi_link_trunks(&self) -> impl Iterator<Item = &MultiLinkTrunk> {
        self.trunks.iter().filter_map(Trunk::multi_link)
    }
    /// The radios of a node that are links of a multi-link device, in their order: the first has the link ID 0.
    pub fn device_links(&self, node: usize) -> Vec<usize> {
        let is_link = |radio: &usize| self.multi_link_trunks().any(|trunk| trunk.has_radio(node, *radio));
        (0..self.nodes.get(node).map_or(0, |node| node.radios.len())).filter(is_link).collect()
    }
    /// Trunks over links, in the order of the file.
    pub fn link_trunks(&self) -> impl Iterator<Item = &LinkTrunk> {
        self.trunks.iter().filter_map(Trunk::links)
    }
}

/// The choice of paths where no route is written.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Routing {
    /// Paths of fewest hops, found before the run.
    #[default]
    Static,
    /// On demand, by asking the neighbours.
    Aodv(AodvRouting),
}

/// AODV, and its effect on the queues below.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AodvRouting {
    /// Configuration of each node's machine.
    pub config: AodvConfig,
    /// Whether its messages overtake the packets that wait in an interface queue.
    pub overtakes: bool,
    /// Whether packets that wait for a neighbour are given up when the link to it breaks.
    pub purges: bool,
    /// Whether a neighbour's hardware address must be asked for (ARP) before the first unicast frame to it.
    pub resolves: bool,
}

/// A position in the plane \[m\].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Position {
    /// East.
    pub x: Metres,
    /// North.
    pub y: Metres,
}

/// The movement of a node from its position.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Mobility {
    /// It stays.
    #[default]
    Static,
    /// Straight on, for ever.
    Velocity {
        /// Eastward.
        x: Speed,
        /// Northward.
        y: Speed,
    },
    /// In straight lines at constant speed from one to the next, then it stays; times ascend.
    Waypoints(Vec<(Instant, Position)>),
}

/// Nodes that a run places by its seed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scattered {
    /// Number of nodes, the first of all.
    pub count: usize,
    /// The far corner of the rectangle from the origin.
    pub area: Position,
    /// Their movement in it; `None`: they stay.
    pub wander: Option<Wander>,
}

/// Random waypoints: straight to a random place in the area, a rest, and on to the next. The speed is the same for all
/// and for ever, so that the network is as mobile at the start as later.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wander {
    /// Of every node.
    pub speed: Speed,
    /// Duration of the rest at each place.
    pub pause: Duration,
}

/// A host or router.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    pub name: String,
    /// Position at the start.
    pub position: Position,
    /// Movement.
    pub mobility: Mobility,
    /// Radios; nodes whose radios are the same share them.
    pub radios: Vec<Arc<Radio>>,
    /// Explicit routes; a destination without one takes the path of fewest hops.
    pub routes: Vec<Route>,
    /// Role in a lab; a run simulates every node.
    pub host: Host,
}

/// The host behind a node's network layer in a lab.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Host {
    /// No real host.
    #[default]
    Simulated,
    /// A network namespace with one interface: all radios, trunks and links of the node are behind it.
    Trunk,
    /// A network namespace with an interface for each radio and each link of the node.
    Radios,
}

/// A command that a lab runs in a node's namespace.
#[derive(Clone, Debug, PartialEq)]
pub struct Exec {
    /// Index of the node.
    pub node: usize,
    /// The command, as a shell reads it.
    pub command: String,
    /// Start, after the lab has begun.
    pub start: Duration,
    /// The port on which it listens when it is ready for the commands that name its node.
    pub ready: Option<u16>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// Index of the destination node.
    pub to: usize,
    /// Index of the neighbour that is the next hop.
    pub via: usize,
    /// The interface to take; `None`: the first that reaches the neighbour (trunk, then radio, then link).
    pub interface: Option<Interface>,
}

/// An interface of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interface {
    /// Index of a radio of this node.
    Radio(usize),
    /// Index of a trunk.
    Trunk(usize),
    /// Index of a link.
    Link(usize),
}

/// One radio of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct Radio {
    /// Its name within the node: `"ch1"`.
    pub name: String,
    /// Channel number.
    pub channel: u32,
    /// Its frequencies; `None`: channels of different numbers do not disturb each other.
    pub spectrum: Option<Spectrum>,
    /// Power, thresholds, error model.
    pub radio: RadioConfig,
    pub mac: Mac,
    /// Settings for a cell that has stations of 802.11b.
    pub beside_dsss: BesideDsss,
    /// Local error control above it; `None`: there is none.
    pub link_layer: Option<link::Config>,
    /// Losses of packets that the MAC has received and acknowledged.
    pub delivery_loss: DeliveryLoss,
}

/// Settings of an OFDM radio of 2.4 GHz for a cell that has stations of 802.11b.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BesideDsss {
    pub protection: AskedProtection,
    /// Whether its slot is written, and stays.
    pub has_slot: bool,
    /// Whether the rate of its frames to all is written, and stays.
    pub has_broadcast_rate: bool,
}

/// The protection of OFDM that a scenario asks for (802.11-2020, 10.27.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AskedProtection {
    /// A CTS to the station itself where a radio of 802.11b has its channel.
    #[default]
    Automatic,
    /// None, or this one wherever it is.
    Always(Option<Protection>),
}

impl Radio {
    /// Centre of its primary 20 MHz \[MHz\], where it has frequencies.
    pub fn primary_mhz(&self) -> Option<u32> {
        self.spectrum.map(|spectrum| spectrum.channel.primary_centre_mhz())
    }

    /// Whether two radios have frequencies in common; where they have none, the number of their channel.
    pub fn overlaps(&self, other: &Self) -> bool {
        let range = |radio: &Self| radio.spectrum.map(|s| (s.channel.low_mhz(), s.channel.width().mhz()));
        match (range(self), range(other)) {
            (Some((low, width)), Some((from, span))) => low < from + span && from < low + width,
            _ => self.channel == other.channel,
        }
    }

    /// Whether two radios may be of one cell: with EDCA those with one primary channel, whatever their widths; others
    /// by the number of their channel.
    pub fn shares_channel(&self, other: &Self) -> bool {
        let has_edca = matches!(self.mac, Mac::Edca(_)) || matches!(other.mac, Mac::Edca(_));
        match (self.primary_mhz(), other.primary_mhz()) {
            (Some(own), Some(others)) if has_edca => own == others,
            _ => self.channel == other.channel,
        }
    }
}

/// The frequencies of a radio, and what it makes of energy on them that is no frame of its channel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spectrum {
    pub channel: OperatingChannel,
    /// Spectrum of its transmissions.
    pub shape: Shape,
    /// Attenuation between this radio and others of its node on other channels; `None`: they do not disturb each other.
    pub isolation: Option<Db>,
    /// Power above which energy of any kind makes the medium busy; `None`: only frames do.
    pub energy_detect: Option<Dbm>,
}

/// Losses between a MAC that has acknowledged a packet and the layer above.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum DeliveryLoss {
    /// Nothing.
    #[default]
    None,
    /// As on a plain link.
    Link(Loss),
    /// In bursts, by the distance of the sender.
    Wear(Box<Wear>),
}

/// The medium access of a radio.
#[derive(Clone, Debug, PartialEq)]
pub enum Mac {
    /// 802.11 DCF.
    Dcf(DcfConfig),
    /// 802.11 EDCA.
    Edca(Box<EdcaConfig>),
    /// Master and slaves.
    Polled(PolledConfig),
    /// MCMAC and Bi-MCMAC: a control channel and data channels, one transceiver.
    Multichannel(MultichannelConfig),
    /// 802.11 DCF, and a buffer for each station that dozes.
    AccessPoint(AccessPointConfig),
    /// A virtual station at each of several access points.
    Slotted(SlottedRadio),
}

/// The settings of a radio with virtual stations beside its slots.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlottedRadio {
    /// The DCF of each virtual station.
    pub dcf: DcfConfig,
    /// Time for which the radio is deaf when it changes its channel.
    pub retuning: Duration,
    /// Largest number of transmissions of a null frame.
    pub null_attempts: u32,
}

/// A radio that goes from one access point to the next, period after period.
#[derive(Clone, Debug, PartialEq)]
pub struct Slots {
    pub name: String,
    /// The radio (node, radio).
    pub radio: (usize, usize),
    /// Its access points (node, radio): a virtual station at each.
    pub access_points: Vec<(usize, usize)>,
    /// Each access point's part of a period \[ns\]: the shares of the flows too.
    pub shares_ns: Vec<u64>,
    pub plan: SlotSource,
}

/// The origin of slots.
#[derive(Clone, Debug, PartialEq)]
pub enum SlotSource {
    Fixed(Vec<PlannedSlot>),
    /// Random slots, by the seed of a run.
    Lots(Layout),
}

/// The slots of a timetable, with idle ones between and behind them.
pub fn slots_of(timetable: &Timetable) -> Vec<PlannedSlot> {
    let mut slots = Vec::with_capacity(timetable.slots().len() + 1);
    let mut now = 0;
    let mut gap = |slots: &mut Vec<PlannedSlot>, until: u64, next: u64| {
        if until > now {
            slots.push(PlannedSlot { station: None, length: Duration::from_nanos(until - now) });
        }
        now = next;
    };
    for slot in timetable.slots() {
        gap(&mut slots, slot.start_ns, slot.start_ns + slot.length_ns);
        slots.push(PlannedSlot { station: Some(slot.station), length: Duration::from_nanos(slot.length_ns) });
    }
    gap(&mut slots, timetable.period().as_nanos(), 0);
    slots
}

impl Mac {
    /// Largest number of MSDUs that wait in it.
    pub const fn queue_limit(&self) -> u32 {
        match self {
            Self::Dcf(config) => config.queue_limit,
            Self::Edca(config) => config.queue_limit,
            Self::Polled(config) => config.queue_limit,
            Self::Multichannel(config) => config.dcf.queue_limit,
            Self::AccessPoint(config) => config.dcf.queue_limit,
            Self::Slotted(config) => config.dcf.queue_limit,
        }
    }
    /// The configuration of 802.11 DCF, or a multi-channel MAC's part of it.
    pub const fn dcf(&self) -> Option<&DcfConfig> {
        match self {
            Self::Dcf(config) => Some(config),
            Self::Edca(_) | Self::Polled(_) => None,
            Self::Multichannel(config) => Some(&config.dcf),
            Self::AccessPoint(config) => Some(&config.dcf),
            Self::Slotted(config) => Some(&config.dcf),
        }
    }
    /// The stations of 802.11b in the cell of one with OFDM.
    pub fn non_erp(&self) -> Option<NonErp> {
        match self {
            Self::Dcf(config) => config.non_erp,
            Self::Edca(config) => config.non_erp,
            _ => None,
        }
    }
    /// Whether it sends an MPDU of an A-MPDU again without limit, and never gives its packet back.
    pub const fn keeps_mpdus(&self) -> bool {
        match self {
            Self::Edca(config) => config.aggregation.ampdu.is_some() && config.aggregation.retry_limit.is_none(),
            _ => false,
        }
    }
    /// The PHY of 802.11; of EDCA that of its control frames.
    pub fn phy(&self) -> Option<&Phy> {
        match self {
            Self::Edca(config) => Some(&config.phy),
            other => other.dcf().map(|dcf| &dcf.phy),
        }
    }
}

/// A packet killer between two radios. Everything in pairs is by direction, from the first to the second and back.
#[derive(Clone, Debug, PartialEq)]
pub struct Killer {
    pub name: String,
    /// The radios (node, radio).
    pub ends: [(usize, usize); 2],
    /// The list of events, repeated.
    pub events: Arc<[killer::Event]>,
    /// Events that act on frames as they leave.
    pub output: [killer::Acts; 2],
    /// Events that act on frames as they arrive.
    pub input: [killer::Acts; 2],
    /// Whether only frames with data take an event.
    pub data_only: bool,
    /// Whether each radio begins at a random event, by the seed; otherwise with the first.
    pub random_phase: bool,
    /// The time from which it acts.
    pub start: Instant,
}

/// A plain link between two nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    pub name: String,
    /// Indices of the nodes at its ends.
    pub between: [usize; 2],
    /// From the first end to the second, and back.
    pub directions: [LinkConfig; 2],
    /// Local error control over it, at both ends; `None`: losses stay.
    pub link_layer: Option<(link::Config, link::WindowConfig)>,
}

/// A transfer from one node to another.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    pub name: String,
    /// Index of the sending node.
    pub from: usize,
    /// Index of the receiving node.
    pub to: usize,
    /// Whether each run draws both ends by its seed.
    pub random_ends: bool,
    /// The access point by which a host with several sends or receives it; `None`: its load balancer chooses.
    pub via: Option<(usize, usize)>,
    /// TCP or UDP.
    pub transport: Transport,
    /// The data that the application sends.
    pub source: Source,
    /// The class of its packets, and of TCP's acknowledgements.
    pub class: TrafficClass,
    /// Their user priority (802.1D), which decides the access category.
    pub priority: u8,
    /// Delay above which a packet is late.
    pub deadline: Option<Duration>,
    /// Beginning.
    pub start: Instant,
    /// Each run adds a time between zero and this by its seed.
    pub start_jitter: Duration,
    /// End of the application's sending; `None`: never.
    pub stop: Option<Instant>,
}

/// The transport of a transfer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Transport {
    Tcp(tcp::Config),
    /// UDP datagrams.
    Udp {
        /// Payload of a datagram.
        payload: Bytes,
        /// UDP and IP headers together: 28 byte.
        header: Bytes,
    },
}

/// A change at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Time.
    pub at: Instant,
    pub what: ChangeKind,
}

/// The kinds of changes.
#[derive(Clone, Debug, PartialEq)]
pub enum ChangeKind {
    /// A radio (node, radio) is switched on or off.
    RadioUp {
        /// Index of the node.
        node: usize,
        /// Index of the radio in the node.
        radio: usize,
        /// On or off.
        up: bool,
    },
    /// The bit error rate of a radio's receptions changes.
    RadioBer {
        /// Index of the node.
        node: usize,
        /// Index of the radio in the node.
        radio: usize,
        ber: Probability,
    },
    /// A link is switched on or off, both directions.
    LinkUp {
        /// Index of the link.
        link: usize,
        /// On or off.
        up: bool,
    },
    /// The rate of a link changes, both directions: for packets whose serialisation begins from now on.
    LinkRate {
        /// Index of the link.
        link: usize,
        rate: BitRate,
    },
    /// The loss of a link changes, both directions.
    LinkLoss {
        /// Index of the link.
        link: usize,
        loss: Loss,
    },
    /// The longest packet of a link changes, both directions.
    LinkMtu {
        /// Index of the link.
        link: usize,
        mtu: Bytes,
    },
}

impl ChangeKind {
    /// The node that it is at, or one of the two.
    pub fn node(&self, spec: &Spec) -> usize {
        match self {
            Self::RadioUp { node, .. } | Self::RadioBer { node, .. } => *node,
            Self::LinkUp { link, .. }
            | Self::LinkRate { link, .. }
            | Self::LinkLoss { link, .. }
            | Self::LinkMtu { link, .. } => spec.links[*link].between[0],
        }
    }
}

/// The radios whose frames are captured.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Pcap {
    #[default]
    Nothing,
    /// These (node, radio).
    Radios(Vec<(usize, usize)>),
    /// All of them, and links, trunks and hosts.
    All,
}

impl Pcap {
    /// Whether anything is captured.
    pub const fn is_any(&self) -> bool {
        match self {
            Self::Nothing => false,
            Self::Radios(radios) => !radios.is_empty(),
            Self::All => true,
        }
    }
    pub const fn is_all(&self) -> bool {
        matches!(self, Self::All)
    }
    /// Whether this radio of a node is among them.
    pub fn contains(&self, node: usize, radio: usize) -> bool {
        match self {
            Self::Nothing => false,
            Self::Radios(radios) => radios.contains(&(node, radio)),
            Self::All => true,
        }
    }
}

/// Recordings beside the summary.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Interval of the series (default 1 s).
    pub interval: Duration,
    /// Radios whose frames are captured; with `--pcap` everything.
    pub pcap: Pcap,
    /// Whether the frame timeline is written.
    pub timeline: bool,
    /// Whether a trace for Perfetto is written.
    pub perfetto: bool,
    /// Whether the sequence numbers that TCP sends are sampled.
    pub sequence: bool,
    /// Whether the SNR of what radios receive is sampled.
    pub snr: bool,
    /// Whether the members of trunks over links are sampled.
    pub members: bool,
}

impl Record {
    /// Whether anything is recorded beside series.
    pub const fn is_any(&self) -> bool {
        self.timeline || self.perfetto || self.pcap.is_any()
    }
}
