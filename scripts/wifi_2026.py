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
apart       two nodes that move apart, beside arithmetic
walk        an office floor with two interfaces: one of them, the better one, both
drawn       drawn trunks of two to four unlike members, beside a multi-link device
pictures    not a table: the courses of both walks, into docs/pictures
blocks      bit errors with A-MPDUs, with A-MSDUs, and without either
"""

import argparse
import concurrent.futures
import json
import math
import random
import statistics
import subprocess
import tempfile
from pathlib import Path

SEED = 1
REPLICATIONS = 3
FIFO = '{ method = "fifo", buffer = 16384 }'
ADAPTIVE = '{ timer = "adaptive", buffer = 16384 }'


def cell(options, scenario, words):
    """The only cell of a scenario, by its name or its file, with these overrides."""
    file = scenario if isinstance(scenario, Path) else f"scenarios/today/{scenario}.toml"
    command = [options.airbraid, "run", str(file), "--json", "--jobs", "1"]
    command += ["--seed", str(SEED), "--replications", str(REPLICATIONS)]
    for word in words:
        command += ["--set", word]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not done.stdout:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)["cells"][0]


def run(options, scenario, words):
    """The summary of that cell."""
    return cell(options, scenario, words)["summary"]


def course(one, flow):
    """Goodput of a flow second by second, the mean of the runs [Mbit/s]."""
    series = [f["series"]["goodput_bps"] for r in one["runs"] for f in r["flows"] if f["name"] == flow]
    return [statistics.mean(values) * 1e-6 for values in zip(*series)]


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
    resequencer = '{ method = "fifo", buffer = 16384, resends = 4 }'
    back = f'trunk.air.policy={{ queue = 4000, member_time = "8 ms", resequencer = {resequencer} }}'
    jobs = [
        ("a pair on one channel", [("shared", [])], cells),
        ("hidden on one channel", [("hidden", [])], hidden),
        ("the same, lost block acks answered by the A-MPDU", [("hidden", [again])], hidden),
        ("the same, MPDUs given up after 4", [("hidden", ["radio.block_ack_retry_limit=4"])], hidden),
        ("the same, 4 resends", [("hidden", ["radio.block_ack_retry_limit=4", back])], hidden),
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


# SNR at which a tenth of 1458 byte is lost, MCS 0 to 11 with LDPC [dB]: docs/models/wifi-errors.md.
NEEDED = [-0.6, 2.4, 4.9, 7.9, 10.9, 15.1, 16.5, 18.0, 21.6, 23.5, 26.8, 28.9]
# A preamble is not noticed below [dB].
NOTICED = 4
# Thermal noise and noise figure in 20 MHz [dBm].
NOISE = -94


class Arithmetic:
    """TCP payload of a sender alone that always has the best MCS: its data, and nothing else, are on the air."""

    def __init__(self, options, width):
        command = [options.airbraid, "plan", "wifi", "--standard", "802.11ax", "--width", f"{width} MHz", "--json"]
        answers = [subprocess.run([*command, "--mcs", f"{mcs}"], capture_output=True, check=True) for mcs in range(12)]
        self.rates = [json.loads(answer.stdout)["alone_bps"] * 1e-6 * 1448 / 1472 for answer in answers]
        self.noise = NOISE + 10 * math.log10(width / 20)

    def at(self, received):
        """Mbit/s at a received power [dBm]."""
        snr = received - self.noise
        return max([r for r, needed in zip(self.rates, NEEDED) if max(needed, NOTICED) <= snr], default=0)


def free_space(metres, mhz):
    """Path loss [dB]."""
    return 20 * math.log10(4e6 * math.pi * mhz * metres / 299_792_458)


class Apart:
    """Two nodes that move apart: what arithmetic says, and what runs give, second by second."""

    # The centres of channels 36, 100 and 149 with 80 MHz, and the power of scenarios/today/mobility.toml.
    CENTRES = (5210, 5530, 5775)
    POWER = 12.3

    def __init__(self, options):
        policy = lambda text: [THREE, f"trunk.air.policy={{ queue = 4000, {text} }}"]  # noqa: E731
        held = "member_queue = 256"
        self.ways = {
            "one": [ONE],
            "three": [THREE],
            "`adaptive`": policy(f'member_time = "8 ms", resequencer = {ADAPTIVE}'),
            "1 packet": policy(f"resequencer = {FIFO}"),
            "`earliest_delivery`": policy(f'distributor = "earliest_delivery", {held}, resequencer = {FIFO}'),
            "`srr`": policy(f'distributor = "srr", {held}'),
            "`jkm`": policy(f'distributor = "jkm", {held}'),
        }
        self.wide = Arithmetic(options, 80)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            runs = {name: pool.submit(cell, options, "mobility", words) for name, words in self.ways.items()}
            self.got = {name: course(one.result(), "data") for name, one in runs.items()}

    @staticmethod
    def place(second):
        """Distance [m]."""
        return 10 + 14 * second

    def bounds(self, second, span):
        """Of each channel, the mean over `span` seconds [Mbit/s]."""
        at = [self.place(second + (k + 0.5) * span / 100) for k in range(100)]
        one = lambda metres, mhz: self.wide.at(self.POWER - free_space(metres, mhz))  # noqa: E731
        return [statistics.mean(one(metres, mhz) for metres in at) for mhz in self.CENTRES]


def apart(options):
    """Two nodes that move apart, in steps of two seconds."""
    of = Apart(options)
    others = list(of.ways)[2:]
    head = ["metres", "one by arithmetic", "one", "three by arithmetic", "three", "ratio", *others]
    print(f"| {' | '.join(head)} |\n" + "|---" * len(head) + "|")
    for second in range(0, 22, 2):
        bounds = of.bounds(second, 2)
        values = {name: statistics.mean(all_[second : second + 2]) for name, all_ in of.got.items()}
        row = [bounds[0], values["one"], sum(bounds), values["three"]]
        cells = [f"{value:.0f}" for value in row] + [f"{values['three'] / values['one']:.2f}"]
        cells += [f"{values[name]:.0f}" for name in others]
        print(f"| {of.place(second)} to {of.place(second + 2)} | {' | '.join(cells)} |")
    print()


BOTH = 'trunk.ucl.members=["five", "two"]'


def walks():
    """The ways over an office floor: scenario and overrides."""
    given_up = "radio.block_ack_retry_limit=7"
    choice = lambda table: ("walk", [BOTH, given_up, f"trunk.ucl.select={{ {table} }}"])  # noqa: E731
    policy = lambda text: f"trunk.ucl.policy={{ queue = 4000, {text} }}"  # noqa: E731
    again = '{ method = "fifo", buffer = 16384, resends = 4 }'
    return {
        "5 GHz alone": ("walk", ['trunk.ucl.members=["five"]']),
        "2.4 GHz alone": ("walk", ['trunk.ucl.members=["two"]']),
        "5 GHz from 25 dB on, as in 2006": choice('threshold = "25 dB"'),
        "5 GHz from 10 dB on": choice('threshold = "10 dB"'),
        "the least time of a packet, `ett`": choice('measure = "ett"'),
        "trunk, 8 ms, `fifo`": ("walk", [BOTH]),
        "trunk, 8 ms, `adaptive`": ("walk", [BOTH, policy(f'member_time = "8 ms", resequencer = {ADAPTIVE}')]),
        "trunk, 1 packet, `fifo`": ("walk", [BOTH, policy(f"resequencer = {FIFO}")]),
        "trunk, 8 ms, `fifo`, MPDUs given up after 4": ("walk", [BOTH, "radio.block_ack_retry_limit=4"]),
        "the same, 4 resends": (
            "walk",
            [BOTH, "radio.block_ack_retry_limit=4", policy(f'member_time = "8 ms", resequencer = {again}')],
        ),
        "multi-link device, asks on the link of the data": ("walk_device", ['trunk.ucl.request_link="data"']),
        "multi-link device, asks on any link": ("walk_device", ['trunk.ucl.request_link="any"']),
    }


def walk(options):
    """An office floor with two interfaces."""
    head = ["way", "Mbit/s", "at place 1", "3 to 4 and back", "on the return", "longest pause s"]
    print(f"| {' | '.join(head)} |\n" + "|---" * len(head) + "|")
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        running = [(name, pool.submit(cell, options, *way)) for name, way in walks().items()]
        for name, one in running:
            got = one.result()
            seconds = course(got, "download")
            parts = [statistics.mean(seconds[a:b]) for a, b in ((1, 9), (15, 25), (31, 40))]
            pause = mean(got["summary"], "flow.download.idle_longest_s", 1, 2)
            cells = [goodput(got["summary"], "download"), *[f"{part:.0f}" for part in parts], pause]
            print(f"| {name} | {' | '.join(cells)} |", flush=True)
    print()


# Colours of airbraid's own pictures.
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#6e6e6e"]


def draw_lines(file, title, axis, lines):
    """A picture of lines: names with points; the first name ending in "arithmetic" is dashed."""
    width, height, left, top, right, bottom = 900, 470, 62, 60, 220, 50
    across, up = width - left - right, height - top - bottom
    x_max = max(x for points in lines.values() for x, _ in points)
    y_max = math.ceil(max(y for points in lines.values() for _, y in points) / 100) * 100
    at = lambda x, y: f"{left + across * x / x_max:.1f},{top + up * (1 - y / y_max):.1f}"  # noqa: E731
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="DejaVu Sans, sans-serif" font-size="12">',
        f"<title>{title}</title>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        f'<text x="24" y="32" font-size="19">{title}</text>',
    ]
    for y in range(0, y_max + 1, 100 if y_max <= 700 else 200):
        one, two = at(0, y), at(x_max, y)
        out.append(f'<polyline points="{one} {two}" stroke="#e0e0e0" fill="none"/>')
        out.append(f'<text x="{left - 8}" y="{float(one.split(",")[1]) + 4:.1f}" text-anchor="end">{y}</text>')
    for x in range(0, int(x_max) + 1, 10 if x_max <= 60 else 50):
        place = at(x, 0).split(",")[0]
        out.append(f'<text x="{place}" y="{height - bottom + 18}" text-anchor="middle">{x}</text>')
    out.append(f'<text x="{left + across / 2}" y="{height - 10}" text-anchor="middle">{axis}</text>')
    out.append(f'<text x="{left}" y="{top - 8}" text-anchor="end">Mbit/s</text>')
    for place, (name, points) in enumerate(lines.items()):
        colour, dash = COLOURS[place % len(COLOURS)], ' stroke-dasharray="5 4"' if "arithmetic" in name else ""
        path = " ".join(at(x, y) for x, y in points)
        out.append(f'<polyline points="{path}" stroke="{colour}" stroke-width="2" fill="none"{dash}/>')
        y = top + 12 + 22 * place
        x = width - right + 14
        line = f'<line x1="{x}" x2="{x + 24}" y1="{y - 4}" y2="{y - 4}" stroke="{colour}" stroke-width="2"{dash}/>'
        out.append(f'{line}<text x="{x + 30}" y="{y}">{name}</text>')
    Path(file).write_text("\n".join([*out, "</svg>", ""]), encoding="utf-8")
    print(file)


def pictures(options):
    """The courses of both walks, means of the seeds."""
    of = Apart(options)
    metres = [of.place(second + 0.5) for second in range(25)]
    lines = {
        "three by arithmetic": [(m, sum(of.bounds(second, 1))) for second, m in enumerate(metres)],
        "three, 8 ms, fifo": list(zip(metres, of.got["three"])),
        "three, earliest_delivery": list(zip(metres, of.got["`earliest_delivery`"])),
        "three, jkm": list(zip(metres, of.got["`jkm`"])),
        "one channel": list(zip(metres, of.got["one"])),
    }
    title = "2005, 2026: TCP between two nodes that move apart"
    draw_lines("docs/pictures/wifi-2026-apart.svg", title, "distance [m]", lines)
    names = {
        "5 GHz alone": "5 GHz alone",
        "2.4 GHz alone": "2.4 GHz alone",
        "5 GHz from 10 dB on": "the better one: 10 dB",
        "multi-link device, asks on any link": "multi-link device",
        "trunk, 8 ms, `fifo`": "trunk of both",
    }
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        running = {shown: pool.submit(cell, options, *walks()[name]) for name, shown in names.items()}
        lines = {
            shown: [(second + 0.5, value) for second, value in enumerate(course(one.result(), "download"))]
            for shown, one in running.items()
        }
    title = "2005, 2026: TCP on a walk over an office floor, to its far end and back"
    draw_lines("docs/pictures/wifi-2026-walk.svg", title, "time [s]", lines)


# scripts/draw.py "today, drawn trunks" gave it.
DRAWN_SEED = 578156
DRAWN = 12
CHANNELS = [(36, "5 GHz"), (100, "5 GHz"), (149, "5 GHz"), (37, "6 GHz")]
DRAWN_SCENARIO = """
schema   = 1
title    = "A drawn trunk of unlike members"
question = "What does TCP get over it?"

[run]
duration = "6 s"
warm_up  = "2 s"

[radio]
standard            = "802.11ax"
reception_range     = "250 m"
carrier_sense_range = "250 m"
queue               = 4000
{radio}

[[node]]
name     = "a"
position = ["10 m", "0 m"]
radios   = [{radios}]

[[node]]
name     = "b"
position = ["0 m", "0 m"]
radios   = [{radios}]

[[node]]
name = "c"

[[trunk]]
name    = "air"
between = ["a", "b"]
{trunk}

[[link]]
name    = "wire"
between = ["b", "c"]
rate    = "10 Gbit/s"
queue   = 20000
delay   = "{delay}"

[[flow]]
name      = "data"
from      = "a"
to        = "c"
transport = {{ tcp = "cubic", profile = "linux", receive_buffer = "64 MiB", send_buffer = "64 MiB" }}
source    = "greedy"
"""


def drawn(options):
    """Drawn trunks of unlike members."""
    draw = random.Random(DRAWN_SEED)
    policy = lambda text: ("", f"[trunk.policy]\nqueue = 4000\n{text}")  # noqa: E731
    ways = {
        "8 ms, `fifo`": policy(f'member_time = "8 ms"\nresequencer = {FIFO}'),
        "8 ms, `adaptive`": policy(f'member_time = "8 ms"\nresequencer = {ADAPTIVE}'),
        "256, `fifo`": policy(f"member_queue = 256\nresequencer = {FIFO}"),
        "`earliest_delivery`": policy(
            f'distributor = "earliest_delivery"\nmember_queue = 256\nresequencer = {FIFO}'
        ),
        "8 ms, 4 resends": (
            "block_ack_retry_limit = 4",
            "[trunk.policy]\nqueue = 4000\nmember_time = \"8 ms\"\n"
            'resequencer = { method = "fifo", buffer = 16384, resends = 4 }',
        ),
        "multi-link device": ("", 'over = "mld"\nrequest_link = "any"'),
    }
    head = ["members: MHz, MCS, BER", "delay ms", "alone", *ways]
    print(f"| {' | '.join(head)} |\n" + "|---" * len(head) + "|")
    wide = {width: Arithmetic(options, width).rates for width in (20, 40, 80)}
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for number in range(DRAWN):
            count, delay = draw.choice([2, 3, 4]), draw.choice([1, 10, 40])
            members_ = [
                (draw.choice([20, 40, 80]), draw.randint(3, 11), draw.choice(["0", "0", "1e-6", "1e-5"]))
                for _ in range(count)
            ]
            radios = ", ".join(
                f'{{ name = "m{channel}", channel = {channel}, band = "{band}", width = "{width} MHz", mcs = {mcs}, '
                f"error = {{ ber = {ber} }} }}"
                for (channel, band), (width, mcs, ber) in zip(CHANNELS, members_)
            )
            running = []
            for place, (radio, trunk) in enumerate(ways.values()):
                file = Path(folder) / f"{number}-{place}.toml"
                text = DRAWN_SCENARIO.format(radio=radio, radios=radios, trunk=trunk, delay=f"{delay} ms")
                file.write_text(text, encoding="utf-8")
                running.append(pool.submit(run, options, file, []))
            alone = sum(wide[width][mcs] for width, mcs, _ in members_)
            shown = "; ".join(f"{width}, {mcs}, {ber}" for width, mcs, ber in members_)
            cells = [shown, f"{delay}", f"{alone:.0f}", *[goodput(one.result()) for one in running]]
            print(f"| {' | '.join(cells)} |", flush=True)
    print()


TABLES = {
    "policies": policies,
    "members": held,
    "errors": errors,
    "delay": delay,
    "channels": channels,
    "others": others,
    "chain": chain,
    "apart": apart,
    "walk": walk,
    "drawn": drawn,
    "blocks": blocks,
}
# Beside the tables.
OTHERS = {"pictures": pictures}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help="default: all")
    parser.add_argument("--airbraid", default="target/release/airbraid", help="the command")
    parser.add_argument("--jobs", type=int, default=2, help="runs at once")
    options = parser.parse_args()
    for name in options.tables or TABLES:
        (TABLES | OTHERS)[name](options)


main()
