#!/usr/bin/env python3
"""Goodput of one TCP with AODV beside static routes where nothing moves, seed by seed (docs/measurements/models.md).

Chains from end to end, or with --grids grids from corner to corner; 802.11b with RTS, RFC 3561 with its own constants.
A grid has many ways of fewest hops, and they do not carry the same: one with many bends disturbs itself more. So AODV
in a grid is held against static routes twice: the default ones, which go along two sides, and those over the way that
AODV found, taken from the first seconds of the same run.

Prints a line for each size: means, the mean and the least ratio and the number of seeds below .95; in a grid the same
beside the way found, and the number of ways that had the fewest hops.
"""

import argparse
import json
import pathlib
import re
import statistics
import subprocess
import tempfile

SCENARIO = """schema = 1
title = "AODV where nothing moves"
question = "What does finding routes cost?"
routing = "{routing}"
[run]
duration = "{duration} s"
seed = {seed}
replications = {seeds}
[radio]
standard = "802.11b"
rate = "{rate} Mbit/s"
rts_threshold = "0 byte"
{nodes}
[[flow]]
name = "data"
from = "n1"
to = "n{last}"
transport = {{ tcp = "newreno" }}
source = "greedy"
"""
# A search that begins at once is over by then: the RFC's rings take 1.92 s, its first search of the whole network
# 2.8 s.
FOUND_S = 6


def run(options, size, routing, seed, seeds=1, way=(), duration=None, words=()):
    """Returns the goodput of each seed [kbit/s]; `way`: the nodes that static routes lead over, both ways."""
    columns, rows = size
    hops = {}
    for before, after in zip(way, way[1:]):
        hops.setdefault(before, []).append(f'{{ to = "n{way[-1]}", via = "n{after}" }}')
        hops.setdefault(after, []).append(f'{{ to = "n{way[0]}", via = "n{before}" }}')
    nodes = ""
    for index in range(columns * rows):
        place = [f"{axis * options.spacing} m" for axis in (index % columns, index // columns)]
        nodes += f'[[node]]\nname = "n{index + 1}"\nposition = {json.dumps(place)}\nradios = [1]\n'
        nodes += f"routes = [{', '.join(hops.get(index + 1, []))}]\n" if way else ""
    text = SCENARIO.format(
        routing=routing,
        duration=duration or options.duration,
        seed=seed,
        seeds=seeds,
        rate=options.rate,
        nodes=nodes,
        last=columns * rows,
    )
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "static.toml"
        file.write_text(text)
        command = [options.airbraid, "run", str(file), "--json", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return [run["flows"][0]["goodput_bps"] / 1e3 for run in json.loads(done.stdout)["cells"][0]["runs"]]


def way_found(options, size, seed):
    """Returns the nodes that the first data of the AODV run of this seed pass, the source first."""
    last = size[0] * size[1]
    with tempfile.TemporaryDirectory() as folder:
        out = f"{folder}/out"
        run(options, size, "aodv", seed, duration=FOUND_S, words=["--timeline", "--out", out])
        timeline = (pathlib.Path(out) / "timeline.txt").read_text()
    # Full frames are the flow's data, not its acknowledgements.
    hops = dict(re.findall(r" n(\d+)/\S+ +TX +DATA -> n(\d+)/\S+ +15\d\d B", timeline))
    way = ["1"]
    while way[-1] != str(last) and way[-1] in hops and len(way) <= last:
        way.append(hops[way[-1]])
    return [int(node) for node in way]


def beside(found, of):
    """Returns the mean ratio, the least one and the number below .95, as text."""
    ratios = [one / other for one, other in zip(found, of, strict=True)]
    return f"{statistics.mean(ratios):10.3f} {min(ratios):6.3f} {sum(ratio < 0.95 for ratio in ratios):5}"


def measure(options, size):
    """Returns the line of one size."""
    static, aodv = (run(options, size, routing, options.first, options.seeds) for routing in ("static", "aodv"))
    line = f"{statistics.mean(static):7.0f} {statistics.mean(aodv):5.0f} {beside(aodv, static)}"
    if 1 in size:
        return line
    seeds = range(options.first, options.first + options.seeds)
    ways = [way_found(options, size, seed) for seed in seeds]
    same = [run(options, size, "static", seed, way=way)[0] for seed, way in zip(seeds, ways, strict=True)]
    shortest = sum(len(way) == size[0] + size[1] - 1 for way in ways)
    return f"{line} {beside(aodv, same)} {shortest:9}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--airbraid", default="target/release/airbraid", help="the command [%(default)s]")
    parser.add_argument("--nodes", default="2-12", help="lengths of the chain [%(default)s]")
    parser.add_argument("--grids", help="grids instead, such as 3x3,4x4")
    parser.add_argument("--seeds", type=int, default=50, help="runs of each [%(default)s]")
    parser.add_argument("--first", type=int, default=7001, help="the first seed [%(default)s]")
    parser.add_argument("--duration", type=int, default=120, help="of a run [s, %(default)s]")
    parser.add_argument("--rate", type=float, default=11, help="of the radios [Mbit/s, %(default)s]")
    parser.add_argument("--spacing", type=int, default=200, help="of the nodes [m, %(default)s]")
    options = parser.parse_args()
    least, _, most = options.nodes.partition("-")
    sizes = [(nodes, 1) for nodes in range(int(least), int(most or least) + 1)]
    if options.grids:
        sizes = [tuple(int(side) for side in grid.split("x")) for grid in options.grids.split(",")]
    print("   size  static  aodv  kbit/s: ratio  least  <.95     [way found: ratio  least  <.95  shortest]")
    for columns, rows in sizes:
        print(f"{columns:4}x{rows:<3} {measure(options, (columns, rows))}", flush=True)


if __name__ == "__main__":
    main()
