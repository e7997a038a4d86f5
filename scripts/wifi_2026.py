#!/usr/bin/env python3
"""Tables of docs/measurements/wifi-2026.md: trunks and chains with 802.11ax radios; in the repository's root.

    scripts/wifi_2026.py policies              one table
    scripts/wifi_2026.py                       all of them

policies    distributors and resequencers over three channels of 80 MHz
members     what a member may hold: packets or time, over equal and unequal channels
errors      bit errors on one channel and on three
delay       one-way delay by load on one channel and on three
channels    one to six channels
others      another pair on one channel; a hidden station on one channel
chain       TCP over several hops
blocks      bit errors with A-MPDUs, with A-MSDUs, and without either
"""

import argparse
import concurrent.futures
import json
import statistics
import subprocess

SEED = 1
REPLICATIONS = 3
FIFO = '{ method = "fifo", buffer = 16384 }'
ADAPTIVE = '{ timer = "adaptive", buffer = 16384 }'


def run(options, scenario, words):
    """The runs of a scenario with these overrides."""
    command = [options.airbraid, "run", f"scenarios/today/{scenario}.toml", "--json", "--jobs", "1"]
    command += ["--seed", str(SEED), "--replications", str(REPLICATIONS)]
    for word in words:
        command += ["--set", word]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not done.stdout:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)["cells"][0]["summary"]


def mean(summary, metric, times=1.0, digits=1):
    """A mean, in a unit, as text."""
    value = summary.get(metric)
    return "-" if value is None else f"{value['mean'] * times:.{digits}f}"


def goodput(summary, flow="data"):
    """Goodput in Mbit/s."""
    return mean(summary, f"flow.{flow}.goodput_bps", 1e-6)


def table(options, head, jobs):
    """Prints a line of each job; `jobs` are (name, [(scenario, overrides), ...], cells of the summaries)."""
    print(f"| {' | '.join(head)} |\n" + "|---" * len(head) + "|")
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        running = [(name, [pool.submit(run, options, *one) for one in runs], cells) for name, runs, cells in jobs]
        for name, runs, cells in running:
            print(f"| {name} | {' | '.join(cells(*[one.result() for one in runs]))} |", flush=True)
    print()


def members(*names):
    """The trunk over these members."""
    return "trunk.air.members=[" + ", ".join(f'"ch{name}"' for name in names) + "]"


THREE = members(36, 100, 149)
ONE = members(36)


def policies(options):
    """Distributors, resequencers and what a member holds."""

    def policy(distributor, resequencer, *more):
        words = [THREE, *more, f'trunk.air.policy.distributor="{distributor}"']
        return [("good", [*words, f"trunk.air.policy.resequencer={resequencer}"])]

    def cells(summary):
        ppdus = sum(summary[f"mac.node2.ch{name}.data_frames"]["mean"] for name in (36, 100, 149))
        each = summary["trunk.air.node2.sent"]["mean"] / ppdus
        hold = mean(summary, "trunk.air.node1.resequencing_delay_mean_s", 1e3, 2)
        late = mean(summary, "trunk.air.node1.late", 1, 0)
        return [goodput(summary), f"{each:.0f}", hold, late, mean(summary, "flow.data.delay_mean_s", 1e3)]

    packets = lambda n: f"trunk.air.policy={{ queue = 4000, member_queue = {n} }}"  # noqa: E731
    jobs = [
        ("round robin, 1 packet, `adaptive`", policy("round_robin", ADAPTIVE, packets(1)), cells),
        ("round robin, 16, `fifo`", policy("round_robin", FIFO, packets(16)), cells),
        ("round robin, 256, `adaptive`", policy("round_robin", ADAPTIVE, packets(256)), cells),
        ("round robin, 256, `fifo`", policy("round_robin", FIFO, packets(256)), cells),
        ("round robin, 8 ms, `adaptive`", policy("round_robin", ADAPTIVE), cells),
        ("round robin, 8 ms, `fifo`", policy("round_robin", FIFO), cells),
        ("`earliest_delivery`, 256, `fifo`", policy("earliest_delivery", FIFO, packets(256)), cells),
        ("`srr`, 256", policy("srr", "{}", packets(256)), cells),
        ("`jkm`, 256", policy("jkm", "{}", packets(256)), cells),
    ]
    table(options, ["policy", "Mbit/s", "MPDUs a PPDU", "held ms", "late", "delay ms"], jobs)


def held(options):
    """What a member holds, over equal and unequal channels."""
    unequal = members(149, 36, 100)
    limits = [(f"{n} packets", f"trunk.air.policy={{ queue = 4000, member_queue = {n} }}") for n in (1, 16, 64, 256)]
    limits += [(f"{ms} ms", f'trunk.air.policy.member_time="{ms} ms"') for ms in (4, 8, 16)]
    jobs = []
    for name, limit in limits:
        words = [limit, f"trunk.air.policy.resequencer={FIFO}"]
        runs = [("good", [ONE, *words]), ("good", [THREE, *words]), ("unequal", [unequal, *words])]
        jobs.append((name, runs, lambda *all: [goodput(one) for one in all]))
    table(options, ["a member holds", "one of 80 MHz", "three of 80 MHz", "20, 80 and 160 MHz"], jobs)
    alone = [("unequal", [members(name)]) for name in (149, 36, 100)]
    cells = lambda *all: [goodput(one) for one in all]  # noqa: E731
    table(options, ["alone", "20 MHz", "80 MHz", "160 MHz"], [("Mbit/s", alone, cells)])


def errors(options):
    """Bit errors on one channel and on three."""
    jobs = []
    for ber in ("0", "1e-6", "1e-5", "5e-5"):
        runs = [("errors", [members_, f"radio.error.ber={ber}"]) for members_ in (ONE, THREE)]

        def cells(one, three):
            ratio = three["flow.data.goodput_bps"]["mean"] / one["flow.data.goodput_bps"]["mean"]
            hold = mean(three, "trunk.air.node1.resequencing_delay_mean_s", 1e3, 2)
            return [goodput(one), goodput(three), f"{ratio:.2f}", hold, mean(three, "trunk.air.node1.late", 1, 0)]

        jobs.append((ber, runs, cells))
    table(options, ["BER", "one channel", "three", "ratio", "held ms", "late"], jobs)


def delay(options):
    """One-way delay by load."""
    jobs = []
    for load in (5, 50, 270, 450):
        runs = [("low_load", [set_, f'flow.data.source.poisson="{load} Mbit/s"']) for set_ in (ONE, THREE)]

        def cells(one, three):
            return [mean(each, f"flow.data.delay_{what}_s", 1e3, 2) for each in (one, three) for what in ("mean", "p99")]

        jobs.append((f"{load}", runs, cells))
    table(options, ["Mbit/s", "one: mean ms", "p99", "three: mean ms", "p99"], jobs)


def channels(options):
    """One to six channels."""
    names, jobs = (36, 52, 100, 116, 132, 149), []
    for count in (1, 2, 3, 4, 6):

        def cells(summary):
            hold = mean(summary, "trunk.air.node1.resequencing_delay_mean_s", 1e3, 2)
            return [goodput(summary), mean(summary, "flow.data.delay_mean_s", 1e3), hold]

        jobs.append((f"{count}", [("channels", [members(*names[:count])])], cells))
    table(options, ["channels", "Mbit/s", "delay ms", "held ms"], jobs)


def others(options):
    """Other stations on one of three channels."""
    cells = lambda summary: [goodput(summary), goodput(summary, "pair")]  # noqa: E731
    hidden = lambda summary: [goodput(summary), goodput(summary, "other")]  # noqa: E731
    two = members(100, 149)
    again = 'radio.block_ack_repair="retransmit"'
    jobs = [
        ("a pair on one channel", [("shared", [])], cells),
        ("hidden on one channel", [("hidden", [])], hidden),
        ("the same, lost block acks answered by the A-MPDU", [("hidden", [again])], hidden),
        ("the same, without that channel", [("hidden", [two])], hidden),
    ]
    table(options, ["other stations", "trunk Mbit/s", "they Mbit/s"], jobs)


def chain(options):
    """TCP over several hops."""
    jobs = []
    for count in (2, 3, 4, 5, 6, 8):
        runs = [("chain", [f"topology.count={count}", f'radio.ampdu="{ampdu}"']) for ampdu in ("off", "longest")]
        jobs.append((f"{count - 1}", runs, lambda *all: [goodput(one) for one in all]))
    table(options, ["hops", "one frame an access", "A-MPDU"], jobs)


def blocks(options):
    """Units of retransmission under bit errors."""
    ways = [
        ("one MPDU an access", ['radio.ampdu="off"']),
        ("A-MSDU of 7935 byte, one an access", ['radio.ampdu="off"', 'radio.amsdu="7935 byte"']),
        ("A-MPDU", []),
        ("A-MPDU of A-MSDUs of 7935 byte", ['radio.amsdu="7935 byte"']),
    ]
    jobs = []
    for name, words in ways:
        runs = [("blocks", [f"radio.error.ber={ber}", *words]) for ber in ("0", "1e-6", "1e-5", "5e-5")]
        jobs.append((name, runs, lambda *all: [goodput(one) for one in all]))
    table(options, ["unit", "BER 0", "1e-6", "1e-5", "5e-5"], jobs)


TABLES = {
    "policies": policies,
    "members": held,
    "errors": errors,
    "delay": delay,
    "channels": channels,
    "others": others,
    "chain": chain,
    "blocks": blocks,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help="default: all")
    parser.add_argument("--airbraid", default="target/release/airbraid", help="the command")
    parser.add_argument("--jobs", type=int, default=2, help="runs at once")
    options = parser.parse_args()
    for name in options.tables or TABLES:
        TABLES[name](options)


main()
