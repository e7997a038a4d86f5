#!/usr/bin/env python3
"""Throughput of one TCP over chains at 11 Mbit/s, beside ns-2.35, under both receivers (docs/measurements/models.md).

Both sides: nodes every 250 m, NewReno with a window of 20, AODV with ns-2's constants. ns-2 runs
benches/ns2/chain_12.tcl, airbraid scenarios/validation/chain_sense.toml. Prints a line for each length: the median of
ns-2 and of airbraid with its own receiver and with ns-2's (`receiver = "ns2"`, `eifs = "nav"`), as kbit/s of IP and as
deviation.
"""

import argparse
import json
import statistics
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def numbers(text):
    """Returns the whole numbers of a list such as 2,5-7."""
    parts = [part.partition("-") for part in text.split(",")]
    return [number for low, _, high in parts for number in range(int(low), int(high or low) + 1)]


def ns2(options, nodes):
    """Returns the throughput of each seed in ns-2 [kbit/s]."""
    settings = {
        "nodes": nodes,
        "limits": options.limits,
        "rate": f"{options.rate}e6",
        "rts": 0 if options.rts else 3000,
        "sense": options.sense,
        "duration": options.duration,
    }
    rates = []
    for seed in range(options.first, options.first + options.seeds):
        words = [f"{key}={value}" for key, value in settings.items()] + [f"seed={seed}"]
        command = ["ns", str(ROOT / "benches/ns2/chain_12.tcl"), *words]
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        line = next(line for line in out.splitlines() if line.startswith("ip_throughput_bps"))
        rates.append(float(line.split()[1]) / 1e3)
    return rates


def airbraid(options, nodes, receiver):
    """Returns the throughput of each seed in airbraid [kbit/s]."""
    settings = {
        "run.duration": f'"{options.duration} s"',
        "run.replications": options.seeds,
        "topology.count": nodes,
        "radio.rate": f'"{options.rate} Mbit/s"',
        "radio.rts_threshold": '"0 byte"' if options.rts else '"3000 byte"',
        "radio.short_retry_limit": options.limits,
        "radio.long_retry_limit": options.limits,
        "radio.carrier_sense_range": f'"{options.sense} m"',
        "radio.receiver": f'"{receiver}"',
        "radio.eifs": '"nav"' if receiver == "ns2" else "true",
    }
    words = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    scenario = str(ROOT / "scenarios/validation/chain_sense.toml")
    command = [options.airbraid, "run", scenario, "--json", "--seed", str(options.first), *words]
    # 2: an expectation of the file's own settings does not hold.
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 2) or not done.stdout:
        raise SystemExit(done.stderr)
    runs = json.loads(done.stdout)["cells"][0]["runs"]
    return [run["flows"][0]["ip_throughput_bps"] / 1e3 for run in runs]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--airbraid", default="target/release/airbraid", help="the command [%(default)s]")
    parser.add_argument("--nodes", type=numbers, default=numbers("2-8,11"), help="lengths of the chain [2-8,11]")
    parser.add_argument("--seeds", type=int, default=10, help="runs of each [%(default)s]")
    parser.add_argument("--first", type=int, default=1, help="the first seed [%(default)s]")
    parser.add_argument("--duration", type=int, default=100, help="of a run [s, %(default)s]")
    parser.add_argument("--rate", type=int, default=11, help="of the radios [Mbit/s, %(default)s]")
    parser.add_argument("--sense", type=int, choices=[250, 550], default=550, help="range [m, %(default)s]")
    parser.add_argument("--rts", action="store_true", help="RTS for all")
    parser.add_argument("--limits", type=int, default=7, help="both retry limits [%(default)s]")
    options = parser.parse_args()
    print("nodes   ns-2          standard             ns2")
    for nodes in options.nodes:
        theirs = statistics.median(ns2(options, nodes))
        ours = [statistics.median(airbraid(options, nodes, receiver)) for receiver in ("standard", "ns2")]
        texts = [f"{value:7.0f} ({100 * (value / theirs - 1):+5.1f} %)" for value in ours]
        print(f"{nodes:5} {theirs:6.0f}  {'  '.join(texts)}", flush=True)


if __name__ == "__main__":
    main()
