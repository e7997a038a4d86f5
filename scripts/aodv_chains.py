#!/usr/bin/env python3
"""Goodput of one TCP over static chains with AODV beside static routes, seed by seed (docs/models/aodv.md).

Prints a line for each length: means, the mean and the least ratio, and how many seeds are below .95.
"""

import argparse
import json
import pathlib
import statistics
import subprocess

SCENARIO = pathlib.Path(__file__).parent.parent / "scenarios/examples/chain_aodv.toml"


def goodputs(options, nodes, routing):
    """Returns the goodput of each seed [kbit/s]."""
    settings = {
        "topology.count": nodes,
        "run.replications": options.seeds,
        "run.duration": f'"{options.duration} s"',
        "radio.rate": f'"{options.rate} Mbit/s"',
        "topology.spacing": f'"{options.spacing} m"',
        "routing": f'"{routing}"',
    }
    words = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    command = [options.airbraid, "run", str(SCENARIO), "--json", "--seed", str(options.first), *words]
    # 2: an expectation of the file's own settings does not hold.
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 2) or not done.stdout:
        raise SystemExit(done.stderr)
    runs = json.loads(done.stdout)["cells"][0]["runs"]
    return [run["flows"][0]["goodput_bps"] / 1e3 for run in runs]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--airbraid", default="target/release/airbraid", help="the command [%(default)s]")
    parser.add_argument("--nodes", default="2-12", help="lengths of the chain [%(default)s]")
    parser.add_argument("--seeds", type=int, default=50, help="runs of each [%(default)s]")
    parser.add_argument("--first", type=int, default=7001, help="the first seed [%(default)s]")
    parser.add_argument("--duration", type=int, default=120, help="of a run [s, %(default)s]")
    parser.add_argument("--rate", type=float, default=11, help="of the radios [Mbit/s, %(default)s]")
    parser.add_argument("--spacing", type=int, default=200, help="of the nodes [m, %(default)s]")
    options = parser.parse_args()
    least, most = (int(word) for word in options.nodes.split("-"))
    print("nodes  static  aodv  kbit/s  mean ratio  least  below .95")
    for nodes in range(least, most + 1):
        static, aodv = (goodputs(options, nodes, routing) for routing in ("static", "aodv"))
        ratios = [found / of for found, of in zip(aodv, static, strict=True)]
        means = f"{statistics.mean(static):7.0f} {statistics.mean(aodv):5.0f}"
        low = sum(ratio < 0.95 for ratio in ratios)
        print(f"{nodes:5} {means} {statistics.mean(ratios):19.3f} {min(ratios):6.3f} {low:10}", flush=True)


if __name__ == "__main__":
    main()
