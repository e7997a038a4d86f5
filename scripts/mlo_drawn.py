#!/usr/bin/env python3
"""Drawn networks: a multi-link device beside the best of its links alone; in the repository's root.

    scripts/mlo_drawn.py --seed 77                     48 networks of six kinds of traffic, `shared` and `expected`
    scripts/mlo_drawn.py --seed 78 --hidden --kinds tcp,udp --ways shared,any,data
                                                       a saturated hidden station beside one link of each
    scripts/mlo_drawn.py --seed 77 --list              a line a network beside the table

A network has two or three links of any width, MCS, bit errors and neighbours; everything follows from the seed and the
number of the network. It is run over each link alone and over all of them in each way, with the same seeds. The table
has by kind of traffic what a way is worth: the best link alone over it where less is better, it over the best link
alone where more is, so that 1 is as good and more is better. "Worse" counts the networks in which a way is more than 3
% worse than the best link, and that by more than 2.5 standard errors. "Of the sum" is what bulk traffic carries of what
the links have each for themselves.
"""

import argparse
import concurrent.futures
import json
import math
import random
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

KINDS = ["web", "tcp", "udp", "poisson", "voice", "game"]
# Links of which two or three are drawn: name, channel, band, widths [MHz].
BANDS = [("five", 36, "5 GHz", [20, 40, 80]), ("six", 37, "6 GHz", [20, 40, 80, 160]), ("two", 1, "2.4 GHz", [20])]
# What each way sets. A block acknowledgement that is lost is asked for on any link, on that of its data, or by nobody:
# by the devices (`shared`, `expected`), or by any station (`retransmit`).
WAYS = {
    "shared": [],
    "expected": ['trunk.air.allocation="expected"'],
    "any": ['trunk.air.request_link="any"'],
    "data": ['trunk.air.request_link="data"'],
    "retransmit": ['radio.block_ack_repair="retransmit"'],
}
BUFFERS = 'receive_buffer = "16 MiB", send_buffer = "16 MiB"'
TCP = f'{{ tcp = "cubic", profile = "linux", {BUFFERS} }}'
WEB = '{ tcp = "cubic", profile = "linux" }'
# Time that stands for what never came [s]: the longest run.
NEVER_S = 8
# A way is worse than the best link by more than this share, and by this many standard errors.
WORSE, ERRORS = 0.97, 2.5


def draw_link(draw, band):
    """A link with its neighbours and hidden station."""
    name, channel, frequencies, widths = band
    return {
        "name": name,
        "channel": channel,
        "band": frequencies,
        "width": draw.choice(widths),
        "mcs": draw.choice([3, 5, 7, 9, 11]),
        "ber": draw.choice([0, 0, 0, 8e-7, 8e-6]),
        "neighbours": draw.choice([0, 0, 0, 1, 2, 4, 6]),
        "neighbour_rate": draw.choice([None, None, 5, 20]),
        "has_hidden": draw.random() < 0.15,
        "hidden_rate": draw.choice([None, 40]),
    }


def draw_network(options, number):
    """Everything that the seed says of a network."""
    draw = random.Random(f"{options.seed} {number}")
    links = [draw_link(draw, band) for band in draw.sample(BANDS, draw.choice([2, 2, 3]))]
    network = {
        "kind": options.kinds[number % len(options.kinds)],
        "links": links,
        "is_down": draw.random() < 0.7,
        "objects": draw.choice([4, 8, 16]),
        "object_kb": draw.choice([15, 40, 100, 300]),
        "poisson": draw.choice([1, 5, 20, 60, 150]),
        "has_bulk": draw.random() < 0.5,
    }
    if options.hidden:
        for link in links:
            link["has_hidden"] = False
        draw.choice(links).update(has_hidden=True, hidden_rate=None)
    return network


def radio(link, rest=""):
    """A radio of a link."""
    return (
        f'{{ name = "{link["name"]}", channel = {link["channel"]}, band = "{link["band"]}", '
        f'width = "{link["width"]} MHz", mcs = {link["mcs"]}{rest} }}'
    )


def node(name, place, radios, rest=""):
    """A node at a place [m]."""
    return f'{{ name = "{name}", position = ["{place[0]} m", "{place[1]} m"], radios = [' + ", ".join(radios) + f']{rest} }}'


def flow(name, ends, transport, rest=""):
    """A flow from the first of both ends to the second."""
    return f'{{ name = "{name}", from = "{ends[0]}", to = "{ends[1]}", transport = {transport}{rest} }}'


def source(rate):
    """The source of a neighbour [Mbit/s]; `None`: it is saturated."""
    return f', source = {{ rate = "{rate} Mbit/s" }}' if rate else ""


def around(link):
    """The nodes around a link, and their flows: neighbours that the access point hears, and a pair that it does not."""
    older, udp, name = ', radio = { standard = "802.11ax" }', '{ udp = "1472 byte" }', link["name"]
    nodes, flows = [], []
    for k in range(link["neighbours"]):
        nodes.append(node(f"old_{name}{k}", (100, 10 + 5 * k), [radio(link)], older))
        flows.append(flow(f"o{name}{k}", (f"old_{name}{k}", "ap"), udp, source(link["neighbour_rate"])))
    if link["has_hidden"]:
        nodes += [node(f"{who}_{name}", (x, 0), [radio(link)], older) for who, x in [("hidden", 400), ("far", 600)]]
        flows.append(flow(f"h{name}", (f"hidden_{name}", f"far_{name}"), udp, source(link["hidden_rate"])))
    return nodes, flows


def own_flows(network):
    """The flows of the device. The one that is measured is the first."""
    ends = ("ap", "station") if network["is_down"] else ("station", "ap")
    start = ', start = "200 ms"'
    bulk = flow("bulk", ends, TCP, start)

    def datagrams(size, rest):
        return flow("x", ends, f'{{ udp = "{size} byte" }}', rest + start)

    match network["kind"]:
        case "web":
            count, size = network["objects"], network["object_kb"]
            objects = f', count = {count}, source = {{ file = "{size} kB" }}'
            return [flow("x", ends, WEB, objects + ', start = "500 ms", start_jitter = "2 s"')]
        case "tcp":
            return [flow("x", ends, TCP, start)]
        case "udp":
            return [datagrams(1472, "")]
        case "poisson":
            return [datagrams(1472, f', source = {{ poisson = "{network["poisson"]} Mbit/s" }}')]
        case "voice":
            return [datagrams(160, ', source = { rate = "64 kbit/s" }, access = "vo"'), bulk]
        case _:
            game = datagrams(1400, ', count = 3, source = { rate = "672 kbit/s" }, access = "vi"')
            return [game, bulk] if network["has_bulk"] else [game]


def scenario(network):
    """The whole scenario."""
    links = network["links"]
    lossy = [radio(link, f', error = {{ ber = {link["ber"]} }}' if link["ber"] else "") for link in links]
    nodes = [node("ap", (0, 0), [radio(link) for link in links]), node("station", (200, 0), lossy)]
    flows = own_flows(network)
    for link in links:
        more = around(link)
        nodes, flows = nodes + more[0], flows + more[1]
    duration = 8 if network["kind"] == "web" else 4
    lines = [
        'schema = 1\ntitle = "A drawn network"\nquestion = "What is each link worth, and all of them?"',
        "node = [\n" + ",\n".join(nodes) + "\n]",
        "flow = [\n" + ",\n".join(flows) + "\n]",
        '[[trunk]]\nname = "air"\nbetween = ["ap", "station"]\nover = "mld"',
        f'[run]\nduration = "{duration} s"\nwarm_up = "1 s"',
        '[radio]\nstandard = "802.11be"\nqueue = 4000\nreception_range = "250 m"\ncarrier_sense_range = "250 m"',
    ]
    return "\n".join(lines) + "\n"


def measure(kind, run):
    """The values of a run by name; all are such that less is better, but for the rate of bulk traffic."""
    own = [one for one in run["flows"] if one["name"].rstrip("0123456789") == "x"]
    if kind == "web":
        return {"page, mean": statistics.mean(one["completion_s"] or NEVER_S for one in own)}
    if kind in ("tcp", "udp"):
        return {"goodput": own[0]["goodput_bps"] / 1e6}
    delay = own[-1]["delay_s"] or {}
    return {f"delay, {name}": delay.get(key) or NEVER_S for name, key in [("mean", "mean"), ("99 %", "p99")]}


def runs(options, network, path, words):
    """The values of each replication."""
    command = [options.airbraid, "run", str(path), "--json", "--jobs", "1"]
    command += ["--seed", str(options.seed * 7 + 11), "--replications", str(options.replications)]
    for word in words:
        command += ["--set", word]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not done.stdout:
        raise SystemExit(f"{describe(network)}: {done.stderr}")
    return [measure(network["kind"], run) for run in json.loads(done.stdout)["cells"][0]["runs"]]


def play(options, number):
    """A network, and its values by each link alone and by each way."""
    network = draw_network(options, number)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "drawn.toml"
        path.write_text(scenario(network), encoding="utf-8")
        names = [link["name"] for link in network["links"]]
        alone = {name: runs(options, network, path, [f'trunk.air.members=["{name}"]']) for name in names}
        return network, alone, {way: runs(options, network, path, WAYS[way]) for way in options.ways}


def describe(network):
    """A network in one line."""
    words = [network["kind"], "down" if network["is_down"] else "up"]
    for link in network["links"]:
        word = f"{link['name']} {link['width']}/{link['mcs']}"
        word += f" ber {link['ber']:.0e}" if link["ber"] else ""
        word += f" {link['neighbours']} x {link['neighbour_rate'] or 'full'}" if link["neighbours"] else ""
        words.append(word + (f" hidden {link['hidden_rate'] or 'full'}" if link["has_hidden"] else ""))
    return ", ".join(words)


def judge(values, alone):
    """What a way is worth beside the best link: the ratio, whether it is worse, and its share of the sum."""
    is_rate = "goodput" in values[0]
    found = []
    for metric in values[0]:
        means = {name: statistics.mean(one[metric] for one in runs) for name, runs in alone.items()}
        best = (max if is_rate else min)(means, key=means.get)
        own = statistics.mean(one[metric] for one in values)
        ratio = own / means[best] if is_rate else means[best] / own
        errors = [statistics.stdev(one[metric] for one in runs) / len(runs) ** 0.5 for runs in (values, alone[best])]
        is_worse = ratio < WORSE and abs(own - means[best]) > ERRORS * math.hypot(*errors)
        found.append((metric, own, ratio, is_worse, own / sum(means.values()) if is_rate else None))
    return found


def mean(ratios):
    """The geometric mean."""
    return math.exp(statistics.mean(math.log(max(ratio, 1e-3)) for ratio in ratios))


def some_of(known):
    """Reads some of these words, with commas between."""

    def words(text):
        unknown = [word for word in text.split(",") if word not in known]
        if unknown:
            raise argparse.ArgumentTypeError(f"{unknown[0]!r} is none of {', '.join(known)}")
        return text.split(",")

    return words


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--airbraid", default="target/release/airbraid", help="the command")
    parser.add_argument("--seed", type=int, required=True, help="what all is drawn from (scripts/draw.py)")
    parser.add_argument("--networks", type=int, default=48)
    parser.add_argument("--replications", type=int, default=4)
    parser.add_argument("--kinds", type=some_of(KINDS), default=KINDS, help=",".join(KINDS))
    parser.add_argument("--ways", type=some_of(WAYS), default=["shared", "expected"], help=",".join(WAYS))
    parser.add_argument("--hidden", action="store_true", help="a saturated hidden station beside one link of each")
    parser.add_argument("--list", action="store_true", help="a line a network and way, too")
    parser.add_argument("--jobs", type=int, default=2, help="networks at a time")
    options = parser.parse_args()
    if shutil.which(options.airbraid) is None:
        parser.error(f"there is no {options.airbraid}: `make build` makes it, --airbraid takes another")
    table = {}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        played = pool.map(lambda number: play(options, number), range(options.networks))
        for number, (network, alone, ways) in enumerate(played):
            for way, values in ways.items():
                for metric, own, ratio, is_worse, share in judge(values, alone):
                    table.setdefault((network["kind"], metric, way), []).append((ratio, is_worse, share))
                    if options.list:
                        flag = " WORSE" if is_worse else ""
                        print(f"{number} {describe(network)}: {way} {own:.4g} {ratio:.3f}{flag}", flush=True)
    print("| traffic | measure | way | networks | geometric mean | least | worse | of the sum |\n|---|---|---|---|---|---|---|---|")
    for (kind, metric, way), found in sorted(table.items()):
        ratios, worse, shares = zip(*found, strict=True)
        share = "" if shares[0] is None else f"{mean(shares):.2f}"
        row = [kind, metric, way, len(found), f"{mean(ratios):.2f}", f"{min(ratios):.2f}", sum(worse), share]
        print(f"| {' | '.join(map(str, row))} |")


main()
