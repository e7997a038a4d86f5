#!/usr/bin/env python3
"""Tables of docs/measurements/reproductions/mlo.md: goodput by way and case; in the repository's root.

    scripts/mlo_tables.py              both
    scripts/mlo_tables.py tcp          one: tcp, udp or bbr

The runs and the first seed are those of papers/mlo/figures.toml. The largest value of a case is bold, but for the sum.
"""

import argparse
import concurrent.futures
import json
import statistics
import subprocess
import tomllib
from pathlib import Path

LINKS = ["five", "six", "two"]
CASES = ["alone", "crowded link", "hidden station", "1 % lost", "10 % lost", "second cell"]
NAMES = {
    "wang": "trunk of 2005, a packet a radio",
    "timed": "trunk of 2005, 8 ms a radio",
    "fifo": "trunk, `fifo`",
    "early": "trunk, `earliest_delivery`",
    "str": "multi-link, a radio for each link (STR)",
    "nstr": "multi-link, links that disturb each other (NSTR)",
    "emlsr": "multi-link, one radio (EMLSR)",
}
REPLICATIONS = 5


def goodputs(options, seed, run, cell):
    """Goodput of each replication [Mbit/s]."""
    command = [options.airbraid, "run", run["scenario"], "--json", "--jobs", "1"]
    command += ["--seed", str(seed), "--replications", str(REPLICATIONS), "--set", "expect={}"]
    for word in [*run.get("set", []), *cell[1:]]:
        command += ["--set", word]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not done.stdout:
        raise SystemExit(done.stderr)
    return [one["flows"][0]["goodput_bps"] / 1e6 for one in json.loads(done.stdout)["cells"][0]["runs"]]


def row(name, values, bold=()):
    """A line of the table."""
    cells = [f"**{value:.0f}**" if k in bold else f"{value:.0f}" for k, value in enumerate(values)]
    print(f"| {name} | {' | '.join(cells)} |")


def table(transport, found):
    """Prints the table of a transport; `found` has the replications by way and case."""
    ways = [way for way in NAMES if (transport, way) in found]
    alone = [list(zip(*(found[transport, link][case] for link in LINKS), strict=True)) for case in range(len(CASES))]
    lines = {"best link alone": [statistics.mean(map(max, case)) for case in alone]}
    lines |= {NAMES[way]: [statistics.mean(case) for case in found[transport, way]] for way in ways}
    most = [max(line[case] for line in lines.values()) for case in range(len(CASES))]
    print(f"| | {' | '.join(CASES)} |\n" + "|---" * (len(CASES) + 1) + "|")
    for name, line in lines.items():
        row(name, line, [case for case, value in enumerate(line) if value == most[case]])
    row("sum of the links, each alone", [statistics.mean(map(sum, case)) for case in alone])
    print()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("transports", nargs="*", default=["tcp", "udp"], help="tcp, udp, bbr")
    parser.add_argument("--airbraid", default="target/release/airbraid", help="the command")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time")
    options = parser.parse_args()
    paper = tomllib.loads(Path("papers/mlo/figures.toml").read_text(encoding="utf-8"))
    wanted = {(transport, way) for transport in options.transports for way in [*LINKS, *NAMES]}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        running = {}
        for run in paper["run"]:
            key = tuple(run["name"].split("_", 1))
            if key in wanted:
                running[key] = [pool.submit(goodputs, options, paper["seed"], run, cell) for cell in run["cells"]]
        found = {key: [one.result() for one in cells] for key, cells in running.items()}
    for transport in options.transports:
        table(transport, found)


main()
