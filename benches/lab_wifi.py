#!/usr/bin/env python3
"""The lab beside the simulator, over radios of 802.11n, ac, ax and be that a number draws, as root: a table.

usage: benches/lab_wifi.py [--airbraid FILE] [--draws 1-12] [--seconds N] [--late MS] [--tries N] [--json FILE]

Each draw is two hosts in 5 m with radios of a standard, width and MCS, a limit of the block acknowledgement window or
none, and a way: one radio, one radio as an interface of its own, two radios under a trunk (`fifo`), or the links of
multi-link devices (STR, EMLSR). Traffic is TCP CUBIC in either direction, or UDP below or beyond capacity. `iperf3` runs it over
the kernel's stack in the lab; a run of the same file and seed has TCP of the profile `linux`, or UDP that ends with iperf3 and
drains, as iperf3 counts what arrives after its time. Draws that two cores do not carry in real time are left out: by the
PHY's rate at most 450 Mbit/s. A run later than `--late` is done again, `--tries` times at most; if none was on time, the row
says so. The last line is the largest difference of those on time.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

PORT = 5201
RATE_MAX = 450  # [Mbit/s] of the PHY, all links.
# One stream, 20 MHz, long guard interval of n and ac, 0.8 us of ax and be [Mbit/s]; wider ones have about as many times more.
HT = [6.5, 13, 19.5, 26, 39, 52, 58.5, 65, 78]
HE = [8.6, 17.2, 25.8, 34.4, 51.6, 68.8, 77.4, 86, 103.2, 114.7, 129, 143.4]
STANDARDS = {
    "802.11n": ([20, 40], HT[:8], [None, 16]),
    "802.11ac": ([20, 40, 80], HT, [None, 16]),
    "802.11ax": ([20, 40, 80], HE, [None, 32, 128, 256]),
    "802.11be": ([20, 40, 80], HE, [None, 64, 256, 512]),
}
WAYS = ["radio", "interface", "fifo", "str", "emlsr"]
TRUNKS = {
    "fifo": 'over = "radios"\npolicy = { member_time = "8 ms", queue = 1000, resequencer = { method = "fifo", buffer = 16384 } }\n',
    "str": 'over = "mld"\n',
    "emlsr": 'over = "mld"\nmode = "emlsr"\n',
}


class Case:
    """A network and its traffic, by a number."""

    def __init__(self, number):
        chance = random.Random(f"lab {number}")
        while True:
            self.way = chance.choice(WAYS)
            self.standard = "802.11be" if self.way in ("str", "emlsr") else chance.choice(list(STANDARDS))
            widths, rates, windows = STANDARDS[self.standard]
            self.width, self.mcs, self.window = chance.choice(widths), chance.randrange(len(rates)), chance.choice(windows)
            links = 2 if self.way in ("fifo", "str") else 1
            rate = links * rates[self.mcs] * {20: 1, 40: 2.05, 80: 4.3}[self.width]
            # 802.11ac has no MCS 9 in 20 MHz with one stream, nor is MCS 8 drawn for 802.11n.
            if rate <= RATE_MAX:
                break
        self.seed = chance.randrange(1, 1_000_000)
        self.traffic = chance.choice(["tcp down", "tcp down", "tcp up", "udp"])
        self.udp = round(rate * chance.choice([0.4, 1.3]), 1)

    def text(self, seconds):
        """The scenario; flow `f` is what iperf3 does."""
        radios = '[36, { name = "six", channel = 37, band = "6 GHz" }]' if self.way in TRUNKS else "[36]"
        if self.way == "fifo":
            radios = "[36, 149]"
        lines = ["schema = 1", 'title = "Drawn"', 'question = "Does the lab carry what a run does?"', "[run]", 'duration = "60 s"', "[radio]",
                 f'standard = "{self.standard}"', 'band = "5 GHz"', f'width = "{self.width} MHz"', f"mcs = {self.mcs}", "streams = 1"]
        # The window of devices is their trunk's.
        if self.window and self.way not in ("str", "emlsr"):
            lines.append(f"block_ack_window = {self.window}")
        for name, place in (("ap", 0), ("station", 5)):
            lines += ["[[node]]", f'name = "{name}"', 'host = "namespace"', f'position = ["{place} m", "0 m"]', f"radios = {radios}"]
            lines += ['attach = "radios"'] if self.way == "interface" else []
        if self.way in TRUNKS:
            lines += ["[[trunk]]", 'name = "air"', 'between = ["ap", "station"]', TRUNKS[self.way].strip()]
            lines += [f"block_ack_window = {self.window}"] if self.window and self.way != "fifo" else []
        ends = ("station", "ap") if self.traffic == "tcp up" else ("ap", "station")
        lines += ["[[flow]]", 'name = "f"', f'from = "{ends[0]}"', f'to = "{ends[1]}"']
        if self.traffic == "udp":
            lines += ['transport = { udp = "1448 byte" }', f'source = {{ rate = "{self.udp} Mbit/s" }}', f'stop = "{seconds} s"']
        else:
            lines.append('transport = { tcp = "cubic", profile = "linux" }')
        return "\n".join(lines) + "\n"

    def command(self, seconds):
        """What iperf3 is called with on the station, or for UDP on the access point."""
        if self.traffic == "udp":
            return "ap", f"iperf3 -J -c station -u -l 1448 -b {self.udp}M -t {seconds}"
        return "station", f"iperf3 -J -c ap -C cubic -t {seconds}{' -R' if self.traffic == 'tcp down' else ''}"

    def show(self):
        window = f", window {self.window}" if self.window else ""
        traffic = f"udp {self.udp:g} Mbit/s" if self.traffic == "udp" else self.traffic
        return f"{self.standard} | {self.width} MHz, MCS {self.mcs}{window} | {self.way} | {traffic}"


def simulated(options, case, file, every=None):
    """Goodput [Mbit/s] of a run; `every`: segments that one acknowledgement answers."""
    drains = 3 if case.traffic == "udp" else 0
    command = [options.airbraid, "run", file, "--json", "--seed", str(case.seed), "--duration", f"{options.seconds + drains} s"]
    command += ["--set", f"flow.f.transport.ack_every={every}"] if every else []
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not done.stdout:
        sys.exit(done.stderr)
    flow = json.loads(done.stdout)["cells"][0]["runs"][0]["flows"][0]
    return flow["delivered_bytes"] * 8e-6 / options.seconds


def real(options, case, file):
    """Goodput [Mbit/s] of a lab, its lateness [ms], and the packets with data that one acknowledgement answered."""
    node, client = case.command(options.seconds)
    server = "station" if node == "ap" else "ap"
    command = [options.airbraid, "lab", file, "--json", "--seed", str(case.seed), "--duration", f"{options.seconds + 30} s",
               "--exec", f"{node}={client}", "--exec", f"{server}:{PORT}=iperf3 -s -1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        told = json.loads(done.stdout)
        end = json.loads(next(one["stdout"] for one in told["commands"] if one["node"] == node))["end"]
    except (ValueError, KeyError):
        sys.exit(f"{case.show()}: no result\n{done.stderr}{done.stdout[-2000:]}")
    reader = "ap" if case.traffic == "tcp up" else "station"
    came = next(one for one in told["interfaces"] if one["node"] == reader)
    late = told["lateness_s"]["p999"] * 1e3
    if case.traffic == "udp":
        # 28 byte of headers each; the few packets of iperf3's own connection are with them.
        return (came["received_bytes"] - 28 * came["received_packets"]) * 8e-6 / options.seconds, late, None
    # Of its own time: an upload drains.
    return end["sum_received"]["bits_per_second"] * 1e-6, late, came["received_packets"] / max(came["sent_packets"], 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], epilog=__doc__.split("\n\n", 2)[2],
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--airbraid", default="target/release/airbraid", metavar="FILE", help="the command (%(default)s)")
    parser.add_argument("--draws", default="1-12", metavar="FIRST-LAST", help="numbers of the draws (%(default)s)")
    parser.add_argument("--seconds", type=int, default=8, help="of traffic (%(default)s)")
    parser.add_argument("--late", type=float, default=1.0, metavar="MS", help="lateness that is on time (%(default)s)")
    parser.add_argument("--tries", type=int, default=3, metavar="N", help="runs until one is on time (%(default)s)")
    parser.add_argument("--json", metavar="FILE", help="every draw")
    options = parser.parse_args()
    if os.geteuid() != 0:
        parser.error("a lab makes network namespaces, and that takes root: run it by sudo")
    first, _, last = options.draws.partition("-")
    print("| draw | standard | radio | way | traffic | lab, Mbit/s | run, Mbit/s | difference | an ACK for | run with these | difference | late, ms |")
    print("|---" * 12 + "|")
    kept = []
    for number in range(int(first), int(last or first) + 1):
        case = Case(number)
        with tempfile.TemporaryDirectory(prefix="lab-wifi-") as folder:
            file = os.path.join(folder, f"draw{number}.toml")
            with open(file, "w") as written:
                written.write(case.text(options.seconds))
            ours, tried = simulated(options, case, file), []
            while len(tried) < options.tries and (not tried or tried[-1][1] > options.late):
                tried.append(real(options, case, file))
            goodput, late, every = min(tried, key=lambda run: run[1])
            alike = simulated(options, case, file, max(2, round(every))) if every else ours
        kept.append({"draw": number, "case": vars(case), "run": ours, "lab": goodput, "late_ms": late, "every": every, "alike": alike})
        mark = "" if late <= options.late else ", late"
        acks = f"{every:.1f} | {alike:.1f}" if every else "- | -"
        print(f"| {number} | {case.show()} | {goodput:.1f} | {ours:.1f} | {100 * (goodput / ours - 1):+.1f} % "
              f"| {acks} | {100 * (goodput / alike - 1):+.1f} % | {late:.2f}{mark} |", flush=True)
        if options.json:
            with open(options.json, "w") as written:
                json.dump(kept, written, indent=1)
    on_time = [one for one in kept if one["late_ms"] <= options.late]
    for name, of in (("largest difference", "run"), ("with as many acknowledgements", "alike")):
        most = max((abs(one["lab"] / one[of] - 1) for one in on_time), default=0)
        print(f"{name} of {len(on_time)} on time: {100 * most:.1f} %, of {len(kept)} draws")


main()
