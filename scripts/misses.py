#!/usr/bin/env python3
"""Tables of docs/measurements/misses: what decides a row that the papers' runs do not meet; in the repository's root.

    scripts/misses.py --first 100001 timer          one table
    scripts/misses.py --first 100001                all of them

timer       figure 41 of Wang 2005: mean of the reordering timer in its three phases, by the MAC's collisions
collisions  figure 4b of Kuang 2004: collisions of the multi-channel MACs over those of 802.11, by length of the chain
objects     figure 8a of Kuang 2004: transfer time of an object under Bi-MCMAC and MCMAC, paired by seed
starved     section 6.3 of Kuang 2004: connections without a byte after some seconds, 12 in a square of 250 m
bursts      figure 11 of Eckhardt 1998: goodput of TCP over bursts of 100 losses, by the time of a lost poll
"""

import argparse
import concurrent.futures
import json
import statistics
import subprocess


def run(options, scenario, words, replications):
    """The runs of a scenario with these overrides."""
    command = [options.airbraid, "run", f"scenarios/{scenario}.toml", "--json", "--jobs", "1"]
    command += ["--seed", str(options.first), "--replications", str(replications)]
    for word in words:
        command += ["--set", word]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)["cells"][0]["runs"]


def table(options, head, jobs, line):
    """Prints a line of each job's runs, as they come; `jobs` are (name, scenario, overrides, replications)."""
    print(f"| {' | '.join(head)} |\n" + "|---" * len(head) + "|")
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for name, running in [(job[0], pool.submit(run, options, *job[1:])) for job in jobs]:
            print(f"| {name} | {' | '.join(line(running.result()))} |", flush=True)
    print()


def shown(values, digits=1):
    """Mean and standard deviation."""
    return f"{statistics.mean(values):.{digits}f} ± {statistics.stdev(values):.{digits}f}"


def timer(options):
    """Variants of figure 41's MAC."""
    turnaround = ['radio.turnaround="0 us"']
    answers = ['radio.basic_rates=["1 Mbit/s", "2 Mbit/s", "5.5 Mbit/s", "11 Mbit/s"]']
    rivals = [f'flow.{name}.transport={{udp="1024 byte"}}' for name in ("first", "second")]
    small = [f'flow.{name}.transport={{tcp="newreno", receive_buffer="32 KiB"}}' for name in ("data", "first", "second")]
    variants = {
        "as reproduced": [],
        "32 KiB of window": small,
        "trunk's queue of 50": ["trunk.air.policy.queue=50"],
        "4 attempts": ["radio.short_retry_limit=4"],
        "no turnaround": turnaround,
        "ACK at 11 Mbit/s": answers,
        "no turnaround, ACK at 11 Mbit/s": turnaround + answers,
        "rivals send UDP": rivals,
        "both, rivals send UDP": turnaround + answers + rivals,
    }

    def line(runs):
        for phase in ((0, 50), (50, 100), (100, 250)):
            series = [one["trunks"][0]["series"]["reorder_timer_s"][slice(*phase)] for one in runs]
            yield shown([statistics.mean(part) * 1e3 for part in series])
        yield f"{statistics.mean(one['total']['collisions'] for one in runs):.0f}"
        yield shown([one["flows"][0]["goodput_bps"] / 1e6 for one in runs])

    head = ["variant", "0 to 50 s [ms]", "50 to 100 s", "100 to 250 s", "collisions", "goodput [Mbit/s]"]
    table(options, head, [(name, "wang2005/timer", words, 10) for name, words in variants.items()], line)


def collisions(options):
    """Variants of the chain's MAC, each against 802.11 on the same seeds."""
    counts = (4, 8, 12, 18)
    listen = ['radio.listening_time="2400 us"']
    variants = {
        "MCMAC": ("mcmac", []),
        "MCMAC, listens 2.4 ms": ("mcmac", listen),
        "Bi-MCMAC": ("bi_mcmac", []),
        "Bi-MCMAC, listens 1.2 ms": ("bi_mcmac", ['radio.listening_time="1200 us"']),
        "Bi-MCMAC, listens 2.4 ms": ("bi_mcmac", listen),
        "Bi-MCMAC, CW 63": ("bi_mcmac", ["radio.cw_min=63"]),
        "Bi-MCMAC, skip_busy": ("bi_mcmac", ['radio.scheduling="skip_busy"']),
        "Bi-MCMAC, ns-2's receiver": ("bi_mcmac", ['radio.receiver="ns2"', 'radio.eifs="nav"']),
    }

    def measured(mac, words, count):
        words = [f'radio.mac="{mac}"', f"topology.count={count}", 'run.duration="100 s"', *words]
        totals = [one["total"] for one in run(options, "kuang2004/chain", words, 5)]
        mean = {key: statistics.mean(total[key] for total in totals) for key in ("collisions", "ip_throughput_bps")}
        return mean["collisions"], mean["ip_throughput_bps"] / 1e3

    print("| variant | " + " | ".join(f"{count} nodes: of 802.11's, kbit/s" for count in counts) + " |")
    print("|---" * (len(counts) + 1) + "|")
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        plain = list(pool.map(lambda count: measured("dcf", [], count), counts))
        print("| 802.11 | " + " | ".join(f"{found:.0f} collisions, {rate:.0f}" for found, rate in plain) + " |")
        for name, (mac, words) in variants.items():
            found = list(pool.map(lambda count: measured(mac, words, count), counts))
            cells = [f"{a[0] / b[0]:.2f}, {a[1]:.0f}" for a, b in zip(found, plain)]
            print(f"| {name} | {' | '.join(cells)} |", flush=True)
    print()


def objects(options):
    """The difference between the two MACs, by the object's size."""
    print("| packets | 802.11 [s] | MCMAC [s] | Bi-MCMAC [s] | Bi-MCMAC's gain |\n|---|---|---|---|---|")
    for packets in (2, 6, 12, 22, 32, 42, 62, 102, 142):
        times = []
        for mac in ("dcf", "mcmac", "bi_mcmac"):
            words = [f'radio.mac="{mac}"', f'flow.object.source={{file="{472 * packets} byte"}}']
            times.append([one["total"]["completion_mean_s"] for one in run(options, "kuang2004/web", words, 50)])
        gain = [1 - bi / single for single, bi in zip(*times[1:])]
        cells = [f"{statistics.mean(column):.3f}" for column in times] + [f"{100 * statistics.mean(gain):.1f} %"]
        print(f"| {packets} | {' | '.join(cells)} |", flush=True)
    print()


def starved(options):
    """Connections whose first byte has not come."""
    seconds = (4, 10, 22, 46, 95)
    words = ["flow.pair.count=12", 'topology.area=["250 m", "250 m"]', 'run.duration="100 s"']
    variants = [("Bi-MCMAC", "bi_mcmac", []), ("802.11", "dcf", [])]
    variants += [(f"{name}, addresses known", mac, ["routing.arp=false"]) for name, mac, _ in variants]

    def line(runs):
        series = [flow["series"]["goodput_bps"] for one in runs for flow in one["flows"]]
        for second in seconds:
            yield str(sum(not any(values[:second]) for values in series))
        yield f"{statistics.mean(one['routing']['searches_failed'] for one in runs):.1f}"
        yield f"{statistics.mean(one['drops'].get('address_unknown', 0) for one in runs):.1f}"

    head = ["of 144 connections", *(f"none by {second} s" for second in seconds), "failed searches a run"]
    jobs = [(name, "kuang2004/random", [f'radio.mac="{mac}"', *words, *more], 12) for name, mac, more in variants]
    table(options, [*head, "packets that ARP dropped"], jobs, line)


def bursts(options):
    """Bursts of 100 losses after 400 packets, and what a lost poll takes beyond an answered one."""
    words = ['killer.air.events="ok x400, lost x100"', 'flow.data.source={file="10 MB"}']
    jobs = []
    for slack in (0, 5_000, 10_000, 18_400):
        more = [f'radio.response_slack="{slack} us"']
        jobs.append((f"{14.5 + slack / 1e3:.1f} ms", "eckhardt1998/wireless", words + more, 5))

    def line(runs):
        flows = [one["flows"][0] for one in runs]
        yield shown([flow["goodput_bps"] / 8e3 for flow in flows])
        yield f"{100 * statistics.mean(flow['retransmits'] / flow['sent_packets'] for flow in flows):.1f} %"
        yield f"{statistics.mean(flow['timeouts'] for flow in flows):.1f}"
        yield f"{statistics.mean(one['killers'][0]['lost'] for one in runs) / 100:.1f}"

    table(options, ["lost poll", "goodput [KB/s]", "sent twice", "timeouts", "bursts"], jobs, line)


TABLES = {table.__name__: table for table in (timer, collisions, objects, starved, bursts)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--airbraid", default="target/checked/airbraid")
    parser.add_argument("--first", type=int, required=True, help="the first seed")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("tables", nargs="*", choices=[*TABLES, []], metavar="TABLE")
    options = parser.parse_args()
    for name in options.tables or TABLES:
        TABLES[name](options)


if __name__ == "__main__":
    main()
