#!/usr/bin/env python3
"""Fields of stations at drawn places, beside ns-2.35: goodput of all flows together (docs/validation.md).

    benches/fields.py --draw 123456             all kinds of fields, eight places of each
    benches/fields.py --draw 7 --only "crowd"   those whose name has this word

Both sides have the same places, flows, rates and limits. airbraid has the receiver and the EIFS of ns-2 (`receiver =
"ns2"`, `eifs = "nav"`) and its times of retransmission; with `--own-receiver` it has its own receiver. Prints a line
for each kind: the mean of ns-2 [kbit/s], the mean of the differences with its standard error, as parts of ns-2's.
"""

import argparse
import json
import math
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Reception ends there, by two rays with ns-2's powers [m].
RANGE = 250
PAYLOAD = 1024


@dataclass(frozen=True)
class Kind:
    """A kind of field: a square of `side` [m] with `nodes` stations."""

    name: str
    side: int
    nodes: int
    flows: int
    transport: str
    rts: bool = True
    # Range of carrier sense [m].
    sense: int = RANGE
    rate: int = 1
    # Routes by AODV; without it each flow is drawn within `reach` [m].
    aodv: bool = False
    reach: int = 200
    duration: int = 40


def kinds():
    """Returns all kinds."""
    found = [
        Kind(f"field, {transport}, {'RTS' if rts else 'no RTS'}, senses {sense} m", 800, 24, 12, transport, rts, sense)
        for sense in (RANGE, 550)
        for rts in (True, False)
        for transport in ("tcp", "udp")
    ]
    found += [
        Kind("room, tcp, RTS", 100, 24, 12, "tcp"),
        Kind("room, udp, no RTS", 100, 24, 12, "udp", rts=False),
        Kind("field, tcp, no RTS, 11 Mbit/s", 800, 24, 12, "tcp", rts=False, sense=550, rate=11),
        Kind("crowd, tcp, RTS, AODV", 250, 100, 12, "tcp", aodv=True),
        Kind("wide, tcp, RTS, AODV", 1000, 60, 6, "tcp", aodv=True, sense=550),
    ]
    return found


def places(kind, seed):
    """Returns the place of each node [m]; the first two are the first flow's ends."""
    draw = random.Random(seed)

    def anywhere():
        return draw.uniform(0, kind.side), draw.uniform(0, kind.side)

    found = [anywhere() for _ in range(kind.nodes)]
    for flow in range(0 if kind.aodv else kind.flows):
        while math.dist(found[2 * flow], found[2 * flow + 1]) > kind.reach:
            found[2 * flow + 1] = anywhere()
    return [(round(x, 3), round(y, 3)) for x, y in found]


def ns2(kind, at, seed):
    """Returns the goodput of all flows in ns-2 [kbit/s]."""
    settings = {
        "places": ",".join(f"{x},{y}" for x, y in at),
        "flows": kind.flows,
        "transport": kind.transport,
        "rate": f"{kind.rate}e6",
        "rts": 0 if kind.rts else 3000,
        "sense": kind.sense,
        "routing": "AODV" if kind.aodv else "DumbAgent",
        "duration": kind.duration,
        "seed": seed,
    }
    command = ["ns", str(ROOT / "benches/ns2/pairs.tcl"), *(f"{key}={value}" for key, value in settings.items())]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    line = next(line for line in out.splitlines() if line.startswith("ip_throughput_bps"))
    return float(line.split()[3]) / 1e3


def scenario(kind, at, own_receiver):
    """Returns the scenario file of the same."""
    routing = 'routing = { protocol = "aodv", constants = "ns2", arp = true }' if kind.aodv else ""
    receiver = "" if own_receiver else 'receiver = "ns2"\neifs = "nav"'
    transport, source = (
        f'{{ tcp = "newreno", mss = "{PAYLOAD} byte", delayed_ack = "100 ms", window = 20, initial_window = 1, '
        'initial_rto = "3 s", min_rto = "200 ms" }',
        '"greedy"',
    )
    if kind.transport == "udp":
        transport = f'{{ udp = "{PAYLOAD} byte" }}'
        source = f'{{ rate = "{1000 * kind.rate * PAYLOAD / (PAYLOAD + 28):.3f} kbit/s" }}'
    parts = [
        f"""schema = 1
title = "{kind.name}"
question = "What do all flows get together?"
{routing}
[run]
duration = "{kind.duration} s"
[radio]
standard = "802.11b"
rate = "{kind.rate} Mbit/s"
basic_rates = ["1 Mbit/s"]
preamble = "long"
rts_threshold = "{0 if kind.rts else 3000} byte"
short_retry_limit = 20
long_retry_limit = 20
nav_reset = false
llc_header = "6 byte"
path_loss = {{ model = "two_ray" }}
reception_range = "{RANGE} m"
carrier_sense_range = "{kind.sense} m"
queue = 50
{receiver}"""
    ]
    for number, (x, y) in enumerate(at):
        parts.append(f'[[node]]\nname = "n{number}"\nposition = ["{x} m", "{y} m"]\nradios = [1]')
    for flow in range(kind.flows):
        parts.append(
            f'[[flow]]\nname = "f{flow}"\nfrom = "n{2 * flow}"\nto = "n{2 * flow + 1}"\nstart = "{100 * flow} ms"\n'
            f"transport = {transport}\nsource = {source}"
        )
    return "\n".join(parts) + "\n"


def airbraid(command, text, seed):
    """Returns the goodput of all flows here [kbit/s]."""
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(text)
        file.flush()
        words = [command, "run", file.name, "--json", "--jobs", "1", "--seed", str(seed)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return json.loads(done.stdout)["cells"][0]["runs"][0]["total"]["goodput_bps"] / 1e3


def both(options, kind, seed):
    """Returns ns-2's goodput and that here, over the same places."""
    at = places(kind, f"{options.draw} {kind.name} {seed}")
    text = scenario(kind, at, options.own_receiver)
    return ns2(kind, at, seed), airbraid(options.airbraid, text, seed)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--airbraid", default="target/release/airbraid", help="the command [%(default)s]")
    parser.add_argument("--draw", type=int, required=True, help="number that all places are drawn from")
    parser.add_argument("--places", type=int, default=8, help="fields of each kind, at least 2 [%(default)s]")
    parser.add_argument("--only", default="", help="kinds whose name has this word")
    parser.add_argument("--own-receiver", action="store_true", help="airbraid's own receiver and EIFS")
    parser.add_argument("--jobs", type=int, default=2, help="fields at a time [%(default)s]")
    options = parser.parse_args()
    chosen = [kind for kind in kinds() if options.only in kind.name]
    if not chosen:
        parser.error(f"no kind has '{options.only}' in its name: " + "; ".join(kind.name for kind in kinds()))
    if options.places < 2:
        parser.error("--places is at least 2: a mean of one has no error")
    needed = [("ns", "on Debian: apt-get install ns2"), (options.airbraid, "make build, or --airbraid PATH")]
    for command, mend in needed:
        if shutil.which(command) is None:
            parser.error(f"'{command}' is missing: {mend}")
    print("| field | ns-2.35, kbit/s | difference |\n|---|---|---|")
    with ThreadPoolExecutor(options.jobs) as pool:
        for kind in chosen:
            pairs = list(pool.map(lambda seed, kind=kind: both(options, kind, seed), range(1, options.places + 1)))
            theirs = statistics.mean(pair[0] for pair in pairs)
            differences = [100 * (ours - other) / theirs for other, ours in pairs]
            error = statistics.stdev(differences) / math.sqrt(len(differences))
            print(f"| {kind.name} | {theirs:.0f} | {statistics.mean(differences):+.1f} ± {error:.1f} % |", flush=True)


if __name__ == "__main__":
    main()
