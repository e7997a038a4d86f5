#!/usr/bin/env python3
"""802.11n, ac and ax beside ns-3.44: the same work, what it carried there and here; in the repository's root.

    benches/wifi.py             goodput and delay: the table of docs/validation.md
    benches/wifi.py --speed     simulated seconds a second of processor time, beside what ns-3 had on another machine

ns-3's values are means of three seeds with a program of our own; its parameters are those of `scenarios/wifi/`. The
runs count durations as ns-3 does (`rules = "ns-3"`).
"""

import argparse
import json
import statistics
import subprocess
import sys

SEEDS = 3
# The same of cells in which a few collisions more or less decide: their own runs scatter as much as ns-3's.
CROWDED_SEEDS = 20
# Duration of the runs whose speed is measured [s]: the kernel counts a thread's time in steps of 4 ms.
SPEED_S = 200
OFF, ALL = 'radio.ampdu="off"', 'radio.ampdu="longest"'
AGAIN, ASK = 'radio.block_ack_repair="retransmit"', 'radio.block_ack_repair="request"'
RTS = 'radio.rts_threshold="0 byte"'
NS3 = 'radio.rules="ns-3"'


def radio(standard, width, mcs):
    """The radio's settings."""
    return [f'radio.standard="802.11{standard}"', f'radio.width="{width} MHz"', f"radio.mcs={mcs}", NS3]


def limit(size):
    """The limit of A-MPDUs."""
    return f'radio.ampdu="{size} byte"' if size else OFF


# One sender: standard, width, MCS, longest A-MPDU [byte], ns-3's goodput [Mbit/s] and speed [s/s].
SENDERS = [
    ("n", 20, 3, 0, 17.65, 3.71),
    ("n", 20, 3, 8191, 22.90, 8.07),
    ("n", 20, 3, 65535, 23.88, 14.20),
    ("n", 20, 7, 0, 30.77, 2.00),
    ("n", 20, 7, 8191, 51.32, 3.19),
    ("n", 20, 7, 65535, 59.73, 7.35),
    ("ac", 80, 9, 0, 52.91, 1.00),
    ("ac", 80, 9, 65535, 323.90, 1.77),
    ("ac", 80, 9, 1048575, 338.98, 1.91),
    ("ax", 20, 7, 0, 33.80, 1.54),
    ("ax", 20, 7, 65535, 78.79, 5.39),
    ("ax", 20, 7, 6500631, 78.79, 5.25),
    ("ax", 80, 11, 0, 52.16, 0.43),
    ("ax", 80, 11, 65535, 457.31, 0.89),
    ("ax", 80, 11, 6500631, 549.34, 0.87),
    ("ax", 160, 11, 0, 55.47, 0.26),
    ("ax", 160, 11, 65535, 765.00, 0.43),
    ("ax", 160, 11, 6500631, 1057.99, 0.51),
]
# Stations at 20 MHz and MCS 7: standard, number, settings, ns-3's goodput and speed.
STATIONS = [
    ("ax", 1, [OFF, RTS], 27.00, 1.21),
    ("ax", 1, [ALL, RTS], 77.57, 5.74),
    ("ax", 2, [OFF], 34.87, 1.08),
    ("ax", 2, [OFF, RTS], 28.36, 0.77),
    ("ax", 2, [ALL, ASK], 73.70, 4.98),
    ("ax", 2, [ALL, AGAIN], 74.07, 4.75),
    ("ax", 2, [ALL, RTS], 77.86, 4.86),
    ("ax", 10, [OFF], 32.31, 0.46),
    ("ax", 10, [OFF, RTS], 29.04, 0.32),
    ("ax", 10, [ALL, ASK], 56.00, 3.28),
    ("ax", 10, [ALL, AGAIN], 61.95, 3.30),
    ("ax", 10, [ALL, RTS], 78.00, 2.12),
    ("n", 5, [OFF], 30.68, 1.23),
    ("n", 5, [OFF, RTS], 26.86, 0.82),
    ("n", 5, [ALL, ASK], 48.79, 6.16),
    ("n", 5, [ALL, AGAIN], 50.84, 5.12),
    ("n", 5, [ALL, RTS], 59.13, 3.99),
    ("ax", 20, [OFF], 30.06, 0.24),
    ("ax", 20, [OFF, RTS], 28.63, 0.15),
    ("ax", 20, [ALL, ASK], 47.28, 1.48),
    ("ax", 20, [ALL, AGAIN], 57.04, 1.78),
    ("ax", 20, [ALL, RTS], 77.93, 1.18),
]
# Two stations: categories, A-MPDU, ns-3's goodput of both [Mbit/s].
CATEGORIES = [
    ("vo", "be", OFF, 39.19, 1.09),
    ("vi", "be", OFF, 30.07, 7.11),
    ("be", "bk", ALL, 53.65, 21.98),
    ("be", "be", OFF, 17.34, 17.54),
    ("be", "be", ALL, 36.96, 37.01),
]
# TCP: standard, width, MCS, queue, ns-3's goodput and speed.
TCP = [("n", 20, 7, 1000, 52.38, 2.92), ("ax", 80, 11, 5000, 476.74, 0.13)]
# Delay at 20 MHz and MCS 7: A-MPDU, arrivals, Mbit/s, ns-3's mean and 99th percentile [us].
DELAYS = [
    (OFF, "poisson", 16.915, 380, 1413),
    (ALL, "poisson", 63.04, 1267, 3041),
    (ALL, "rate", 39.4, 446, 583),
]


def run(options, scenario, words, seconds, folder="wifi", seeds=SEEDS):
    """The runs of a scenario."""
    seconds = SPEED_S if options.speed else seconds
    command = [options.airbraid, "run", f"scenarios/{folder}/{scenario}.toml", "--json", "--jobs", "1", "--seed", "1"]
    command += ["--replications", str(seeds), "--set", f'run.duration="{seconds} s"']
    for word in words:
        command += ["--set", word]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not done.stdout:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)["cells"][0]["runs"]


def total(runs):
    """Goodput of all flows [Mbit/s]."""
    return statistics.mean(sum(flow["goodput_bps"] for flow in one["flows"]) for one in runs) / 1e6


class Table:
    """Lines of name, ns-3, airbraid and deviation, or of both speeds."""

    def __init__(self, options, of):
        self.options, self.off = options, 0
        head = [of, "ns-3 s/s", "airbraid", "ratio"] if options.speed else [of, "ns-3.44", "airbraid", "deviation", "allowed", ""]
        print(f"| {' | '.join(head)} |\n" + "|---" * len(head) + "|")

    def value(self, name, theirs, ours, allowed):
        """A value, judged."""
        if self.options.speed:
            return
        deviation = ours / theirs - 1
        verdict = "within" if abs(deviation) <= allowed else "OFF"
        self.off += verdict == "OFF"
        print(f"| {name} | {theirs} | {ours:.2f} | {deviation:+.1%} | {allowed:.0%} | {verdict} |", flush=True)

    def speed(self, name, theirs, runs):
        """A speed: the best of the runs, for a shared machine only ever slows down."""
        if self.options.speed:
            ours = max(one["duration_s"] / one["cpu_s"] for one in runs)
            print(f"| {name} | {theirs} | {ours:.0f} | {ours / theirs:.0f} |", flush=True)


# Two devices with several links, downlink: links, settings, ns-3's goodput with its deviation.
LINKS = [
    (["ch36"], 547.32, 0.03),
    (["ch36", "six"], 1094.00, 0.03),
]
TWO_LINKS = ["ch36", "six"]
# Two links of a station in EMLSR mode, padding 32 us, transition 128 us.
EMLSR = 532.31
# The same with five older stations on the first link: links, repair, ns-3's goodput and what the stations have, each with
# the deviation of its runs of 2 s.
CROWDED = [
    (["ch36"], ASK, (80.11, 51.87), (345.58, 49.07)),
    (["ch36", "six"], ASK, (339.06, 91.56), (375.88, 16.42)),
    (["ch36", "six"], AGAIN, (646.89, 12.14), (366.09, 14.26)),
]
# Delay: links, load [Mbit/s], ns-3's mean and 99th percentile [us].
LINK_DELAYS = [
    (["ch36"], 273.1, 442, 726),
    (["ch36", "six"], 273.1, 225, 391),
    (["ch36", "six"], 518.9, 370, 603),
]
# TCP over two links: ns-3's goodput.
LINK_TCP = [("newreno", 913.02), ("cubic", 907.99)]


def how(words):
    """The settings of a cell, in words."""
    names = {OFF: "one frame", ALL: "A-MPDU", RTS: "RTS", ASK: "request", AGAIN: "sent again"}
    return ", ".join(names[word] for word in words)


def saturated(options):
    """Goodput of saturated cells."""
    table = Table(options, "goodput, Mbit/s")
    for standard, width, mcs, size, goodput, speed in SENDERS:
        runs = run(options, "saturated", [*radio(standard, width, mcs), limit(size)], 4.2)
        name = f"{standard}, {width} MHz, MCS {mcs}, A-MPDU {size or 'off'}"
        table.value(name, goodput, total(runs), 0.02)
        table.speed(name, speed, runs)
    for standard, count, words, goodput, speed in STATIONS:
        words_ = [*radio(standard, 20, 7), f"topology.count={count + 1}", *words]
        runs = run(options, "stations", words_, 20.2)
        name = f"{count} {standard}, {how(words)}"
        table.value(name, goodput, total(runs), 0.02)
        table.speed(name, speed, runs)
    for first, second, ampdu, *goodputs in CATEGORIES:
        words = [NS3, ampdu, f'flow.first.access="{first}"', f'flow.second.access="{second}"']
        runs = run(options, "categories", words + ([AGAIN] if ampdu == ALL else []), 40.2)
        for k, theirs in enumerate(goodputs):
            ours = statistics.mean(one["flows"][k]["goodput_bps"] for one in runs) / 1e6
            # A share is judged by what both get.
            allowed = 0.02 * sum(goodputs) / theirs
            table.value(f"{first} beside {second}, {how([ampdu])}: {(first, second)[k]}", theirs, ours, allowed)
    return table.off


def transport(options):
    """TCP and delay."""
    table = Table(options, "TCP, Mbit/s; delay, us")
    for standard, width, mcs, queue, goodput, speed in TCP:
        runs = run(options, "tcp", [*radio(standard, width, mcs), f"radio.queue={queue}"], 8)
        name = f"TCP, {standard}, {width} MHz, MCS {mcs}"
        table.value(name, goodput, total(runs), 0.03)
        table.speed(name, speed, runs)
    for ampdu, arrivals, load, mean, p99 in DELAYS:
        words = [ampdu, f'flow.up.source={{ {arrivals} = "{load} Mbit/s" }}']
        runs = run(options, "delay", words, 20.5)
        for what, theirs, allowed in (("mean", mean, 0.05), ("p99", p99, 0.10)):
            ours = statistics.mean(one["flows"][0]["delay_s"][what] for one in runs) * 1e6
            table.value(f"{arrivals}, {load} Mbit/s, {how([ampdu])}: {what}", theirs, ours, allowed)
    return table.off


def members(links):
    """The links of the trunk."""
    return f"sweep.trunk.air.members=[{json.dumps(links)}]"


def in_words(links):
    """Their number in words."""
    return "one link" if len(links) == 1 else f"{len(links)} links"


def multi_link(options):
    """Multi-link devices."""
    table = Table(options, "multi-link")
    for links, goodput, allowed in LINKS:
        runs = run(options, "two_links", [NS3, members(links)], 4.2, "mlo")
        table.value(f"{in_words(links)}: goodput", goodput, total(runs), allowed)
    one_radio = ['trunk.air.mode="emlsr"', 'trunk.air.padding_delay="32 us"', 'trunk.air.switch_delay="128 us"']
    runs = run(options, "two_links", [NS3, members(TWO_LINKS), *one_radio], 4.2, "mlo")
    table.value(f"{in_words(TWO_LINKS)}, EMLSR: goodput", EMLSR, total(runs), 0.03)
    for links, repair, mine, others in CROWDED:
        swept = {"radio.block_ack_repair": repair.split('"')[1], "trunk.air.request_link": "data"}
        words = [NS3, members(links), *(f"sweep.{key}={json.dumps([value])}" for key, value in swept.items())]
        runs = run(options, "neighbours", words, 4.2, "mlo", CROWDED_SEEDS)
        first = statistics.mean(one["flows"][0]["goodput_bps"] for one in runs) / 1e6
        name = f"{in_words(links)}, five older stations, {how([repair])}"
        for what, (theirs, deviation), ours in (("goodput", mine, first), ("older", others, total(runs) - first)):
            table.value(f"{name}: {what}", theirs, ours, max(0.03, 2 * deviation / theirs))
    for links, load, mean, p99 in LINK_DELAYS:
        words = [NS3, members(links), f'flow.down.source={{ poisson = "{load} Mbit/s" }}']
        runs = run(options, "delay", words, 5.2, "mlo")
        for what, theirs in (("mean", mean), ("p99", p99)):
            ours = statistics.mean(one["flows"][0]["delay_s"][what] for one in runs) * 1e6
            table.value(f"{in_words(links)}, {load} Mbit/s: {what}", theirs, ours, 0.10)
    for algorithm, goodput in LINK_TCP:
        runs = run(options, "tcp", [NS3, f'sweep.flow.down.transport.tcp=["{algorithm}"]'], 5.2, "mlo")
        table.value(f"TCP over two links, {algorithm}", goodput, total(runs), 0.03)
    return table.off


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--airbraid", default="target/release/airbraid", help="the command")
    parser.add_argument("--speed", action="store_true", help="prints speeds in place of values")
    options = parser.parse_args()
    off = saturated(options)
    print()
    off += transport(options)
    if not options.speed:
        print()
        off += multi_link(options)
    sys.exit(f"{off} beyond what is allowed" if off else 0)


main()
