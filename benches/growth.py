#!/usr/bin/env python3
"""Cost of a run as it grows: simulated seconds a processor second, events, and memory by number of nodes or flows.

    benches/growth.py                     all tables
    benches/growth.py cell field          these: cell, field, chain, flows, hours, cores
    AIRBRAID=PATH benches/growth.py       another binary than target/release/airbraid

Each row is the median of three runs by processor time on one core; `cores` is by the clock.
"""
import json, math, os, random, resource, statistics, subprocess, sys, tempfile, time

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


def run(text, jobs=1):
    """The facts of a run, its processor time and wall-clock time with its start [s], and its memory [MB]."""
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(text)
        file.flush()
        code = (
            "import resource, subprocess, sys; p = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE); "
            "u = resource.getrusage(resource.RUSAGE_CHILDREN); "
            "print(u.ru_utime + u.ru_stime, u.ru_maxrss / 1024); sys.stdout.flush(); "
            "sys.stdout.buffer.write(p.stdout); sys.exit(p.returncode)"
        )
        command = [AIRBRAID, "run", file.name, "--json", "--jobs", str(jobs)]
        began = time.monotonic()
        done = subprocess.run([sys.executable, "-c", code, *command], stdout=subprocess.PIPE, check=True, text=True)
        wall = time.monotonic() - began
        first, rest = done.stdout.split("\n", 1)
        cpu, memory = map(float, first.split())
        facts = json.loads(rest)["cells"][0]["runs"][0]
        return facts, cpu, wall, memory


def row(label, nodes, flows, seconds):
    done = [run(scenario(nodes, flows, seconds)) for _ in range(REPETITIONS)]
    facts = done[0][0]
    inside = statistics.median(one[0]["cpu_s"] for one in done)
    whole, memory = (statistics.median(one[i] for one in done) for i in (1, 3))
    frames = sum(mac["data_frames"] for mac in facts["macs"])
    print(
        f"| {label} | {seconds / inside:.3g} | {facts['events'] / inside / 1e6:.2f} | {inside / frames * 1e6:.2f} "
        f"| {whole - inside:.2f} | {memory:.0f} | {memory * 1024 / len(nodes):.1f} |",
        flush=True,
    )


HEAD = "| simulated s a CPU s | events/s, M | us a data frame | start and report, s | MB | kB a node |\n"


def table(what, rows):
    print(f"\n| {what} {HEAD}|---|---|---|---|---|---|---|")
    for label, (nodes, flows), seconds in rows:
        row(label, nodes, flows, seconds)


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
}
CELLS = [(10, 100), (50, 20), (200, 5), (1_000, 2), (4_095, 1)]
SIZES = [(16, 60), (64, 30), (256, 10), (1_024, 5), (4_096, 2)]


def main():
    chosen = sys.argv[1:] or list(TABLES)
    for name in chosen:
        if name not in TABLES:
            sys.exit(f"error: no table is called {name}: one of {', '.join(TABLES)}")
        TABLES[name]()


main()
