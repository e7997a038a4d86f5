#!/usr/bin/env python3
"""A bond over three emulated uplinks, to watch: two machines and a phone in network namespaces.

usage: scripts/bond_demo.py AIRBRAID [SECONDS]

    phone --- office === dsl, lte, sat === hub

The two machines are paired by `airbraid pair`. The phone downloads from the hub; after a while one uplink is pulled,
and later plugged in again. The daemon's page is at http://127.0.0.1:9519/ meanwhile. Ctrl-C, or the end of SECONDS,
removes everything. The uplinks are links of the lab (`airbraid lab`): the simulator's, in real time. It needs root, `ip`
(iproute2), and `nft`.
"""

import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

NAME = "demo"
# Rate, one-way delay and loss: a line, a mobile network, one that is far away and loses.
UPLINKS = {"dsl": ("20 Mbit/s", "8 ms", 0), "lte": ("12 Mbit/s", "25 ms", 0.003), "sat": ("6 Mbit/s", "60 ms", 0.01)}
# The hub's address outside, which every uplink leads to.
HUB = "198.51.100.7"
PULLED = "dsl"
MACHINES = ["office", "hub"]
# A round of the demonstration [s]: the uplink is pulled and plugged in again at these times.
ROUND, PULL, PLUG = 45, 15, 30
PAGE = 9519
PORT = 8000
# Longest wait for a command of ours [s].
PATIENCE = 60

# Runs in the office's namespace with a listening socket of the host's: what comes there goes to the page inside.
RELAY = """
import socket, sys, threading
listener = socket.socket(fileno=int(sys.argv[1]))
def copy(source, sink):
    try:
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass
while True:
    outside, _ = listener.accept()
    try:
        inside = socket.create_connection(("127.0.0.1", int(sys.argv[2])), 5)
    except OSError:
        outside.close()
        continue
    for pair in (outside, inside), (inside, outside):
        threading.Thread(target=copy, args=pair, daemon=True).start()
"""

# Sends without end to whoever comes.
SERVER = """
import socket, sys, threading
listener = socket.create_server(("0.0.0.0", int(sys.argv[1])))
def send(stream):
    try:
        while True:
            stream.sendall(bytes(65536))
    except OSError:
        pass
while True:
    threading.Thread(target=send, args=(listener.accept()[0],), daemon=True).start()
"""

# Downloads, and says once a second how many bytes have come in it.
PHONE = """
import socket, sys, time
stream = socket.create_connection((sys.argv[1], int(sys.argv[2])), 20)
got, begun = 0, time.monotonic()
while data := stream.recv(1 << 20):
    got += len(data)
    if time.monotonic() - begun >= 1:
        print(got, flush=True)
        got, begun = 0, time.monotonic()
"""


class Stop(Exception):
    """A reason to end, for a person."""


class Demo:
    def __init__(self, airbraid):
        self.airbraid = str(pathlib.Path(airbraid).resolve())
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="airbraid-demo-"))
        self.children = []
        self.lab = None

    def namespace(self, host):
        return f"airbraid-{NAME}-{host}"

    def run(self, *words, host=None, check=True, **more):
        where = ["ip", "netns", "exec", self.namespace(host)] if host else []
        done = subprocess.run([*where, *words], capture_output=True, text=True, timeout=PATIENCE, **more)
        if check and done.returncode:
            raise Stop(f"{' '.join(words)}: {(done.stderr or done.stdout).strip()}")
        return done

    def start(self, *words, host, **more):
        # A group of its own: Ctrl-C is for this program, which ends the others.
        where = ["ip", "netns", "exec", self.namespace(host)]
        child = subprocess.Popen([*where, *words], text=True, start_new_session=True, **more)
        self.children.append(child)
        return child

    def network(self):
        file = self.folder / "uplinks.toml"
        text = 'schema = 1\ntitle = "Three uplinks"\nquestion = "What is a bond?"\n[run]\nduration = "24 h"\n'
        text += "".join(f'[[node]]\nname = "{host}"\nhost = "namespace"\nattach = "radios"\n' for host in MACHINES)
        for name, (rate, delay, loss) in UPLINKS.items():
            text += f'[[link]]\nname = "{name}"\nbetween = ["office", "hub"]\nrate = "{rate}"\ndelay = "{delay}"\n'
            text += f"queue = 100\n{f'loss = {loss}' if loss else ''}\n"
        file.write_text(text)
        words = [self.airbraid, "lab", str(file), "--name", NAME, *(f"--exec={host}=sleep 86400" for host in MACHINES)]
        self.lab = subprocess.Popen(words, text=True, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        for _ in range(200):
            if self.lab.poll() is not None:
                raise Stop(f"airbraid lab: {self.lab.stderr.read().strip()}")
            there = self.run("ip", "-br", "addr", host="hub", check=False).stdout
            if all(f"{name} " in there for name in UPLINKS):
                break
            time.sleep(0.05)
        done = self.run("ip", "netns", "add", self.namespace("phone"), check=False)
        if done.returncode:
            raise Stop(f"{done.stderr.strip()}: is another demonstration running?")
        for host in "phone", "office", "hub":
            self.run("ip", "link", "set", "lo", "up", host=host)
        self.link("lan", ("phone", "192.168.50.2/24"), ("office", "192.168.50.1/24"))
        self.run("ip", "route", "add", "default", "via", "192.168.50.1", host="phone")
        for name in UPLINKS:
            self.route(name)
        self.run("ip", "addr", "add", f"{HUB}/32", "dev", "lo", host="hub")

    def route(self, name):
        """The default route by an uplink, as a DHCP client makes it."""
        metric = str(100 + list(UPLINKS).index(name))
        self.run("ip", "route", "replace", "default", "dev", name, "metric", metric, host="office")

    def link(self, name, one, other):
        ends = [self.namespace(host) for host, _ in (one, other)]
        self.run("ip", "link", "add", name, "netns", ends[0], "type", "veth", "peer", "name", name, "netns", ends[1])
        for host, address in one, other:
            self.run("ip", "addr", "add", address, "dev", name, host=host)
        for host, _ in one, other:
            self.run("ip", "link", "set", name, "up", host=host)

    def pair(self):
        """Pairs the two machines, as a person would."""
        hub = [self.airbraid, "pair", "--yes", "--name", f"{NAME}-hub", "--address", HUB]
        pipe = subprocess.PIPE
        offer = self.start(*hub, "--folder", str(self.folder / "hub"), host="hub", stdout=pipe, stderr=pipe)
        line = next((line for line in offer.stdout if line.startswith("airbraid1:")), None)
        if line is None:
            raise Stop(f"airbraid pair: {offer.stderr.read().strip()}")
        print("  on the hub:    airbraid pair           prints one line")
        print("  at the office: airbraid pair --join    reads it, and tests each uplink:")
        office = [self.airbraid, "pair", "--join", "--name", f"{NAME}-office", "--lan", "lan"]
        office += [word for name in UPLINKS for word in ("--uplink", name)]
        done = self.run(*office, "--folder", str(self.folder / "office"), host="office", input=line)
        table = done.stdout.split("paired with")[0]
        print("".join(f"    {row}\n" for row in table.splitlines()))
        offer.wait(PATIENCE)

    def page(self):
        """Begins the office again with a page, and leads this host's port there."""
        file = self.folder / "office" / f"{NAME}-office.toml"
        text = file.read_text().replace("[interface]\n", f'[interface]\npage = "127.0.0.1:{PAGE}"\n', 1)
        file.write_text(text)
        self.run(self.airbraid, "down", f"{NAME}-office", host="office")
        self.run(self.airbraid, "up", str(file), host="office")
        try:
            listener = socket.create_server(("127.0.0.1", PAGE))
        except OSError as error:
            raise Stop(f"port {PAGE} of this machine: {error}") from error
        number = str(listener.fileno())
        self.start(sys.executable, "-c", RELAY, number, str(PAGE), host="office", pass_fds=[listener.fileno()])
        listener.close()

    def links(self):
        """The office's links with their states, short."""
        import json

        done = self.run(self.airbraid, "status", f"{NAME}-office", "--json", check=False)
        if done.returncode:
            return "no answer"
        status = json.loads(done.stdout)
        states = {member["uplink"]: member["state"] for peer in status["peers"] for member in peer["members"]}
        return "  ".join(f"{name} {states.get(name, 'pulled')}" for name in UPLINKS)

    def watch(self, seconds):
        server = self.start(sys.executable, "-c", SERVER, str(PORT), host="hub")
        time.sleep(1)
        if server.poll() is not None:
            raise Stop("the server at the hub has ended")
        inside = self.run("ip", "-4", "-br", "addr", "show", "dev", "air0", host="hub").stdout.split()[2].split("/")[0]
        words = [sys.executable, "-c", PHONE, inside, str(PORT)]
        phone = self.start(*words, host="phone", stdout=subprocess.PIPE)
        timer = threading.Timer(seconds, phone.terminate) if seconds else None
        if timer:
            timer.start()
        try:
            for second, line in enumerate(phone.stdout):
                rate = int(line) * 8 / 1e6
                print(f"{second:4} s  {rate:6.1f} Mbit/s  {'#' * int(rate):40}  {self.links()}", flush=True)
                if second % ROUND == PULL:
                    print(f"        {PULLED} is pulled")
                    self.run("ip", "link", "set", PULLED, "down", host="office")
                if second % ROUND == PLUG:
                    print(f"        {PULLED} is plugged in again")
                    self.run("ip", "link", "set", PULLED, "up", host="office")
                    self.route(PULLED)
        finally:
            if timer:
                timer.cancel()
        if not seconds:
            raise Stop("the download has ended by itself")

    def end(self):
        for child in self.children:
            child.terminate()
        for child in self.children:
            try:
                child.wait(10)
            except subprocess.TimeoutExpired:
                child.kill()
        for host in "office", "hub":
            if shutil.which("ip") and pathlib.Path("/run/airbraid", f"{NAME}-{host}.up").exists():
                self.run(self.airbraid, "down", f"{NAME}-{host}", host=host, check=False)
        self.run("ip", "netns", "delete", self.namespace("phone"), check=False)
        if self.lab:
            self.lab.send_signal(signal.SIGINT)
            try:
                self.lab.wait(20)
            except subprocess.TimeoutExpired:
                self.lab.kill()
                self.run(self.airbraid, "lab", "--clean", check=False)
        history = pathlib.Path("/var/lib/airbraid", f"{NAME}-office.history")
        history.unlink(missing_ok=True)
        shutil.rmtree(self.folder, ignore_errors=True)


def check():
    if os.geteuid() != 0:
        sudo = shutil.which("sudo")
        if not sudo:
            raise Stop("it needs root: network namespaces and a TUN device")
        os.execv(sudo, [sudo, sys.executable, *sys.argv])
    for program, package in ("ip", "iproute2"), ("nft", "nftables"):
        if not shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin"):
            raise Stop(f"it needs {program}: apt install {package}")
    if not pathlib.Path("/dev/net/tun").exists():
        raise Stop("it needs /dev/net/tun: modprobe tun")


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    try:
        check()
    except Stop as why:
        sys.exit(f"error: {why}")
    seconds = int(sys.argv[2]) if len(sys.argv) == 3 else 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    demo = Demo(sys.argv[1])
    try:
        print("three uplinks: " + ", ".join(f"{name} {rate}, {delay}" for name, (rate, delay, _) in UPLINKS.items()))
        demo.network()
        demo.pair()
        demo.page()
        print(f"watch it at http://127.0.0.1:{PAGE}/, or: airbraid top {NAME}-office; Ctrl-C ends it\n")
        demo.watch(seconds)
    except KeyboardInterrupt:
        print("\nended: everything is removed")
    except Stop as why:
        sys.exit(f"error: {why}")
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        demo.end()


if __name__ == "__main__":
    main()
