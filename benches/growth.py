#!/usr/bin/env python3
"""Cost of a run as it grows: simulated seconds a processor second, events, and memory by number of nodes or flows.

    benches/growth.py                         all tables
    benches/growth.py cell field              these: cell, field, chain, flows, hours, cores, large
    benches/growth.py cell field --svg FILE   and as a picture
    benches/growth.py cell --ns2              ns-2.35 beside the cell, as far as it goes (Debian's package ns2)
    AIRBRAID=PATH benches/growth.py           another binary than target/release/airbraid

Each row is the median of three runs by processor time on one core; `cores` is by the clock. `large` is what `check` and
`explain` take of the largest of each kind, and a run of a nanosecond: all that comes before the first event and after
the last.
"""
import argparse, json, math, os, random, shutil, statistics, subprocess, sys, tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import chart  # noqa: E402

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
AIRBRAID = os.environ.get("AIRBRAID", os.path.join(ROOT, "target/release/airbraid"))
REPETITIONS = 3
# 802.11b as ns-2 has it: decoded up to 250 m, sensed up to 550 m.
RADIO = """[radio]
standard = "802.11b"
rate = "11 Mbit/s"
basic_rates = ["1 Mbit/s"]
path_loss = { model = "two_ray" }
reception_range = "250 m"
carrier_sense_range = "550 m"
"""
UDP = '{ udp = "1472 byte" }'
TCP = '{ tcp = "newreno" }'


def scenario(nodes, flows, seconds):
    """A scenario of nodes (name, x, y [m]) and flows (from, to, transport)."""
    lines = ["schema = 1", 'title = "Growth"', 'question = "What does it cost?"', "node = ["]
    lines += [f'  {{ name = "{n}", position = ["{x:.2f} m", "{y:.2f} m"], radios = [1] }},' for n, x, y in nodes]
    lines += ["]", "flow = ["]
    lines += [
        f'  {{ name = "f{i}", from = "{a}", to = "{b}", transport = {t}, source = "greedy" }},'
        for i, (a, b, t) in enumerate(flows)
    ]
    return "\n".join(lines + ["]", f'[run]\nduration = "{seconds} s"\nseed = 1', RADIO])


def cell(stations, x=0.0, prefix=""):
    """Stations on a circle of 20 m that send to its centre."""
    sink = (f"{prefix}sink", x, 0.0)
    around = [(2 * math.pi * i / stations, f"{prefix}s{i}") for i in range(stations)]
    return [sink] + [(n, x + 20 * math.cos(a), 20 * math.sin(a)) for a, n in around], [
        (n, sink[0], UDP) for _, n in around
    ]


def field(count):
    """Nodes at random, 18 within each other's range of decoding on average; each fourth sends TCP to its nearest."""
    draw, side = random.Random(count), math.sqrt(count * math.pi * 250**2 / 18)
    nodes = [(f"n{i}", draw.uniform(0, side), draw.uniform(0, side)) for i in range(count)]
    near = lambda a: min((b for b in nodes if b is not a), key=lambda b: math.hypot(a[1] - b[1], a[2] - b[2]))
    return nodes, [(a[0], near(a)[0], TCP) for a in nodes[::4]]


def chain(count):
    """Nodes 200 m apart; one TCP over each eight hops."""
    nodes = [(f"n{i}", 200.0 * i, 0.0) for i in range(count)]
    return nodes, [(f"n{i}", f"n{min(i + 8, count - 1)}", TCP) for i in range(0, count - 1, 8)]


def pair(flows):
    """Two nodes and many TCP connections."""
    return [("a", 0.0, 0.0), ("b", 50.0, 0.0)], [("a", "b", TCP)] * flows


def measure(command):
    """The output of a command, its processor time [s] and its memory [MB]."""
    # A child of Python's has at least the memory of Python by the kernel's account; one of GNU time's has not.
    time = shutil.which("time") or sys.exit("error: GNU time is missing; on Debian: apt-get install time")
    with tempfile.NamedTemporaryFile("r") as memory, tempfile.TemporaryFile() as out:
        timed = [time, "-f", "%M", "-o", memory.name, *command]
        process = subprocess.Popen(timed, stdout=out, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            sys.exit(f"error: {' '.join(command)} ended with {process.returncode}")
        out.seek(0)
        return out.read(), used.ru_utime + used.ru_stime, float(memory.read()) / 1024


def run(text, jobs=1):
    """The facts of a run, its processor time with its start [s], and its memory [MB]."""
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(text)
        file.flush()
        out, cpu, memory = measure([AIRBRAID, "run", file.name, "--json", "--jobs", str(jobs)])
        return json.loads(out)["cells"][0]["runs"][0], cpu, memory


def row(label, nodes, flows, seconds):
    done = [run(scenario(nodes, flows, seconds)) for _ in range(REPETITIONS)]
    facts = done[0][0]
    inside = statistics.median(one[0]["cpu_s"] for one in done)
    whole, memory = (statistics.median(one[i] for one in done) for i in (1, 2))
    frames = sum(mac["data_frames"] for mac in facts["macs"])
    print(
        f"| {label} | {seconds / inside:.3g} | {facts['events'] / inside / 1e6:.2f} | {inside / frames * 1e6:.2f} "
        f"| {whole - inside:.2f} | {memory:.0f} | {memory * 1024 / len(nodes):.1f} |",
        flush=True,
    )
    return seconds / inside, facts["events"] / inside / 1e6, memory


HEAD = "| simulated s a CPU s | events/s, M | us a data frame | start and report, s | MB | kB a node |\n"


# What `--svg` draws: (name, dashed, [(number, (simulated s a CPU s, events/s [M], MB)), ...]).
SERIES = []


def table(what, rows):
    print(f"\n| {what} {HEAD}|---|---|---|---|---|---|---|")
    points = [(label, row(label, nodes, flows, seconds)) for label, (nodes, flows), seconds in rows]
    SERIES.append((what, False, points))


def ns2():
    """The cell in ns-2: no events are told."""
    print("\n| stations in one cell, ns-2.35 | simulated s a CPU s | MB |\n|---|---|---|")
    points = []
    for stations, seconds in NS2_CELLS:
        script = os.path.join(ROOT, "benches/ns2/saturated_50.tcl")
        command = ["ns", script, f"stations={stations}", f"duration={seconds}"]
        done = [measure(command) for _ in range(REPETITIONS)]
        cpu, memory = (statistics.median(one[i] for one in done) for i in (1, 2))
        print(f"| {stations} | {seconds / cpu:.3g} | {memory:.0f} |", flush=True)
        points.append((stations, (seconds / cpu, 0, memory)))
    SERIES.append(("ns-2.35, cell", True, points))


def large():
    """Before the first event, and without a run."""
    print("\n| scenario | command | CPU s | MB |\n|---|---|---|---|")
    whole = [("cell of 1,000", cell(1_000)), ("field of 4,096", field(4_096)), ("chain of 4,096", chain(4_096))]
    for label, (nodes, flows) in [*whole, ("10,000 TCP connections of two nodes", pair(10_000))]:
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write(scenario(nodes, flows, 1))
            file.flush()
            run = ["run", file.name, "--json", "--jobs", "1", "--duration", "1 ns"]
            for name, command in [("`run`, 1 ns", run), ("`explain`", ["explain", file.name])]:
                done = [measure([AIRBRAID, *command]) for _ in range(REPETITIONS)]
                cpu, memory = (statistics.median(one[i] for one in done) for i in (1, 2))
                print(f"| {label} | {name} | {cpu:.2f} | {memory:.0f} |", flush=True)


def cores():
    """Eight cells out of each other's range, on one core and on two, by the clock."""
    parts = [cell(12, 3_000.0 * i, f"c{i}") for i in range(8)]
    nodes, flows = ([item for part in parts for item in part[i]] for i in (0, 1))
    text = scenario(nodes, flows, 120)
    times = [[run(text, jobs) for _ in range(REPETITIONS)] for jobs in (1, 2)]
    bare = [json.dumps({k: v for k, v in one[0][0].items() if k not in ("wall_s", "cpu_s")}) for one in times]
    walls = [statistics.median(one[0]["wall_s"] for one in many) for many in times]
    print("\n| eight cells of 12 stations, 120 s | wall-clock s |\n|---|---|")
    print(f"| one core | {walls[0]:.2f} |\n| two cores | {walls[1]:.2f}: {walls[0] / walls[1]:.2f} times |")
    print("the same result to the byte" if bare[0] == bare[1] else "ANOTHER RESULT")


TABLES = {
    "cell": lambda: table("stations in one cell", [(n, cell(n), s) for n, s in CELLS]),
    "field": lambda: table("nodes in a field", [(n, field(n), s) for n, s in SIZES]),
    "chain": lambda: table("nodes in a chain", [(n, chain(n), s) for n, s in SIZES]),
    "flows": lambda: table("TCP connections of two nodes", [(n, pair(n), 20) for n in (1, 10, 100, 1_000, 10_000)]),
    "hours": lambda: table("two nodes, one TCP: hours", [(h, pair(1), 3_600 * h) for h in (1, 4)]),
    "cores": cores,
    "large": large,
}
# With 1,000 stations two seconds took more than four minutes.
NS2_CELLS = [(10, 100), (50, 20), (200, 5)]
CELLS = [(10, 100), (50, 20), (200, 5), (1_000, 2), (4_095, 1)]
SIZES = [(16, 60), (64, 30), (256, 10), (1_024, 5), (4_096, 2)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"{', '.join(TABLES)} [default: all]")
    parser.add_argument("--svg", metavar="FILE", help="draw the tables that are by number of nodes or flows")
    parser.add_argument("--ns2", action="store_true", help="the cell in ns-2, too")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.tables if name not in TABLES]
    if unknown:
        parser.error(f"no table is called {unknown[0]}: one of {', '.join(TABLES)}")
    for name in arguments.tables or TABLES:
        TABLES[name]()
    if arguments.ns2:
        ns2()
    if arguments.svg:
        kinds = ["simulated s a CPU s", "events a CPU s, M", "memory, MB"]
        chart.panels(arguments.svg, "Cost of a run as it grows", "stations, nodes or connections", kinds, SERIES)


main()
