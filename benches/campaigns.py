#!/usr/bin/env python3
"""What a run costs beside its own time: start of the command, campaigns of short runs, sweeps, results, the store.

    benches/campaigns.py                   all tables
    benches/campaigns.py start short       these: start, own, short, sweep, store
    benches/campaigns.py own --runs 10000  as many runs (default 2000)
    AIRBRAID=PATH benches/campaigns.py     another binary than target/release/airbraid

start   the command from its beginning to its end, of one small scenario: medians of 40
own     runs of some 10 ms of processor time each: the time by the clock beside the sum of their own over the cores
short   10,000 runs of 10 ms of simulated time: nothing printed but the table, all as JSON, everything written (--out)
sweep   200 values with 50 seeds each of that run
store   a paper's quick reproduction into a new store, stopped in the middle and begun again, then recalled

A run's own time is `cpu_s` of its result, which the command measures around it. The rest of the processor time is that
of the campaign: reading, threads, statistics, printing, writing. Other work on the machine shows in the time by the
clock, hardly in processor time.
"""
import argparse, json, os, signal, statistics, subprocess, sys, tempfile, time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
AIRBRAID = os.environ.get("AIRBRAID", os.path.join(ROOT, "target/release/airbraid"))
CORES = os.cpu_count()
SCENARIO = """schema = 1
title = "Two nodes"
question = "What does a run cost beside its own time?"
run = { duration = "10 ms" }
radio = { standard = "802.11b", rate = "11 Mbit/s" }
node = [
  { name = "a", position = ["0 m", "0 m"], radios = [1] },
  { name = "b", position = ["10 m", "0 m"], radios = [1] },
]
flow = [{ name = "f", from = "a", to = "b", transport = { tcp = "reno" } }]
"""
# Own time of a run of the table `own` [s].
OWN = 0.010
PAPER = "wang2005"


class Bench:
    """A scratch directory with the scenario, and ways to run the command in it."""

    def __init__(self, scratch, runs):
        self.scratch, self.runs = scratch, runs
        self.file = os.path.join(scratch, "two_nodes.toml")
        with open(self.file, "w") as file:
            file.write(SCENARIO)

    def run(self, *arguments, stop_after=None):
        """Time by the clock, processor time [s], memory [MB] and output of the command."""
        with open(os.path.join(self.scratch, "stdout"), "w+b") as out:
            began = time.monotonic()
            process = subprocess.Popen([AIRBRAID, *arguments], stdout=out, stderr=subprocess.DEVNULL, cwd=self.scratch)
            if stop_after is not None:
                time.sleep(stop_after)
                # Not by `send_signal`, which would reap a process that has ended already.
                os.kill(process.pid, signal.SIGINT)
            _, status, used = os.wait4(process.pid, 0)
            wall = time.monotonic() - began
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode not in ([0] if stop_after is None else [0, 130]):
                sys.exit(f"error: {' '.join(arguments)} ended with {process.returncode}")
            out.seek(0)
            return wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, out.read()

    def own(self, output):
        """The sum of the runs' own times [s], and their number."""
        runs = [run for cell in json.loads(output)["cells"] for run in cell["runs"]]
        return sum(run["cpu_s"] for run in runs), len(runs)

    def size(self, name):
        """Bytes of a directory of the scratch directory."""
        places = os.walk(os.path.join(self.scratch, name))
        return sum(os.path.getsize(os.path.join(place, file)) for place, _, files in places for file in files)


def start(bench):
    print("\n| command, of one small scenario | processor ms | ms by the clock |\n|---|---|---|")
    small = ["run", bench.file]
    rows = [
        ("`--version`", ["--version"]),
        ("`run`, 1 ns of simulated time: all before the first event, and an empty result", [*small, "--duration", "1 ns"]),
        ("`check`", ["check", bench.file]),
        ("`run`", small),
        ("`run --json`", [*small, "--json"]),
        ("`run --out DIR`: picture, report and files too", [*small, "--out", "one"]),
    ]
    for label, command in rows:
        done = [bench.run(*command) for _ in range(40)]
        wall, cpu = (statistics.median(one[place] for one in done) * 1e3 for place in (0, 1))
        print(f"| {label} | {cpu:.1f} | {wall:.1f} |", flush=True)


HEAD = "own s | processor s | beside own | s by the clock | beside own / cores | rest of a run, us | MB | byte a run"


def row(label, bench, arguments, output=None, jobs=CORES):
    """One campaign: with `--json` into a file, where its own time is read from; `output` is its directory."""
    wall, cpu, memory, out = bench.run("run", bench.file, *arguments)
    own, count = bench.own(out if output is None else open(os.path.join(bench.scratch, output, "summary.json")).read())
    size = len(out) if output is None else bench.size(output)
    print(
        f"| {label} | {own:.2f} | {cpu:.2f} | {(cpu / own - 1) * 100:+.1f} % "
        f"| {wall:.2f} | {(wall * min(CORES, jobs) / own - 1) * 100:+.1f} % | {(cpu - own) / count * 1e6:.0f} | {memory:.0f} | {size / count:.0f} |",
        flush=True,
    )


def table(what):
    print(f"\n| {what} | {HEAD} |\n|---|---|---|---|---|---|---|---|---|")


def own(bench):
    # Long enough that a run takes 10 ms: tried with some.
    trial, count = bench.own(bench.run("run", bench.file, "--duration", "10 s", "--replications", "20", "--json")[3])
    duration = ["--duration", f"{OWN / (trial / count) * 10:.3f} s", "--replications", str(bench.runs)]
    table(f"{bench.runs} runs of some 10 ms each, {CORES} cores")
    row("`--json`", bench, [*duration, "--json"])
    row("`--out DIR`", bench, [*duration, "--out", "own"], "own")
    row("`--json --jobs 1`", bench, [*duration, "--json", "--jobs", "1"], jobs=1)


def short(bench):
    table(f"10,000 runs of 10 ms of simulated time, {CORES} cores")
    many = ["--replications", "10000"]
    row("`--json`", bench, [*many, "--json"])
    row("`--out DIR`", bench, [*many, "--out", "short"], "short")
    wall, cpu, memory, _ = bench.run("run", bench.file, *many)
    print(f"| the table alone | | {cpu:.2f} | | {wall:.2f} | | | {memory:.0f} | |")


def sweep(bench):
    table(f"200 values with 50 seeds each, {CORES} cores")
    values = ", ".join(f'"{1000 + 5 * place} byte"' for place in range(200))
    swept = ["--set", f"sweep.flow.f.transport.mss=[{values}]", "--replications", "50"]
    row("`--json`", bench, [*swept, "--json"])
    row("`--out DIR`", bench, [*swept, "--out", "sweep"], "sweep")
    wall, cpu, _, out = bench.run("run", bench.file, *swept, "--duration", "1 s", "--keep", "--json", stop_after=0.5)
    print(f"\nCtrl-C after 0.5 s, `--keep`: ended after {wall:.2f} s with {bench.own(out)[1]} of 10000 runs", flush=True)


def store(bench):
    print(f"\n| `reproduce {PAPER} --quick`, store | s by the clock | processor s | MB of the store |\n|---|---|---|---|")

    def one(label, name, **options):
        command = ["reproduce", PAPER, "--quick", "--store", name, "--out", "page", "--json"]
        wall, cpu, _, _ = bench.run(*command, **options)
        print(f"| {label} | {wall:.2f} | {cpu:.2f} | {bench.size(name) / 1e6:.2f} |", flush=True)
        return wall

    whole = one("new", "first")
    one("the same again: everything recalled", "first")
    one(f"new, Ctrl-C after {whole / 2:.1f} s", "second", stop_after=whole / 2)
    one("the same again: the rest", "second")


TABLES = {"start": start, "own": own, "short": short, "sweep": sweep, "store": store}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"{', '.join(TABLES)} [default: all]")
    parser.add_argument("--runs", type=int, default=2_000, help="number of runs of `own` [default: 2000]")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.tables if name not in TABLES]
    if unknown:
        parser.error(f"no table is called {unknown[0]}: one of {', '.join(TABLES)}")
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(scratch, arguments.runs)
        for name in arguments.tables or TABLES:
            TABLES[name](bench)


main()
