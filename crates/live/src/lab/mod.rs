//! The lab: a scenario in real time, with network namespaces as its hosts and real programs in them.
//!
//! Everything that it makes is written down first ([`clean`]) and removed at the end, however that comes. It never
//! touches an interface or a namespace that it did not make.

mod commands;
mod drive;
mod output;
mod plan;
mod result;

pub use commands::{Echo, LabCommand};
pub use output::write;
pub use plan::{Layout, MTU, Port, check_name, dotted, lab_name};
pub use result::{CommandResult, InterfaceResult, InterfaceSeries, LabResult, LabSeries, Lateness, MacSeries};

use crate::clock::Clock;
use crate::error::LabError;
use crate::namespace;
use crate::netlink::Netlink;
use crate::state::{self, State};
use crate::tun::{self, Tun};
use airbraid_sim::record::sink::{Memory, RecordedFile};
use airbraid_sim::scenario::spec::{Host, Spec};
use airbraid_sim::{Observer, Recorder, Recordings, RunError, World};
use airbraid_units::{Duration, Instant};
use commands::{CommandEvent, Commands};
use drive::{Driven, Driver};
use nix::net::if_::if_nametoindex;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::cell::RefCell;
use std::fs;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};

/// Interval at which commands are checked.
const ROUND: std::time::Duration = std::time::Duration::from_millis(10);

/// The options of a lab.
#[derive(Default)]
pub struct LabOptions<'a> {
    /// Its name; its namespaces are `airbraid-NAME-NODE`.
    pub name: String,
    /// The scenario's file, for the result.
    pub file: String,
    /// Commands to run, beside those of the scenario.
    pub execs: Vec<LabCommand>,
    /// A node in whose namespace a shell is run; the lab ends with it.
    pub shell: Option<usize>,
    /// Whether the frames of all radios are captured.
    pub pcap: bool,
    /// Limit of the 99.9th percentile of lateness; above it the result is not trusted.
    pub max_lateness: Duration,
    /// Receives every line that commands write.
    pub echo: Option<Echo<'a>>,
}

/// The output of a lab.
#[derive(Debug)]
pub struct LabOutput {
    pub result: LabResult,
    /// Captures, if asked for.
    pub files: Vec<RecordedFile>,
}

/// Removes the remains of labs that no longer live, and returns their names.
///
/// # Errors
/// Not root, or something would not go.
pub fn clean() -> Result<Vec<String>, LabError> {
    check_root()?;
    state::clean()
}

/// Runs a scenario in real time until its duration is over, or all commands, or the shell, or a signal ends it.
///
/// # Errors
/// The reason why it failed; nothing is left behind.
pub fn lab(spec: &Spec, options: &LabOptions<'_>) -> Result<LabOutput, LabError> {
    let spec = without_flows_of_programs(spec);
    let layout = Layout::new(&options.name, &spec)?;
    let mut wanted: Vec<LabCommand> = spec.execs.iter().map(LabCommand::from).collect();
    wanted.extend(options.execs.iter().cloned());
    check(&spec, &layout, &wanted, options)?;
    // From here on a signal ends the lab in good order, and not before.
    let signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(LabError::io("signals"))?;
    let mut state = State::begin(&layout.name)?;
    let tuns = set_up(&layout, &mut state)?;
    let output = run(&spec, &layout, tuns, &wanted, options, signals);
    drop(state);
    output
}

/// Reports errors before anything is made.
fn check(spec: &Spec, layout: &Layout, wanted: &[LabCommand], options: &LabOptions<'_>) -> Result<(), LabError> {
    check_root()?;
    if !std::path::Path::new(tun::DEVICE).exists() {
        let mend = "load the module `tun`, or give the container this device";
        return Err(LabError::Input(format!("{} does not exist: {mend}", tun::DEVICE)));
    }
    for name in layout.namespaces.iter().flatten() {
        if namespace::path(name).exists() || namespace::files(name).exists() {
            return Err(namespace::taken(name));
        }
    }
    let nodes = wanted.iter().map(|wanted| wanted.node).chain(options.shell);
    if let Some(node) = nodes.into_iter().find(|node| spec.nodes[*node].host == Host::Simulated) {
        let name = &spec.nodes[node].name;
        return Err(LabError::Input(format!(
            "node `{name}` is simulated and runs no programs: add host = \"namespace\""
        )));
    }
    wanted.iter().try_for_each(|wanted| commands::check(wanted, &spec.nodes[wanted.node].name))
}

fn check_root() -> Result<(), LabError> {
    if nix::unistd::geteuid().is_root() {
        return Ok(());
    }
    Err(LabError::Input("a lab makes network namespaces, and that takes root: run it by sudo".to_owned()))
}

/// Removes flows between two real hosts, which are their programs' business. A flow with one simulated end stays: the
/// other is simulated, too.
fn without_flows_of_programs(spec: &Spec) -> Spec {
    let mut spec = spec.clone();
    let Spec { flows, nodes, .. } = &mut spec;
    flows.retain(|flow| [flow.from, flow.to].iter().any(|node| nodes[*node].host == Host::Simulated));
    spec
}

impl From<&airbraid_sim::scenario::spec::Exec> for LabCommand {
    fn from(exec: &airbraid_sim::scenario::spec::Exec) -> Self {
        Self { node: exec.node, command: exec.command.clone(), start: exec.start, ready: exec.ready }
    }
}

/// Makes namespaces, host files and interfaces.
fn set_up(layout: &Layout, state: &mut State) -> Result<Vec<Tun>, LabError> {
    for name in layout.namespaces.iter().flatten() {
        namespace::reserve(name)?;
        state.note(name)?;
        namespace::create(name)?;
        let files = namespace::files(name);
        fs::create_dir_all(&files).map_err(LabError::io(files.display()))?;
        fs::write(files.join("hosts"), &layout.hosts).map_err(LabError::io(files.display()))?;
    }
    let mut tuns = Vec::new();
    for (node, name) in layout.namespaces.iter().enumerate() {
        let Some(name) = name else { continue };
        // Ports stand in the order of their nodes.
        let ports: Vec<&Port> = layout.ports.iter().filter(|port| port.node == node).collect();
        tuns.extend(namespace::inside(name, || set_up_node(name, &ports))??);
    }
    Ok(tuns)
}

/// Makes the interfaces of a node, in the namespace of this thread.
fn set_up_node(name: &str, ports: &[&Port]) -> Result<Vec<Tun>, LabError> {
    let failed = |what: &str| LabError::failed(format!("{what} in the namespace {name}"));
    // Hosts of a lab speak IPv4 only; where the kernel has no IPv6 there is nothing to switch off.
    let _ = fs::write("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
    let mut netlink = Netlink::open().map_err(failed("netlink"))?;
    let index = |name: &str| if_nametoindex(name).map_err(failed(name));
    netlink.set_up(index("lo")?).map_err(failed("lo"))?;
    let mut tuns = Vec::new();
    for port in ports {
        let tun = Tun::create(&port.name).map_err(LabError::io(format!("{} for {}", tun::DEVICE, port.name)))?;
        let index = index(&port.name)?;
        netlink.configure(index, MTU, port.queue).map_err(failed(&port.name))?;
        netlink.add_address(index, port.address, port.prefix).map_err(failed(&port.name))?;
        tuns.push(tun);
    }
    Ok(tuns)
}

/// The lab from the first event to the last.
fn run(
    spec: &Spec,
    layout: &Layout,
    tuns: Vec<Tun>,
    wanted: &[LabCommand],
    options: &LabOptions<'_>,
    mut signals: Signals,
) -> Result<LabOutput, LabError> {
    let nodes: Vec<String> = spec.nodes.iter().map(|node| node.name.clone()).collect();
    let (tell, hear) = mpsc::channel();
    let (wake, woken) = UnixStream::pair().map_err(LabError::io("a pair of sockets"))?;
    let stop = AtomicBool::new(false);
    let handle = signals.handle();
    let mut orders = Commands::new(wanted, &nodes);
    let (driven, drops) = std::thread::scope(|scope| {
        let on_signal = tell.clone();
        scope.spawn(move || {
            for signal in signals.forever() {
                // A terminal's interrupt is meant for the shell in it.
                if !(signal == SIGINT && options.shell.is_some()) {
                    let _ = on_signal.send(CommandEvent::ToEnd);
                }
            }
        });
        let on_end = tell.clone();
        let (stop_seen, payloads) = (&stop, options.pcap);
        let driver = scope.spawn(move || {
            let driven = drive(spec, layout, tuns, payloads, stop_seen, &woken);
            let _ = on_end.send(CommandEvent::DriverEnded);
            driven
        });
        let start = |index: usize| {
            let wanted = &wanted[index];
            let namespace = layout.namespaces[wanted.node].as_deref().unwrap_or_default();
            commands::start(scope, index, wanted, [namespace, &nodes[wanted.node]], tell.clone(), options.echo);
        };
        let shell = options.shell.and_then(|node| layout.namespaces[node].as_deref());
        if let (Some(namespace), Some(node)) = (shell, options.shell) {
            let tell = tell.clone();
            let node = nodes[node].as_str();
            scope.spawn(move || {
                let ended = commands::shell(namespace, node, &layout.hosts);
                let _ = tell.send(CommandEvent::ToEnd);
                ended
            });
        }
        look_after(&mut orders, &hear, shell.is_some(), start);
        let drops = device_drops(layout);
        stop.store(true, Ordering::Relaxed);
        // The driver may have ended by itself.
        let _ = (&wake).write_all(&[1]);
        handle.close();
        let driven = driver.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        (driven, drops)
    });
    let (driven, world, files) = driven?;
    let result = facts(spec, layout, options, driven, world, orders.results, &drops);
    Ok(LabOutput { result, files })
}

/// Starts commands when they are due, and returns when the lab is over.
fn look_after(orders: &mut Commands<'_>, hear: &Receiver<CommandEvent>, has_shell: bool, start: impl Fn(usize)) {
    let clock = Clock::start();
    let mut is_ending = false;
    let has_commands = !orders.results.is_empty();
    loop {
        let now = clock.now();
        for index in orders.due(now) {
            start(index);
        }
        if is_ending {
            orders.stop(now);
        }
        let is_over = orders.is_over(now);
        if is_over && (is_ending || (has_commands && !has_shell)) {
            return;
        }
        match hear.recv_timeout(ROUND) {
            Ok(CommandEvent::ToEnd | CommandEvent::DriverEnded) => is_ending = true,
            Ok(news) => orders.on_news(clock.now(), news),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// The results of a driver and its world.
type Drive = (Driven, airbraid_sim::result::RunResult, Vec<RecordedFile>);

fn drive(
    spec: &Spec,
    layout: &Layout,
    tuns: Vec<Tun>,
    pcap: bool,
    stop: &AtomicBool,
    wake: &UnixStream,
) -> Result<Drive, LabError> {
    let (mut files, payloads) = (Memory::default(), RefCell::new(Vec::new()));
    // Frames of every radio are captured, packets from outside with their bytes.
    let wanted = Recordings { pcap: true, ..Recordings::default() };
    let mut recorder = pcap.then(|| Recorder::new((spec, spec.seed), wanted, Some(&payloads), &mut files));
    let (driven, result) = {
        let observer = recorder.as_mut().map(|recorder| Box::new(recorder) as Box<dyn Observer + '_>);
        let refused = |refusal| LabError::Input(RunError::Refused(refusal).to_string());
        let mut world = World::new(spec, spec.seed, observer).map_err(refused)?;
        world.open_to_outside();
        crate::clock::keep_time();
        let failed = |error| LabError::io("the lab's interfaces")(error);
        let driver = Driver::new(&mut world, layout, tuns, &payloads, spec.record.interval).map_err(failed)?;
        let driven = driver.run(Instant::ZERO + spec.duration, stop, wake).map_err(failed)?;
        let result = world.result();
        (driven, result)
    };
    if let Some(recorder) = recorder {
        let written = recorder.finish(Instant::ZERO + spec.duration);
        written.map_err(|error| LabError::Input(error.to_string()))?;
    }
    Ok((driven, result, files.into_files()))
}

/// The drops of each interface's own queue.
fn device_drops(layout: &Layout) -> Vec<u64> {
    let of_port = |port: &Port| {
        let name = layout.namespaces[port.node].as_deref()?;
        let text = namespace::inside(name, || fs::read_to_string("/proc/thread-self/net/dev")).ok()?.ok()?;
        let line = text.lines().find_map(|line| line.trim().strip_prefix(&format!("{}:", port.name)))?;
        // Eight columns of what came in, then bytes, packets, errors and drops of what went out.
        line.split_whitespace().nth(11)?.parse().ok()
    };
    layout.ports.iter().map(|port| of_port(port).unwrap_or(0)).collect()
}

fn facts(
    spec: &Spec,
    layout: &Layout,
    options: &LabOptions<'_>,
    driven: Driven,
    world: airbraid_sim::result::RunResult,
    commands: Vec<CommandResult>,
    drops: &[u64],
) -> LabResult {
    let lateness = Lateness::new(&driven.lateness, options.max_lateness);
    let interface = |((port, counts), device_drops): ((&Port, &result::PortSample), &u64)| InterfaceResult {
        node: spec.nodes[port.node].name.clone(),
        namespace: layout.namespaces[port.node].clone().unwrap_or_default(),
        name: port.name.clone(),
        address: dotted(port.address),
        sent_packets: counts.sent_packets,
        sent_bytes: counts.sent_bytes,
        received_packets: counts.received_packets,
        received_bytes: counts.received_bytes,
        device_drops: *device_drops,
        ignored: counts.ignored,
        refused: counts.refused,
        delay_mean_s: counts.delay_mean_s(),
        delay_max_s: (counts.received_packets > 0).then_some(counts.delay_max_ns as f64 / 1e9),
    };
    LabResult {
        title: spec.title.clone(),
        scenario: options.file.clone(),
        seed: spec.seed,
        duration_s: driven.samples.last().map_or(0.0, |sample| sample.at.as_secs_f64()),
        trusted: lateness.p999 <= lateness.limit,
        lateness_s: lateness,
        events: world.events,
        commands,
        interfaces: layout.ports.iter().zip(&driven.ports).zip(drops).map(interface).collect(),
        flows: world.flows,
        trunks: world.trunks,
        macs: world.macs,
        links: world.links,
        drops: world.drops,
        packets: world.packets,
        series: LabSeries::new(&driven.samples),
        made: serde_json::Value::Null,
    }
}
