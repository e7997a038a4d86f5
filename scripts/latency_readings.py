#!/usr/bin/env python3
"""Latency of Wang 2005's trunk (tables 1 and 2) under every reading of its text, in the repository's root.

    scripts/latency_readings.py --first 100001            all readings
    scripts/latency_readings.py --first 100001 udp        those whose name contains `udp`

Prints two tables in Markdown: mean, standard deviation and maximum of each column of the paper's tables [ms], and the
number of the paper's rows that each reading meets, by the tolerances of `papers/wang2005/reference.toml`. What was found
in them: docs/measurements/misses/wang2005-latency.md.
"""

import argparse
import concurrent.futures
import json
import statistics
import subprocess
import tomllib
from pathlib import Path

CHANNELS = "scenarios/wang2005/channels.toml"
ERRORS = "scenarios/wang2005/bit_errors.toml"
NUMBERS = range(3, 11)
RATES = ["1e-06", "5e-06", "1e-05"]
REFERENCE = Path("papers/wang2005/reference.toml")

ARRIVAL = ['trunk.air.policy.numbering="arrival"']
# More numbers than any timer lets come: by default a trunk that numbers refused packets leaps over gaps.
BUFFER = ["trunk.air.policy.resequencer.buffer=16384"]
MEGABYTE = ['flow.data.transport={tcp="newreno", receive_buffer="1 MiB"}']
UDP = ['flow.data.transport={udp="1024 byte"}']


def queues(trunk, member=1):
    """Limits of the trunk's queue and of each member."""
    return [f"trunk.air.policy.queue={trunk}", f"trunk.air.policy.member_queue={member}"]


def load(kbps):
    """A source of this payload for each channel [kbit/s]; a channel carries 4935."""
    return lambda channels: [f'flow.data.source={{rate="{kbps * channels} kbit/s"}}']


def lost(share):
    """Frames that the MAC has acknowledged and the receiver loses."""
    return [f"radio.delivery_loss={share}"]


# Three more greedy TCP connections, behind the scenario's own.
MORE = "".join(
    f'\n[[flow]]\nname = "{name}"\nfrom = "node2"\nto = "node1"\n'
    'transport = { tcp = "newreno", receive_buffer = "256 KiB" }\n'
    for name in "bcd"
)

# The radio's own bit rate: no sender that asks for more can be told from one that asks for this.
FULL = load(11_000)
# 0.3 % more than the channels carry.
BARELY = load(4_950)

READINGS = {
    "tcp (as reproduced)": [],
    "tcp, arrival": [ARRIVAL, BUFFER],
    "tcp, arrival, queue of 50": [ARRIVAL, BUFFER, queues(50)],
    "tcp, window of 1 MiB": [MEGABYTE],
    "tcp, window of 1 MiB, arrival": [MEGABYTE, ARRIVAL, BUFFER],
    "tcp, 50 a member": [queues(50, 50)],
    "tcp, 50 a member, window of 1 MiB": [queues(50, 50), MEGABYTE],
    "tcp, 50 a member, window of 1 MiB, arrival": [queues(50, 50), MEGABYTE, ARRIVAL, BUFFER],
    "four tcp": [MORE],
    "four tcp, arrival": [MORE, ARRIVAL, BUFFER],
    "udp that waits for space": [UDP],
    "udp that waits for space, 50 a member": [UDP, queues(1, 50)],
    "udp that waits for space, 50 a member, 0.1 % lost": [UDP, queues(1, 50), lost(0.001), BUFFER],
    "udp that waits for space, 50 a member, 0.2 % lost": [UDP, queues(1, 50), lost(0.002), BUFFER],
    "udp that waits for space, 0.2 % lost": [UDP, lost(0.002), BUFFER],
    "tcp, 50 a member, 0.2 % lost": [queues(50, 50), lost(0.002), BUFFER],
    "udp": [UDP, FULL],
    "udp, arrival": [UDP, FULL, ARRIVAL, BUFFER],
    "udp, arrival, queue of 50": [UDP, FULL, ARRIVAL, BUFFER, queues(50)],
    "udp, arrival, 2 a member": [UDP, FULL, ARRIVAL, BUFFER, queues(100, 2)],
    "udp, arrival, 50 a member": [UDP, FULL, ARRIVAL, BUFFER, queues(1, 50)],
    "udp 0.3 % too fast, arrival, 50 a member": [UDP, BARELY, ARRIVAL, BUFFER, queues(1, 50)],
}


def run(options, scenario, channels, words):
    """Minimum, maximum, mean and standard deviation of the latency [s], and goodput [bit/s]; means over the runs."""
    text = Path(scenario).read_text(encoding="utf-8") + "".join(part for part in words if isinstance(part, str))
    command = [options.airbraid, "run", "/dev/stdin", "--json", "--jobs", "1", "--seed", str(options.first)]
    parts = [part(channels) if callable(part) else part for part in words if not isinstance(part, str)]
    for word in [f"run.replications={options.replications}", *(word for part in parts for word in part)]:
        command += ["--set", word]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    summary = json.loads(done.stdout)["cells"][0]["summary"]
    names = [f"flow.data.delay_{name}_s" for name in ("min", "max", "mean", "std")] + ["total.goodput_bps"]
    return [summary[name]["mean"] for name in names]


def measure(options, pool, words):
    """The columns of both tables, by the middle of their rows' names: n3 to n10, ber1e-06 to ber1e-05."""
    members = {n: ["trunk.air.members=" + json.dumps([f"ch{k}" for k in range(1, n + 1)])] for n in NUMBERS}
    three = ['trunk.air.members=["ch1", "ch5", "ch9"]']
    jobs = {f"table1.n{n}": (CHANNELS, n, [members[n], *words]) for n in NUMBERS}
    jobs |= {f"table2.ber{rate}": (ERRORS, 3, [three, [f"radio.error.ber={rate}"], *words]) for rate in RATES}
    running = {name: pool.submit(run, options, *job) for name, job in jobs.items()}
    return {name: job.result() for name, job in running.items()}


def rows(columns):
    """The paper's rows of both tables that have a number, from the measured columns [s; the slope in ms]."""
    columns = columns | {"table2.ber0": columns["table1.n3"]}
    found = {}
    for name, values in columns.items():
        for key, value in zip(("min", "max", "avg", "stdev"), values):
            found[f"000.{name}.{key}"] = value
    for rate in RATES:
        found[f"000.table2.ratio{rate}"] = columns[f"table2.ber{rate}"][2] / columns["table2.ber0"][2]
    means = [columns[f"table1.n{n}"][2] * 1e3 for n in NUMBERS]
    found["000.table1.slope"] = statistics.linear_regression(list(NUMBERS), means).slope
    return found


def is_met(row, value):
    """Whether a value is within the tolerance of its row."""
    if "factor" in row:
        return row["value"] / row["factor"] <= value <= row["value"] * row["factor"]
    return abs(value - row["value"]) <= row["tol_rel"] * row["value"]


def orderings(columns):
    """Whether latency grows from 3 to 10 channels, as the paper's does, and with the bit errors."""
    mean = [columns[f"table1.n{n}"][2] for n in NUMBERS]
    trend = mean[-1] > mean[0] and statistics.correlation(list(NUMBERS), mean) > 0 and mean[3] > mean[4] > mean[5]
    errors = [columns[name] for name in ["table1.n3"] + [f"table2.ber{rate}" for rate in RATES]]
    grows = all(a[k] < b[k] for a, b in zip(errors, errors[1:]) for k in (1, 2, 3))
    return trend, grows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--airbraid", default="target/checked/airbraid")
    parser.add_argument("--first", type=int, required=True, help="the first seed")
    parser.add_argument("--replications", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("readings", nargs="*", metavar="READING")
    options = parser.parse_args()
    results = tomllib.loads(REFERENCE.read_text(encoding="utf-8"))["result"]
    scored = {row["id"]: row for row in results if row["id"].startswith("000.table") and "value" in row}
    paper = {}
    for name in [f"table1.n{n}" for n in NUMBERS] + [f"table2.ber{rate}" for rate in RATES]:
        paper[name] = [scored[f"000.{name}.{key}"]["value"] for key in ("min", "max", "avg", "stdev")]

    def line(first, columns):
        cells = [f"{c[2] * 1e3:.1f} / {c[3] * 1e3:.1f} / {c[1] * 1e3:.0f}" for c in columns.values()]
        print(f"| {first} | " + " | ".join(cells) + " |", flush=True)

    print("| reading | " + " | ".join(name.split(".", 1)[1] for name in paper) + " |")
    print("|---" * (len(paper) + 1) + "|")
    line("printed", paper)
    counts = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for name, words in READINGS.items():
            if options.readings and not any(word in name for word in options.readings):
                continue
            columns = measure(options, pool, words)
            line(name, columns)
            found = rows(columns)
            met = {row for row in scored if row in found and is_met(scored[row], found[row])}
            trend, grows = orderings(columns)
            part = [f"{len([r for r in met if key in r])}" for key in (".min", ".avg", ".max", ".stdev", ".ratio")]
            goodput = columns["table1.n10"][4] / 1e6
            slope, least = found["000.table1.slope"], columns["table1.n3"][0] * 1e3
            words = ["yes" if value else "no" for value in (trend, grows)]
            counts.append([name, *part, f"{slope:.1f}", *words, f"{len(met)}", f"{least:.3f}", f"{goodput:.1f}"])
    print()
    head = ["reading", "min", "avg", "max", "stdev", "ratio", "slope [ms]", "trend", "grows with errors"]
    head += ["rows met", "least [ms]", "goodput at 10 [Mbit/s]"]
    print("| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|")
    print("| of | 12 | 12 | 12 | 12 | 3 | 30 ± 60 % | | | 52 | 1.025 | 50 |")
    for count in counts:
        print("| " + " | ".join(count) + " |")


if __name__ == "__main__":
    main()
