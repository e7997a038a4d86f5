#!/usr/bin/env python3
"""TCP as the RFCs have it, without RACK, over a tunnel: beside the same link without one, and beside hosts of today.

    benches/recovery.py --draw 7 --cases 12 [--airbraid FILE]

Draws links of 2 to 60 Mbit/s and 1 to 80 ms, log-uniform, with queues of 100 ms, and downloads for 30 s, of which the
last 25 count, with a window of 4 MiB, so that slow start overshoots. Prints a row for each link: shares of its rate
without and with a tunnel, and TCP's timeouts in brackets. A frame of 1500 byte has 1395 byte of payload in a tunnel, .930 of it, and 1460
without, .973. What send buffers of 1 MiB or additive increase limit is that over the link alone, too.
"""

import argparse
import json
import pathlib
import random
import subprocess
import tempfile

SCENARIO = """schema = 1
title = "TCP by the RFCs over a tunnel"
question = "Does the tunnel's queue leave to it what the link alone does?"
[run]
duration = "30 s"
warm_up = "5 s"
[[node]]
name = "client"
[[node]]
name = "server"
[[link]]
name = "line"
between = ["client", "server"]
rate = "{rate} Mbit/s"
delay = "{delay} ms"
queue = {queue}
{trunk}
[[flow]]
name = "download"
from = "server"
to = "client"
transport = {{ {tcp}, receive_buffer = "4 MiB" }}
"""
TRUNK = '[[trunk]]\nname = "vpn"\nbetween = ["client", "server"]\nover = "links"\n'
KINDS = {
    "NewReno": 'tcp = "newreno"',
    "SACK": 'tcp = "sack"',
    "CUBIC": 'tcp = "cubic"',
    "CUBIC, `linux`": 'tcp = "cubic", profile = "linux"',
}


def draw(random_):
    rate = round(2 * 30 ** random_.random(), 1)
    return rate, round(80 ** random_.random(), 1), max(20, round(rate * 1e6 * 0.1 / 12_000))


def run(airbraid, folder, link, tcp, trunk):
    """Returns the share of the link's rate, and the number of timeouts."""
    rate, delay, queue = link
    file = folder / "scenario.toml"
    file.write_text(SCENARIO.format(rate=rate, delay=delay, queue=queue, tcp=tcp, trunk=trunk))
    done = subprocess.run([airbraid, "run", str(file), "--json", "--jobs", "1"], check=True, capture_output=True, text=True)
    flow = json.loads(done.stdout)["cells"][0]["runs"][0]["flows"][0]
    return flow["goodput_bps"] / rate / 1e6, flow["timeouts"]


def told(share, timeouts):
    return f"{share:.3f}".lstrip("0") + (f" ({timeouts:.0f})" if timeouts else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--airbraid", default="target/release/airbraid", metavar="FILE", help="the command (%(default)s)")
    parser.add_argument("--draw", type=int, required=True, metavar="N", help="number that all links are drawn from")
    parser.add_argument("--cases", type=int, default=12, metavar="N", help="number of links (%(default)s)")
    options = parser.parse_args()
    random_ = random.Random(options.draw)
    print("| link | " + " | ".join(KINDS) + " |")
    print("|---" * (len(KINDS) + 1) + "|")
    least = {name: 9.0 for name in KINDS}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.cases):
            link, cells = draw(random_), []
            for name, tcp in KINDS.items():
                shares = [run(options.airbraid, pathlib.Path(folder), link, tcp, trunk) for trunk in ("", TRUNK)]
                cells.append(", ".join(told(*result) for result in shares))
                least[name] = min(least[name], shares[1][0] / shares[0][0] * 1460 / 1395)
            print(f"| {link[0]} Mbit/s, {link[1]} ms | " + " | ".join(cells) + " |", flush=True)
    print("least of the link alone, headers apart: " + ", ".join(f"{name} {share:.3f}" for name, share in least.items()))


if __name__ == "__main__":
    main()
