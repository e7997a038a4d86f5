#!/usr/bin/env python3
"""How much a tunnel carries between two hosts of this machine, as root: one TCP connection, small datagrams, ping, memory.

Two network namespaces joined by veth whose frames are really cut (`tx-udp-segmentation off`); both ends, the traffic and the links
are on the same processors. Each case is set up, measured and taken down; the cases of a run come one after the other, and all of
them again in the next run: the table has medians. CPU is the tunnel's own, both ends together, kernel time in its name included.
"""

import argparse
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

NEAR, FAR = "10.77.0.1", "10.77.0.2"


def run(*words, check=True, **more):
    return subprocess.run(words, check=check, capture_output=True, text=True, **more)


class Hosts:
    """Two namespaces and the links between them; with `joins` the receiving end joins datagrams as a network card's driver does
    (a veth does not do it by itself, `gro` on or off)."""

    def __init__(self, links, joins=False):
        self.names = [f"dp{os.getpid()}{end}" for end in "ab"]
        self.folder = tempfile.mkdtemp(prefix="datapath-")
        self.children = []
        for name in self.names:
            run("ip", "netns", "add", name)
            run("ip", "-n", name, "link", "set", "lo", "up")
        for link in range(links):
            device = f"l{link}"
            run("ip", "link", "add", device, "netns", self.names[0], "type", "veth", "peer", "name", device, "netns", self.names[1])
            for end, name in enumerate(self.names, 1):
                run("ip", "-n", name, "addr", "add", f"10.9.{link}.{end}/24", "dev", device)
                run("ip", "-n", name, "link", "set", device, "up")
                self.exec(end - 1, "ethtool", "-K", device, "tx-udp-segmentation", "off", *(["gro", "on", "rx-udp-gro-forwarding", "on"] if joins else []))

    def exec(self, end, *words, check=True, **more):
        return run("ip", "netns", "exec", self.names[end], *words, check=check, **more)

    def start(self, end, *words, **more):
        log = open(os.path.join(self.folder, f"{end}.log"), "a")
        child = subprocess.Popen(["ip", "netns", "exec", self.names[end], *words], stdout=log, stderr=log, **more)
        self.children.append(child)
        return child

    def close(self):
        for child in reversed(self.children):
            child.terminate()
        for child in self.children:
            child.wait()
        for name in self.names:
            run("ip", "netns", "del", name)
        shutil.rmtree(self.folder)


# The tunnels: each gives its two processes and the address of the far end.

def airbraid(hosts, options, links, offload=True, threads=False):
    program = os.path.abspath(options.airbraid)
    keys = {}
    for end in ("near", "far"):
        key = run(program, "genkey").stdout
        with open(os.open(os.path.join(hosts.folder, end + ".key"), os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            file.write(key)
        keys[end] = run(program, "pubkey", input=key).stdout.strip()
    uplinks = "".join(f'[[uplink]]\nname = "l{link}"\n' for link in range(links))
    places = ", ".join(f'l{link} = "10.9.{link}.2:5182"' for link in range(links))
    children, names = [], [f"dp{os.getpid()}{end}" for end in ("near", "far")]
    for index, (own, address, other, behind) in reversed(list(enumerate((("near", NEAR, "far", FAR), ("far", FAR, "near", NEAR))))):
        with open(os.path.join(hosts.folder, names[index] + ".toml"), "w") as file:
            file.write(
                f'schema = 1\n[interface]\naddress = ["{address}/24"]\nprivate_key = "{own}.key"\noffload = {str(offload).lower()}\n'
                + ("threads = true\n" if threads else "")
                + ("listen = 5182\n" if own == "far" else "") + uplinks
                + f'[[peer]]\nname = "{other}"\npublic_key = "{keys[other]}"\nallowed = ["{behind}/32"]\n'
                + (f"endpoint = {{ {places} }}\n" if own == "near" else "")
            )
        children.append(hosts.start(index, program, "up", file.name, "--foreground"))
    for _ in range(200):
        asked = run(program, "status", names[0], "--json", check=False)
        if asked.returncode == 0:
            members = json.loads(asked.stdout)["peers"][0]["members"]
            if sum(member["state"] == "active" for member in members) == links:
                return children, FAR
        time.sleep(0.05)
    sys.exit("airbraid: no session\n" + open(os.path.join(hosts.folder, "0.log")).read())


def wireguard_go(hosts, options, links, latest=False):
    keys = [run("wg", "genkey").stdout.strip() for _ in range(2)]
    public = [run("wg", "pubkey", input=key).stdout.strip() for key in keys]
    children = []
    for end in range(2):
        # Its control socket is the file system's, not the namespace's: names differ.
        device = f"dpwg{end}"
        children.append(hosts.start(end, options.wireguard_latest if latest else options.wireguard, "--foreground", device))
        for _ in range(100):
            if hosts.exec(end, "ip", "link", "show", device, check=False).returncode == 0:
                break
            time.sleep(0.05)
        path = os.path.join(hosts.folder, f"{end}.wg")
        with open(path, "w") as file:
            file.write(
                f"[Interface]\nPrivateKey = {keys[end]}\nListenPort = 5182\n[Peer]\nPublicKey = {public[1 - end]}\n"
                f"AllowedIPs = 10.77.0.0/24\nEndpoint = 10.9.0.{2 - end}:5182\n"
            )
        hosts.exec(end, "wg", "setconf", device, path)
        hosts.exec(end, "ip", "addr", "add", f"{(NEAR, FAR)[end]}/24", "dev", device)
        hosts.exec(end, "ip", "link", "set", device, "mtu", "1420", "up")
    return children, FAR


def glorytun(hosts, options, links):
    key = os.path.join(hosts.folder, "key")
    with open(key, "wb") as file:
        file.write(os.urandom(32).hex().encode())
    children = []
    for end in (1, 0):
        # Both ends are asked by the name of their device, in one place for all namespaces.
        own, device = ["addr", f"10.9.0.{end + 1}"], f"gt{os.getpid()}{end}"
        to = [] if end else ["to", "addr", "10.9.0.2", "port", "5182"]
        children.append(hosts.start(end, options.glorytun, "bind", "from", *own, "port", "5182", *to, "dev", device, "keyfile", key))
        time.sleep(0.5)
        hosts.exec(end, "ip", "addr", "add", f"{(NEAR, FAR)[end]}/24", "dev", device)
        hosts.exec(end, "ip", "link", "set", device, "up")
        # It has to be told what a path carries: 10 Gbit/s, in bytes.
        rate = ["rate", "fixed", "tx", "1250000000", "rx", "1250000000"]
        hosts.exec(end, options.glorytun, "path", "dev", device, *own, *to, "set", "up", *rate)
    time.sleep(1)
    return children, FAR


def probe(hosts, options, links):
    """Nothing but interface, AES-256-GCM and UDP (`crates/live/examples/datapath-probe.rs`): what the machine gives at best."""
    children, ends = [], [f"10.9.0.{end}:5182" for end in (1, 2)]
    for end in range(2):
        name = f"dp{os.getpid()}p{end}"
        children.append(hosts.start(end, options.probe, name, ends[end], ends[1 - end]))
        for _ in range(100):
            if hosts.exec(end, "ip", "link", "show", name, check=False).returncode == 0:
                break
            time.sleep(0.05)
        hosts.exec(end, "ip", "addr", "add", f"{(NEAR, FAR)[end]}/24", "dev", name)
        hosts.exec(end, "ip", "link", "set", name, "mtu", "1440", "up")
    return children, FAR


def bare(hosts, options, links):
    return [], "10.9.0.2"


CASES = {
    "veth alone": (bare, 1, {}),
    "probe": (probe, 1, {}),
    "airbraid: one link": (airbraid, 1, {}),
    "airbraid: two links": (airbraid, 2, {}),
    "airbraid: four links": (airbraid, 4, {}),
    "airbraid: threads, one link": (airbraid, 1, {"threads": True}),
    "airbraid: threads, two links": (airbraid, 2, {"threads": True}),
    "airbraid: offload = false": (airbraid, 1, {"offload": False}),
    "airbraid: GRO, one link": (airbraid, 1, {"joins": True}),
    "wireguard-go": (wireguard_go, 1, {}),
    "wireguard-go, latest": (wireguard_go, 1, {"latest": True}),
    "glorytun": (glorytun, 1, {}),
}


# What is measured.

def cpu(children):
    """Processor time that they and theirs have used [s]."""
    ticks = 0
    for child in children:
        with open(f"/proc/{child.pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def memory(children):
    """The most that one of them has occupied [MB]."""
    def most(child):
        with open(f"/proc/{child.pid}/status") as status:
            return int(re.search(r"VmHWM:\s*(\d+)", status.read())[1]) / 1024
    return max(map(most, children), default=0)


def ping(hosts, to):
    """Median round trip of an idle path [us]."""
    said = hosts.exec(0, "ping", "-n", "-i", "0.005", "-c", "400", to, check=False).stdout
    times = [float(time) * 1e3 for time in re.findall(r"time=([0-9.]+) ms", said)]
    return statistics.median(times) if times else None


def iperf(hosts, to, seconds, *more):
    for _ in range(3):
        done = hosts.exec(0, "iperf3", "-c", to, "-t", str(seconds), "-J", *more, check=False)
        end = json.loads(done.stdout or "{}").get("end", {})
        if end:
            return end
        time.sleep(1)
    return {}


def watch(children, options):
    """Records where the tunnel's two processes spend their time meanwhile, if that is wanted."""
    if not options.perf or not children:
        return None
    pids = ",".join(str(child.pid) for child in children)
    return subprocess.Popen(["perf", "record", "-q", "-e", "cpu-clock", "-F", "2000", "-g", "-o", options.perf, "-p", pids], stderr=subprocess.DEVNULL)


def measure(name, options):
    make, links, more = CASES[name]
    more = dict(more)
    hosts = Hosts(links, more.pop("joins", False))
    try:
        children, to = make(hosts, options, links, **more)
        hosts.start(1, "iperf3", "-s")
        time.sleep(0.5)
        row = {"ping_us": ping(hosts, to)}
        recorder = watch(children, options)
        before = cpu(children)
        got = iperf(hosts, to, options.seconds).get("sum_received", {})
        if recorder:
            recorder.send_signal(signal.SIGINT)
            recorder.wait()
        spent = cpu(children) - before
        row["gbps"] = got.get("bits_per_second", 0) / 1e9
        row["s_per_gb"] = spent / (got["bytes"] / 1e9) if children and got.get("bytes") else None
        row["rss_mb"] = memory(children) if children else None
        small = iperf(hosts, to, options.seconds, "-u", "-b", "0", "-l", "64").get("sum", {})
        row["kpps"] = small.get("packets", 0) * (1 - small.get("lost_percent", 100) / 100) / options.seconds / 1e3
        return row
    finally:
        hosts.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--airbraid", default="target/release/airbraid")
    parser.add_argument("--probe", default="target/release/examples/datapath-probe", help="as `cargo build --release -p airbraid-live --example datapath-probe` makes it")
    parser.add_argument("--wireguard", default="wireguard-go")
    parser.add_argument("--seconds", type=int, default=8)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--wireguard-latest", default="wireguard-go-latest", help="as `go install golang.zx2c4.com/wireguard@latest` makes it")
    parser.add_argument("--glorytun", default="glorytun", help="built from its source: Debian has none")
    parser.add_argument("--only", help="cases, by the beginnings of their names, with ; between")
    parser.add_argument("--perf", metavar="FILE", help="of the tunnel's processes during the TCP connection, for `perf report`; of the last case")
    parser.add_argument("--json")
    options = parser.parse_args()
    names = [name for name in CASES if not options.only or any(name.startswith(only) for only in options.only.split(";"))]
    lacks = [name for name, program in (("probe", options.probe), ("wireguard-go", options.wireguard), ("wireguard-go, latest", options.wireguard_latest), ("glorytun", options.glorytun)) if not shutil.which(program)]
    rows = {name: [] for name in names if name not in lacks}
    for _ in range(options.runs):
        for name, kept in rows.items():
            kept.append(measure(name, options))
            print(name, kept[-1], file=sys.stderr, flush=True)
    forms = {"gbps": "{:.2f}", "s_per_gb": "{:.2f}", "kpps": "{:.0f}", "ping_us": "{:.0f}", "rss_mb": "{:.0f}"}
    print("| | one TCP, Gbit/s | CPU s/GB, both ends | 64-byte UDP, thousand/s | ping idle, us | RSS MB, an end |\n|---|---|---|---|---|---|")
    for name, kept in rows.items():
        cells = []
        for key, form in forms.items():
            values = [row[key] for row in kept if row[key] is not None]
            cells.append(form.format(statistics.median(values)) if values else "")
        print(f"| {name} | " + " | ".join(cells) + " |")
    if lacks:
        print("not installed:", ", ".join(lacks))
    if options.json:
        with open(options.json, "w") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
