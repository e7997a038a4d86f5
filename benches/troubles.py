#!/usr/bin/env python3
"""Random troubles of a live tunnel, one after the other, and the time until it answers again.

    benches/troubles.py --airbraid target/release/airbraid --links 1 --count 60 --seed 7

Two daemons in namespaces of their own, with links between them (root). A datagram leaves every 20 ms and is sent back.
When a trouble is over, the time is taken until the first datagram that left after that is back. Links are as fast as
the machine: no emulator is needed. The kinds of trouble:

    address    an uplink has another address (as after a new lease), the old one goes at once
    gap        the same, without any address for up to 1.5 s
    all        all uplinks have other addresses
    down       an end of a link is down for up to 2.5 s
    stop       a daemon does not run for up to 1.5 s, as on a host that is suspended
    loss       a link loses 1 to 60 % each way for up to 2 s
    hole       a link delivers nothing, one way or both, for up to 4 s
    off        an uplink is switched off and on by command
    mtu        a link has another MTU
    load       a TCP connection begins, either way, and ends 8 s later
"""

import argparse
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import threading
import time

from datapath import FAR, Hosts, airbraid

ECHO = """
import socket
echo = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
echo.bind(("", 9))
while True:
    echo.sendto(*echo.recvfrom(2048))
"""
ASK = """
import select, socket, struct, time
asker = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
asker.connect(("%s", 9))
asker.setblocking(False)
due = time.monotonic()
while True:
    if time.monotonic() >= due:
        try:
            asker.send(struct.pack("<d", time.monotonic()) + bytes(200))
        except OSError:
            pass
        due = max(due + .02, time.monotonic())
    select.select([asker], [], [], max(0, due - time.monotonic()))
    try:
        while True:
            print(struct.unpack("<d", asker.recv(2048)[:8])[0], time.monotonic(), flush=True)
    except OSError:
        pass
""" % FAR
# Time after which nothing comes any more [s]: longer than any timer of the tunnel.
PATIENCE = 15


class Site:
    """A pair of daemons, and the troubles that it can have."""

    def __init__(self, options):
        self.chance = random.Random(options.seed)
        self.links = options.links
        self.hosts = Hosts(options.links)

    def begin(self, options):
        """Starts both daemons, and the datagrams."""
        # The second address of a network does not go with the first.
        self.hosts.exec(0, "sysctl", "-w", "net.ipv4.conf.all.promote_secondaries=1")
        self.program = options.airbraid
        (self.far_daemon, self.near_daemon), _ = airbraid(self.hosts, options, options.links)
        self.address = [f"10.9.{link}.1/24" for link in range(options.links)]
        # Sending times of the datagrams that are back, and the times at which they were.
        self.back = []
        self.hosts.start(1, sys.executable, "-c", ECHO)
        asker = subprocess.Popen(["ip", "netns", "exec", self.hosts.names[0], sys.executable, "-c", ASK], stdout=subprocess.PIPE, text=True)
        self.hosts.children.append(asker)
        threading.Thread(target=self.listen, args=(asker.stdout,), daemon=True).start()
        self.ports = iter(range(5300, 65536))

    def listen(self, lines):
        for line in lines:
            self.back.append(tuple(map(float, line.split())))

    def ip(self, end, *words):
        self.hosts.exec(end, "ip", *words, check=False)

    def pause(self, longest):
        time.sleep(self.chance.uniform(.05, longest))

    def drop(self, ends, link, share):
        """Lets the ends lose this share of what comes over a link."""
        for end in ends:
            rules = f"table netdev t{link}\ndelete table netdev t{link}\n"
            if share > 0:
                rules += f"table netdev t{link} {{\nchain c {{\ntype filter hook ingress device l{link} priority 0\nnumgen random mod 1000 < {min(999, round(1000 * share))} drop\n}}\n}}\n"
            self.hosts.exec(end, "nft", "-f", "-", input=rules)

    def move(self, link, gap=None):
        """Gives an uplink another address."""
        before, host = self.address[link], self.chance.randrange(3, 120)
        self.address[link] = f"10.9.{link}.{host + 120 if f'.{host}/' in before else host}/24"
        device = ("dev", f"l{link}")
        if gap is None:
            self.ip(0, "addr", "add", self.address[link], *device)
            self.ip(0, "addr", "del", before, *device)
        else:
            self.ip(0, "addr", "flush", *device)
            self.pause(gap)
            self.ip(0, "addr", "add", self.address[link], *device)

    def address_(self, link):
        self.move(link)

    def gap_(self, link):
        self.move(link, 1.5)

    def all_(self, _):
        for link in range(self.links):
            self.move(link)

    def down_(self, link):
        end = self.chance.randrange(2)
        self.ip(end, "link", "set", f"l{link}", "down")
        self.pause(2.5)
        self.ip(end, "link", "set", f"l{link}", "up")

    def stop_(self, _):
        child = self.chance.choice([self.near_daemon, self.far_daemon])
        child.send_signal(signal.SIGSTOP)
        self.pause(1.5)
        child.send_signal(signal.SIGCONT)

    def loss_(self, link):
        self.drop((0, 1), link, self.chance.uniform(.01, .6))
        self.pause(2)
        self.drop((0, 1), link, 0)

    def hole_(self, link):
        ends = self.chance.choice([(0,), (1,), (0, 1)])
        self.drop(ends, link, 1)
        self.pause(4)
        self.drop(ends, link, 0)

    def off_(self, link):
        name = f"{self.hosts.names[0][:-1]}near"
        for state in ("off", "on"):
            subprocess.run([self.program, "link", f"l{link}", state, "--daemon", name], check=True, capture_output=True)
            self.pause(1 if state == "off" else .06)

    def mtu_(self, link):
        mtu = str(self.chance.choice([1300, 1400, 1500]))
        for end in (0, 1):
            self.ip(end, "link", "set", f"l{link}", "mtu", mtu)

    def load_(self, _):
        port = str(next(self.ports))
        self.hosts.start(1, "iperf3", "-s", "-1", "-p", port)
        time.sleep(.3)
        self.hosts.start(0, "iperf3", "-c", FAR, "-p", port, "-t", "8", *self.chance.choice([[], ["-R"]]))
        self.pause(1)

    def trouble(self, kind):
        """Makes a trouble; returns the time that an answer takes after it [s]."""
        getattr(self, kind + "_")(self.chance.randrange(self.links))
        over = time.monotonic()
        while time.monotonic() < over + PATIENCE:
            for sent, back in self.back[-1000:]:
                if sent >= over:
                    return back - over
            time.sleep(.02)
        return PATIENCE


KINDS = ["address", "gap", "all", "down", "stop", "loss", "hole", "off", "mtu", "load"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--airbraid", default="target/release/airbraid", metavar="FILE")
    parser.add_argument("--links", type=int, default=1)
    parser.add_argument("--count", type=int, default=60, help="number of troubles")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, default=2, help="the exit status is 1 if an answer takes longer [s]")
    parser.add_argument("--only", default=",".join(KINDS), help="kinds, with commas between")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.getsignal(signal.SIGINT))
    took = {kind: [] for kind in options.only.split(",")}
    if strange := sorted(took.keys() - set(KINDS)):
        parser.error(f"there is no trouble called {strange[0]}; allowed: {', '.join(KINDS)}")
    if missing := [tool for tool in ("ip", "ethtool", "nft", "iperf3", options.airbraid) if not shutil.which(tool)]:
        parser.error(f"{missing[0]} is missing")
    if os.geteuid() != 0:
        parser.error("namespaces need root: sudo " + " ".join(sys.argv))
    site = Site(options)
    try:
        site.begin(options)
        time.sleep(1)
        for number in range(options.count):
            kind = site.chance.choice(list(took))
            took[kind].append(1000 * site.trouble(kind))
            print(f"{number + 1}/{options.count} {kind} {took[kind][-1]:.0f} ms", file=sys.stderr, flush=True)
            site.pause(1.5)
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
    finally:
        # Nothing is left behind, however often it is told to end.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        site.hosts.close()
    print("| trouble | times | answer after, median [ms] | longest [ms] |\n|---|---|---|---|")
    for kind, times in took.items():
        if times:
            print(f"| {kind} | {len(times)} | {statistics.median(times):.0f} | {max(times):.0f} |")
    sys.exit(any(max(times, default=0) > 1000 * options.limit for times in took.values()))


if __name__ == "__main__":
    main()
