#!/usr/bin/env python3
"""Drawn cases of 802.11n to 802.11be beside ns-3.44: what it carried there and here.

    benches/drawn.py            a table of all cases of benches/ns3-drawn.json
    benches/drawn.py --only mlo cases of one group
    benches/drawn.py --speed    simulated seconds a second of processor time, beside ns-3's on the same machine

The cases were drawn by chance before anything was run. ns-3's values are means of three seeds with a program of our
own, each with its standard deviation; all stand at one place, as there. The runs count durations as ns-3 does (`rules =
"ns-3"`). Beyond what is allowed means farther away than that, and than two of ns-3's deviations.
"""

import argparse
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

# Duration of a run whose speed is measured [s]: the kernel counts a thread's time in steps of 4 ms.
SPEED_S = 60
# Seeds of a run, and of one with several senders, whose collisions scatter.
SEEDS, CROWDED_SEEDS = 3, 10
CHANNELS = {"2.4": 1, "5": 36, "6": 37}
# What may lie between the values, by what is measured.
ALLOWED = {"mean delay": 0.05, "p99 delay": 0.10}
TCP_ALLOWED, LINKS_ALLOWED, ALLOWED_ELSE = 0.03, 0.03, 0.02
# ns-3's TCP has SACK, and its CUBIC leaves slow start by HyStart, as the kernel's does.
ALGORITHMS = {"newreno": 'tcp = "sack"', "cubic": 'tcp = "cubic", profile = "linux"'}
TCP = 'mss = "1448 byte", timestamps = true, initial_window = 10, receive_buffer = "4 MiB", send_buffer = "4 MiB"'


def queue(case):
    """Packets that a radio's queue has space for: those of ns-3's program."""
    if case["transport"] != "udp":
        return 1000 if case["standard"] == "n" else 5000
    return 20000 if case["source"] != "saturated" else 8000


def radio(case):
    """The common table of radios."""
    ampdu = {0: "off", None: "longest"}.get(case["ampdu"], f"{case['ampdu']} byte")
    lines = [
        f'standard = "802.11{case["standard"]}"',
        'band = "5 GHz"',
        f'width = "{case["links"][0][1]} MHz"',
        f"mcs = {case['mcs']}",
        f"streams = {case['streams']}",
        f'guard_interval = "{case["guard"]} ns"',
        'rules = "ns-3"',
        "eifs = false",
        f"queue = {queue(case)}",
        f'ampdu = "{ampdu}"',
        f'block_ack_repair = "{case["repair"]}"',
    ]
    if case["window"]:
        lines.append(f"block_ack_window = {case['window']}")
    if case["rts"]:
        lines.append('rts_threshold = "0 byte"')
    return ["[radio]", *lines]


def node(name, radios, extra=()):
    """A node at the one place where all are."""
    return ["[[node]]", f'name = "{name}"', 'position = ["0 m", "0 m"]', f"radios = [{', '.join(radios)}]", *extra]


def nodes(case):
    """The access point, its stations, and older stations on the first link."""
    radios = [
        f'{{ name = "l{k}", channel = {CHANNELS[band]}, band = "{band} GHz", width = "{width} MHz" }}'
        for k, (band, width) in enumerate(case["links"])
    ]
    older = (
        f'radio = {{ standard = "802.11ax", width = "{case["links"][0][1]} MHz", mcs = {case["older_mcs"]}, '
        f'guard_interval = "{case["guard"]} ns", block_ack_window = 256, block_ack_repair = "request" }}'
    )
    lines = node("ap", radios)
    for k in range(case["stations"]):
        lines += node(f"s{k}", radios)
    for k in range(case["older"]):
        lines += node(f"o{k}", radios[:1], [older])
    return lines


def trunks(case):
    """The links of each station as one device."""
    lines = []
    for k in range(case["stations"] if len(case["links"]) > 1 else 0):
        members = ", ".join(f'"l{link}"' for link in range(len(case["links"])))
        lines += ["[[trunk]]", f'name = "t{k}"', f'between = ["ap", "s{k}"]', 'over = "mld"', 'request_link = "data"']
        lines += [f"members = [{members}]"]
        if case["emlsr_us"]:
            padding, transition = case["emlsr_us"]
            lines += ['mode = "emlsr"', f'padding_delay = "{padding} us"', f'switch_delay = "{transition} us"']
    return lines


def flows(case):
    """A flow of each station, and one up of each older station."""
    lines = []
    for k in range(case["stations"] + case["older"]):
        is_older = k >= case["stations"]
        station = f"o{k - case['stations']}" if is_older else f"s{k}"
        is_up = is_older or case["direction"] == "up"
        ends = (station, "ap") if is_up else ("ap", station)
        lines += ["[[flow]]", f'name = "f{k}"', f'from = "{ends[0]}"', f'to = "{ends[1]}"']
        if case["transport"] != "udp" and not is_older:
            lines.append(f"transport = {{ {ALGORITHMS[case['transport']]}, {TCP} }}")
            continue
        lines.append(f'transport = {{ udp = "{case["payload"]} byte" }}')
        if not is_older:
            lines.append(f'access = "{case["categories"][k]}"')
            if case["source"] != "saturated":
                lines.append(f'source = {{ {case["source"]} = "{case["mbps"]} Mbit/s" }}')
    return lines


def scenario(case, seconds=None):
    """The whole scenario; TCP and queues that fill are measured in the same seconds of their life as there."""
    warm_up, duration = 0.5, 20.5 if crowd(case) > 1 else 5.5
    if case["transport"] != "udp" or case["source"] != "saturated":
        warm_up, duration = case["measured_s"]
    duration = seconds or duration
    run = ["[run]", f'duration = "{duration} s"', f'warm_up = "{warm_up} s"']
    head = ["schema = 1", 'title = "A drawn case"', 'question = "What does it carry?"']
    return "\n".join([*head, *run, *radio(case), *nodes(case), *trunks(case), *flows(case)]) + "\n"


def crowd(case):
    """Number of stations."""
    return case["stations"] + case["older"]


def run(options, case):
    """The runs of a case; of one whose speed is measured one run, and for longer."""
    seeds = 1 if options.speed else CROWDED_SEEDS if crowd(case) > 1 or case["transport"] != "udp" else SEEDS
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "case.toml"
        path.write_text(scenario(case, SPEED_S if options.speed else None), encoding="utf-8")
        command = [options.airbraid, "run", path, "--json", "--seed", "1", "--replications", str(seeds)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not done.stdout:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)["cells"][0]["runs"]


def measure(case, runs):
    """The values of a case, by name: one for each seed."""
    mine = range(case["stations"])

    def goodput(of):
        return [sum(run["flows"][k]["goodput_bps"] for k in of) / 1e6 for run in runs]

    def delay(which):
        return [statistics.mean(run["flows"][k]["delay_s"][which] for k in mine) * 1e6 for run in runs]

    values = {"goodput": goodput(mine), "older": goodput(range(case["stations"], crowd(case)))}
    for category in set(case["categories"]):
        values[category] = goodput([k for k in mine if case["categories"][k] == category])
    if case["source"] != "saturated":
        values |= {"mean delay": delay("mean"), "p99 delay": delay("p99")}
    return values


def name(case):
    """A case in words."""
    links = " + ".join(f"{band} GHz {width}" for band, width in case["links"])
    words = [case["standard"], links, f"MCS {case['mcs']}", f"GI {case['guard']}"]
    words += [f"{case['streams']} streams"] * (case["streams"] > 1)
    words += [f"{case['stations']} stations"] * (case["stations"] > 1)
    words += [f"{case['older']} older of MCS {case['older_mcs']}"] * (case["older"] > 0)
    words += ["one frame"] * (case["ampdu"] == 0) + [f"A-MPDU {case['ampdu']}"] * bool(case["ampdu"])
    words += [f"window {case['window']}"] * bool(case["window"]) + ["RTS"] * bool(case["rts"])
    words += ["request" if case["repair"] == "request" else "sent again"] * (crowd(case) > 1)
    words += ["EMLSR {}, {} us".format(*case["emlsr_us"])] if case["emlsr_us"] else []
    words += [f"{case['payload']} byte"] * (case["payload"] != 1472)
    words += [case["transport"] if case["source"] == "saturated" else f"{case['source']} {case['mbps']} Mbit/s"]
    return ", ".join([*words, case["direction"]])


def allowed(case, what, theirs):
    """What may lie between the values, as a part of ns-3's."""
    if what in ALLOWED:
        own = 0.10 if len(case["links"]) > 1 else ALLOWED[what]
    elif case["transport"] != "udp":
        own = TCP_ALLOWED
    elif what in case["categories"] and len(set(case["categories"])) > 1:
        # A share is judged by what all get.
        own = ALLOWED_ELSE * case["ns3"]["goodput"][0] / max(theirs[0], 1e-9)
    else:
        own = LINKS_ALLOWED if len(case["links"]) > 1 else ALLOWED_ELSE
    return max(own, 2 * theirs[1] / max(theirs[0], 1e-9))


def drawn_cases():
    """All cases."""
    return json.loads(pathlib.Path(__file__).with_name("ns3-drawn.json").read_text(encoding="utf-8"))


def cases(options):
    """The cases that are asked for."""
    return [case for case in drawn_cases() if options.only in (None, case["group"])]


def speeds(options):
    """The table of speeds, by group."""
    print("| group | cases | ns-3 s/s | airbraid s/s | ratio: least | median | most |\n|---|---|---|---|---|---|---|")
    by_group = {}
    for case in cases(options):
        [one] = run(options, case)
        ours = one["duration_s"] / one["cpu_s"]
        by_group.setdefault(case["group"], []).append((case["speed"], ours))
    everything = [pair for pairs in by_group.values() for pair in pairs]
    for group, pairs in [*by_group.items(), ("all", everything)]:
        ratios = sorted(ours / theirs for theirs, ours in pairs)
        medians = [statistics.median(pair[k] for pair in pairs) for k in (0, 1)]
        of_ratios = f"{ratios[0]:.0f} | {statistics.median(ratios):.0f} | {ratios[-1]:.0f}"
        print(f"| {group} | {len(pairs)} | {medians[0]:.2f} | {medians[1]:.0f} | {of_ratios} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--airbraid", default="target/release/airbraid", help="the command")
    groups = list(dict.fromkeys(case["group"] for case in drawn_cases()))
    parser.add_argument("--only", choices=groups, metavar="GROUP", help=f"cases of one group: {', '.join(groups)}")
    parser.add_argument("--speed", action="store_true", help="prints speeds in place of values")
    options = parser.parse_args()
    if not shutil.which(options.airbraid):
        parser.error(f"{options.airbraid} is no command; `make build` makes target/release/airbraid")
    if options.speed:
        return speeds(options)
    print("| case | what | ns-3.44 | airbraid | deviation | allowed |  |\n|---|---|---|---|---|---|---|")
    off = count = 0
    for case in cases(options):
        values = measure(case, run(options, case))
        for what, theirs in case["ns3"].items():
            ours = statistics.mean(values[what])
            limit, deviation = allowed(case, what, theirs), ours / theirs[0] - 1 if theirs[0] else 0.0
            verdict = "within" if abs(deviation) <= limit else "OFF"
            off, count = off + (verdict == "OFF"), count + 1
            value = f"{theirs[0]} ± {theirs[1]} | {ours:.2f} | {deviation:+.1%} | {limit:.1%} | {verdict}"
            print(f"| {name(case)} | {what} | {value} |", flush=True)
    print(f"\n{count - off} of {count} within")
    return f"{off} beyond what is allowed" if off else 0


sys.exit(main())
