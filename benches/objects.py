#!/usr/bin/env python3
"""Seconds that objects take over chains with AODV, beside ns-2.35 (docs/measurements/models.md).

Both sides: nodes every 250 m, 1 Mbit/s, RTS for all, NewReno with a handshake, a first window of two segments, ACKs
for every second segment, 34 byte of headers and FCS a data frame. ns-2 runs benches/ns2/object.tcl, airbraid
scenarios/kuang2004/web.toml. Prints a line for each length and size: median and standard deviation of both, the
deviation of the medians. (A mean of ns-2 holds timeouts of a second in one run of twenty.)
"""

import argparse
import json
import statistics
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TRANSPORT = (
    '{{ tcp = "newreno", mss = "{payload} byte", delayed_ack = "100 ms", window = 20, initial_window = {initial}, '
    'min_rto = "200 ms", initial_rto = "3 s", tick = "10 ms" }}'
)


def numbers(text):
    """Returns the whole numbers of a list such as 2,5-7."""
    parts = [part.partition("-") for part in text.split(",")]
    return [number for low, _, high in parts for number in range(int(low), int(high or low) + 1)]


def ns2(options, hops, packets):
    """Returns the seconds of each seed in ns-2."""
    times = []
    with tempfile.TemporaryDirectory() as folder:
        settings = {
            "nodes": hops + 1,
            "packets": packets,
            "payload": options.payload,
            "limits": options.limits,
            "initial": options.initial,
            "tcp": options.tcp,
            "trace": f"{folder}/trace",
        }
        for seed in range(options.first, options.first + options.seeds):
            # Starts lie anywhere between ns-2's ticks of half a second, as airbraid's do.
            words = [f"{key}={value}" for key, value in settings.items()] + [f"seed={seed}", f"start={seed * 0.37 % 1}"]
            command = ["ns", str(ROOT / "benches/ns2/object.tcl"), *words]
            out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            word = next(line for line in out.splitlines() if line.startswith("segments")).split()
            if int(word[1]) == packets:
                times.append(float(word[3]))
    return times


def airbraid(options, hops, packets):
    """Returns the seconds of each seed in airbraid."""
    settings = {
        "run.duration": '"60 s"',
        "run.replications": options.seeds,
        "topology.count": hops + 1,
        "radio.llc_header": '"6 byte"',
        "radio.short_retry_limit": options.limits,
        "radio.long_retry_limit": options.limits,
        "flow.object.source": f'{{ file = "{packets * options.payload} byte" }}',
        "flow.object.transport": TRANSPORT.format(payload=options.payload, initial=options.initial),
    }
    words = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    scenario = str(ROOT / "scenarios/kuang2004/web.toml")
    command = [options.airbraid, "run", scenario, "--json", "--seed", str(options.first), *words]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    flows = [run["flows"][0] for run in json.loads(out)["cells"][0]["runs"]]
    return [flow["completion_s"] for flow in flows if flow["completion_s"] is not None]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--airbraid", default="target/release/airbraid", help="the command [%(default)s]")
    parser.add_argument("--hops", type=numbers, default=numbers("9"), help="lengths of the chain [9]")
    parser.add_argument("--packets", type=numbers, default=numbers("2,12,32,72,142"), help="sizes [2,12,32,72,142]")
    parser.add_argument("--payload", type=int, default=472, help="of a segment [byte, %(default)s]")
    parser.add_argument("--initial", type=int, default=2, help="first window [segments, %(default)s]")
    parser.add_argument("--limits", type=int, default=20, help="both retry limits [%(default)s]")
    parser.add_argument("--tcp", choices=["full", "oneway"], default="full", help="ns-2's agent [%(default)s]")
    parser.add_argument("--seeds", type=int, default=20, help="runs of each [%(default)s]")
    parser.add_argument("--first", type=int, default=1, help="the first seed [%(default)s]")
    options = parser.parse_args()
    print("hops packets      ns-2 [s]          airbraid [s]   deviation  not completed")
    for hops in options.hops:
        for packets in options.packets:
            theirs, ours = ns2(options, hops, packets), airbraid(options, hops, packets)
            middles = [statistics.median(times) for times in (theirs, ours)]
            spread = [statistics.stdev(times) for times in (theirs, ours)]
            texts = [f"{middle:7.3f} +- {sd:5.3f}" for middle, sd in zip(middles, spread, strict=True)]
            missing = f"{options.seeds - len(theirs)}/{options.seeds - len(ours)}"
            deviation = f"{100 * (middles[1] / middles[0] - 1):+6.1f} %"
            print(f"{hops:4} {packets:7}  {'   '.join(texts)}  {deviation}  {missing:>8}", flush=True)


if __name__ == "__main__":
    main()
