#!/usr/bin/env python3
"""The daemon over emulated links, as root: real TCP through two daemons in the namespaces of a lab.

usage: benches/tunnel.py [--airbraid FILE] [--seconds N] [--runs N] [--only s1,s4] [--tcp cubic,bbr]
                         [--direction download,upload] [--traffic tcp,many,udp,voice,single,return,flap] [--json FILE]
                         [--late MS] [--tries N]
       benches/tunnel.py --twin [--runs N] [--seconds N] [--only s1,s2,s3,s4,s5] [--tcp cubic,bbr]
       benches/tunnel.py --sets 1-8 [--seconds N]
       benches/tunnel.py --mptcp [--only s1,draw7-1,swing7-1] [--tcp cubic,bbr] [--runs N] [--seconds N]

A table: what arrived, as a share of the sum of the links' rates, TCP's repetitions, ping idle and under load, and the
longest time in which nothing arrived. Medians of the runs. `single` is TCP with only the first link in the daemon's file;
`return` is TCP while the first interface goes away after ten seconds and comes back ten seconds later with another address;
`again_ms` is the time until it carries half of its rate once more, here and where the scenario takes the link away (s6).
`flap` is TCP while links are switched off and lose their addresses at random, with the memory of both daemons (a soak:
`--traffic flap --seconds 3600 --only s1`). `many` is fifty TCP connections at once, with Jain's index over what each gets.
`--twin` puts the same scenario in the simulator beside it: means over as many seeds. `--sets` takes random sets of links, those of
`benches/link-sets.csv`, a fixed list: the trunk beside each of its links alone.
`--mptcp` puts the kernel's MPTCP beside the trunk, which has the same links bare: downloads, each with its ping over the first link.
`draw7-1` is the first pair of links of draw 7, 2 to 300 Mbit/s and 1 to 100 ms; `swing7-1` one whose rates swing by 4 and 5 to 1.
The lab's lateness (that of one frame in a thousand) is told with each row: a busy machine is no place to measure on. With
`--late 2` a run in which it was more than 2 ms does not count and is done again, `--tries` times at most; the row says how many runs
were late. `--json` has them all, and is written after each case.
"""

import argparse
import json
import os
import random
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCENARIOS = os.path.join(ROOT, "scenarios", "live")
NEAR, FAR = "10.77.0.1", "10.77.0.2"
START = 3.0  # The traffic begins so long after the daemons: scenarios date their events by it.
VOICE_BYTES, VOICE_EVERY = 160, 0.020  # 64 kbit/s, G.711
LATE = 0.150  # ITU-T G.114
MANY = 50  # Connections at once: an office.
OUTAGE = 10.0  # Of the first link, in s6 and with `return`, which begins so long after the traffic.


# What a scenario says.

def scenario(name):
    """The text of a scenario for the lab: `s1` to `s6` are files, `set3` is a line of the random sets."""
    if re.fullmatch(r"s\d", name):
        return open(os.path.join(SCENARIOS, f"lab-{name}.toml")).read()
    text = f'schema = 1\ntitle = "Random links {name}"\nquestion = "What does one TCP connection get?"\n[run]\nduration = "60 s"\n'
    text += "".join(f'[[node]]\nname = "{end}"\nhost = "namespace"\nattach = "radios"\n' for end in ("near", "far"))
    if not name.startswith("set"):
        return text + drawn(name)
    for line in open(os.path.join(ROOT, "benches", "link-sets.csv")):
        if not line.startswith(name[3:] + ","):
            continue
        _, number, kbps, delay_us, loss, burst = line.strip().split(",")
        text += f'[[link]]\nname = "l{number}"\nbetween = ["near", "far"]\nrate = "{int(kbps) / 1e3} Mbit/s"\ndelay = "{delay_us} us"\n'
        text += f"queue = {max(int(kbps) * 100 // 12_000, 20)}\n"  # 100 ms of full packets
        text += f"loss = {{ mean_loss = {int(loss) / 1e4}, mean_burst = {burst}.0 }}\n" if int(loss) else ""
    return text


def drawn(name):
    """Two links: rates and delays even in their logarithms, queues of 100 ms; those of `swing` go up and down in steps of 0.1 s."""
    chance, swings = random.Random(name), name.startswith("swing")
    least, most = (10, 60) if swings else (2, 300)
    text = ""
    for number, (ratio, period) in enumerate([(4, 6.0), (5, 9.0)]):
        rate, delay = least * (most / least) ** chance.random(), 100 ** chance.random()
        low = 2 * rate / (1 + ratio)
        at = lambda time_: low * (1 + (ratio - 1) * (1 - abs(1 - 2 * (time_ % period) / period)))
        text += f'[[link]]\nname = "l{number}"\nbetween = ["near", "far"]\nrate = "{rate:.3f} Mbit/s"\ndelay = "{delay * 1e3:.0f} us"\n'
        text += f"queue = {max(int(rate * 1e3) * 100 // 12_000, 20)}\n"
        for tenth in range(1, 600 if swings else 0):
            text += f'[[at]]\ntime = "{tenth / 10} s"\nlink = "l{number}"\nrate = "{at(tenth / 10):.3f} Mbit/s"\n'
    return text


def links(name):
    """Names and rates [bit/s] of a scenario's links, in its order."""
    text = scenario(name)
    found = []
    for table in text.split("[[link]]")[1:]:
        rate = re.search(r'rate\s*=\s*"([\d.]+) Mbit/s"', table)
        found.append((re.search(r'name\s*=\s*"(\w+)"', table)[1], float(rate[1]) * 1e6))
    return found


# One end, inside its namespace.

class Counters:
    """Samples of what interfaces have received: every 5 ms, in long runs 12,000 in all."""

    def __init__(self, seconds, *interfaces):
        self.every = max(0.005, seconds / 12_000)
        self.samples = {interface: [] for interface in interfaces}
        self.stop = threading.Event()
        threading.Thread(target=self.count, daemon=True).start()

    def count(self):
        while not self.stop.wait(self.every):
            for interface, samples in self.samples.items():
                try:
                    samples.append((time.monotonic(), int(open(f"/sys/class/net/{interface}/statistics/rx_bytes").read())))
                except OSError:
                    pass  # It is not there.


def timeouts():
    """How often TCP's retransmission timer has run out on this host."""
    names, values = [line.split() for line in open("/proc/net/netstat") if line.startswith("TcpExt:")]
    return int(values[names.index("TCPTimeouts")])


def longest_gap(samples, begin, end):
    """The longest time in [begin, end] in which no data arrived; pings are no data."""
    inside = [(at, count) for at, count in samples if begin <= at <= end]
    gap, last, base = 0.0, begin, inside[0][1] if inside else 0
    for at, count in inside:
        if count - base > 600:
            gap, last, base = max(gap, at - last), at, count
    return max(gap, end - last)


def used_again(samples, rate):
    """How long after the end of its outage a link of `rate` [bit/s] carried half of that in 200 ms; None where it never did."""
    silent, last, returned = 0.0, samples[0], None
    for sample in samples[1:]:
        if sample[1] > last[1]:
            if sample[0] - last[0] > silent:
                silent, returned = sample[0] - last[0], last[0] + OUTAGE
            last = sample
    if silent < OUTAGE / 2:
        return None
    window = []
    for at, count in samples:
        window = [earlier for earlier in window if earlier[0] > at - 0.2] + [(at, count)]
        if at > returned and (count - window[0][1]) * 8 > 0.2 * rate / 2:
            return at - returned
    return None


def daemon(end, folder, airbraid):
    log = open(os.path.join(folder, end + ".log"), "w")
    file = os.path.join(folder, f"{os.path.basename(folder)}-{end}.toml")
    # As the unit has it: it sleeps most of the time, and should be awake when a frame is due.
    return subprocess.Popen(["nice", "-n", "-10", airbraid, "up", file, "--foreground"], stdout=log, stderr=log)


def voice_receiver(heard, stop):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ear:
        ear.bind((FAR, 5300))
        ear.settimeout(0.2)
        while not stop.is_set():
            try:
                data = ear.recv(2048)
            except TimeoutError:
                continue
            number, sent = data[:32].decode().split()[:2]
            heard[int(number)] = time.monotonic() - float(sent)


def voice_sender(seconds):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as mouth:
        mouth.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 46 << 2)
        begin, count = time.monotonic(), int(seconds / VOICE_EVERY)
        for number in range(count):
            time.sleep(max(0.0, begin + number * VOICE_EVERY - time.monotonic()))
            text = f"{number} {time.monotonic()} "
            mouth.sendto(text.encode().ljust(VOICE_BYTES, b"."), (FAR, 5300))
        return count


def far(plan):
    """Serves until it is told to end, and leaves what it has seen."""
    folder, ended = plan["folder"], threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    works = daemon("far", folder, plan["airbraid"])
    counters, heard, stop = Counters(plan["seconds"], "air0", plan["first"]), {}, threading.Event()
    while subprocess.run(["ip", "addr", "show", "air0"], capture_output=True).returncode != 0:
        time.sleep(0.02)
    if plan["traffic"] == "voice":
        threading.Thread(target=voice_receiver, args=(heard, stop), daemon=True).start()
    server = subprocess.Popen(["iperf3", "-s", "-B", FAR], stdout=subprocess.DEVNULL)
    while not ended.is_set() and not os.path.exists(os.path.join(folder, "near.done")):
        time.sleep(0.05)
    stop.set()
    counters.stop.set()
    seen = {"samples": counters.samples, "timeouts": timeouts(), "heard": heard}
    json.dump(seen, open(os.path.join(folder, "far.json"), "w"))
    os.rename(os.path.join(folder, "far.json"), os.path.join(folder, "far.ready"))
    server.terminate()
    works.terminate()
    works.wait()


def ping(seconds, log, every=0.1, to=FAR):
    command = ["ping", "-n", "-i", str(every), "-c", str(int(seconds / every)), "-W", "2", to]
    return subprocess.Popen(command, stdout=open(log, "w"), stderr=subprocess.DEVNULL)


def round_trips(log):
    return [float(time_) for time_ in re.findall(r"time=([\d.]+) ms", open(log).read())]


def iperf(plan):
    command = ["iperf3", "-c", FAR, "-t", str(plan["seconds"]), "-J"]
    command += ["-R"] if plan["direction"] == "download" else []
    if plan["traffic"] == "udp":
        return command + ["-u", "-b", str(int(0.9 * plan["share"])), "-l", "1200"]
    command += ["-P", str(MANY)] if plan["traffic"] == "many" else []
    return command + ["-C", plan["tcp"]]


def near(plan):
    """Waits for all links, then pings and sends."""
    folder, begin = plan["folder"], time.monotonic()
    works = daemon("near", folder, plan["airbraid"])
    name = os.path.basename(folder) + "-near"
    counters = Counters(plan["seconds"], "air0", plan["first"])
    up = 0
    while time.monotonic() < begin + START - 1.0 or (not up and time.monotonic() < begin + 15):
        asked = subprocess.run([plan["airbraid"], "status", name, "--json"], capture_output=True, text=True)
        if asked.returncode == 0:
            members = json.loads(asked.stdout)["peers"][0]["members"]
            up = sum(member["state"] == "active" for member in members)
        time.sleep(0.05)
    logs = [os.path.join(folder, log) for log in ("idle", "loaded")]
    ping(1.0, logs[0], 0.05).wait()
    time.sleep(max(0.0, begin + START - time.monotonic()))
    pinged = ping(plan["seconds"], logs[1])
    started = time.monotonic()
    talker = [0]
    if plan["traffic"] == "voice":
        thread = threading.Thread(target=lambda: talker.__setitem__(0, voice_sender(plan["seconds"])))
        thread.start()
    flapping, early = threading.Event(), memory(works)
    if plan["traffic"] == "flap":
        threading.Thread(target=flap, args=(name, plan, flapping), daemon=True).start()
        threading.Timer(min(60, plan["seconds"] / 3), lambda: grown.append(memory(works))).start()
    if plan["traffic"] == "return":
        threading.Timer(OUTAGE, take_away, args=(plan,)).start()
    grown = []
    done = subprocess.run(iperf(plan), capture_output=True, text=True)
    flapping.set()
    ended = time.monotonic()
    # It falls behind its interval: an hour of it would last longer than one.
    pinged.send_signal(signal.SIGINT)
    pinged.wait()
    counters.stop.set()
    status = subprocess.run([plan["airbraid"], "status", name, "--json"], capture_output=True, text=True).stdout
    time.sleep(0.5 if plan["traffic"] == "voice" else 0.1)
    open(os.path.join(folder, "near.done"), "w").close()
    for _ in range(600):
        if os.path.exists(os.path.join(folder, "far.ready")):
            break
        time.sleep(0.05)
    seen = json.load(open(os.path.join(folder, "far.ready")))
    mine = counters.samples if plan["direction"] == "download" else seen["samples"]
    result = {
        "members": up,
        "iperf": json.loads(done.stdout or "{}"),
        "idle_ms": round_trips(logs[0]),
        "loaded_ms": round_trips(logs[1]),
        # The beginning is a hand-shake, the end a drain.
        "gap_s": longest_gap(mine["air0"], started + 0.5, ended - 0.5),
        "again_s": used_again(mine[plan["first"]], plan["rate"]),
        "timeouts": seen["timeouts"] if plan["direction"] == "download" else timeouts(),
        "memory_mb": [(grown or [early])[0], memory(works)],
        "voice": [talker[0], list(seen["heard"].values())],
        "status": json.loads(status or "{}"),
    }
    json.dump(result, open(os.path.join(folder, "result.json"), "w"))
    works.terminate()
    works.wait()


def address_of(link):
    """The address of an interface with the length of its prefix."""
    told = subprocess.run(["ip", "-json", "-4", "addr", "show", "dev", link], capture_output=True, check=True).stdout
    address = json.loads(told)[0]["addr_info"][0]
    return f'{address["local"]}/{address["prefixlen"]}'


def take_away(plan):
    """Takes the first interface away, and brings it back with another address."""
    link = plan["first"]
    own = address_of(link)
    other = own.replace(".0.1/", ".9.9/")
    subprocess.run(["ip", "addr", "del", own, "dev", link], check=True)
    subprocess.run(["ip", "link", "set", link, "down"], check=True)
    time.sleep(OUTAGE)
    subprocess.run(["ip", "link", "set", link, "up"], check=True)
    subprocess.run(["ip", "addr", "add", other, "dev", link], check=True)


def flap(name, plan, stop):
    """Takes links away at random, all at once now and then, and brings them back."""
    chance = random.Random(plan["seed"])
    every = {link: address_of(link) for link in sorted(plan["addresses"])}

    def switch(link, state):
        subprocess.run([plan["airbraid"], "link", link, state, "--daemon", name], capture_output=True, check=False)

    def address(link, verb):
        subprocess.run(["ip", "addr", verb, every[link], "dev", link], check=True)

    while not stop.wait(chance.uniform(0.5, 3)):
        links_, by_hand = (list(every) if chance.random() < 0.1 else [chance.choice(list(every))]), chance.random() < 0.5
        for link in links_:
            switch(link, "off") if by_hand else address(link, "del")
        stop.wait(chance.uniform(0.2, 2))
        for link in links_:
            switch(link, "on") if by_hand else address(link, "add")


def memory(works):
    """What a daemon occupies [MB]."""
    with open(f"/proc/{works.pid}/status") as status:
        return int(re.search(r"VmRSS:\s*(\d+)", status.read())[1]) / 1024


# The same links without a trunk: MPTCP by the kernel's path manager.

MPTCP_PORT = 5400


def mptcp_far(plan):
    """Announces its addresses, and sends what it can to who connects."""
    subprocess.run(["ip", "mptcp", "limits", "set", "subflows", "8"], check=True)
    for link, address in list(plan["addresses"].items())[1:]:
        subprocess.run(["ip", "mptcp", "endpoint", "add", address, "dev", link, "signal"], check=True)
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_MPTCP) as ear:
        ear.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, plan["tcp"].encode())
        ear.bind(("0.0.0.0", MPTCP_PORT))
        ear.listen()
        stream, _ = ear.accept()
        with stream:
            end, block = time.monotonic() + plan["seconds"], bytes(1 << 17)
            try:
                while time.monotonic() < end:
                    stream.sendall(block)
            except OSError:
                pass  # The other end has had enough.


def mptcp_near(plan):
    """Downloads for as long as the plan says, and pings over the first link."""
    subprocess.run(["ip", "mptcp", "limits", "set", "subflows", "8", "add_addr_accepted", "8"], check=True)
    folder, first = plan["folder"], plan["addresses"][plan["first"]]
    logs = [os.path.join(folder, log) for log in ("idle", "loaded")]
    time.sleep(START - 1.0)
    ping(1.0, logs[0], 0.05, first).wait()
    pinged = ping(plan["seconds"], logs[1], 0.1, first)
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_MPTCP) as stream:
        stream.connect((first, MPTCP_PORT))
        begin = last = time.monotonic()
        came, gap = 0, 0.0
        while last < begin + plan["seconds"] and (data := stream.recv(1 << 20)):
            now = time.monotonic()
            gap, last, came = max(gap, now - last if last > begin + 0.5 else 0.0), now, came + len(data)
    pinged.send_signal(signal.SIGINT)
    pinged.wait()
    result = {
        "members": len(plan["addresses"]), "iperf": {"end": {"sum_received": {"bits_per_second": came * 8 / (last - begin)}}},
        "idle_ms": round_trips(logs[0]), "loaded_ms": round_trips(logs[1]), "gap_s": gap, "again_s": None, "timeouts": None,
        "memory_mb": [0, 0],
    }
    json.dump(result, open(os.path.join(folder, "result.json"), "w"))


# The table.

def site(plan, end, names, keys):
    uplinks = "".join(f'[[uplink]]\nname = "{name}"\n' for name in names)
    places = ", ".join(f'{name} = "{plan["addresses"][name]}:5182"' for name in names)
    own, other, endpoint = (NEAR, FAR, f"endpoint = {{ {places} }}\n") if end == "near" else (FAR, NEAR, "")
    listen = "" if end == "near" else "listen = 5182\n"
    peer = "far" if end == "near" else "near"
    return (
        f'schema = 1\n[interface]\naddress = ["{own}/24"]\nprivate_key = "{end}.key"\n{listen}{uplinks}'
        f'[[peer]]\nname = "{peer}"\npublic_key = "{keys[peer]}"\nallowed = ["{other}/32"]\n{endpoint}'
    )


class NoResult(Exception):
    """The traffic did not come to its end; what there is to read of it."""


def run(options, name, tcp, direction, traffic, seed, alone=0):
    """One run; gives the result and whether the lab kept time. `alone`: the only link of traffic `single`."""
    every = links(name)
    used = every[alone:alone + 1] if traffic == "single" else every
    with tempfile.TemporaryDirectory(prefix=f"{name}-") as folder:
        keys = {}
        for end in ("near", "far"):
            key = subprocess.run([options.airbraid, "genkey"], capture_output=True, check=True).stdout
            path = os.path.join(folder, end + ".key")
            with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
                file.write(key)
            keys[end] = subprocess.run([options.airbraid, "pubkey"], input=key, capture_output=True, check=True).stdout.decode().strip()
        plan = {
            "folder": folder, "airbraid": os.path.abspath(options.airbraid), "seconds": options.seconds, "tcp": tcp,
            "direction": direction, "traffic": traffic, "seed": seed, "share": sum(rate for _, rate in used),
            "first": used[0][0], "rate": used[0][1],
            # Networks of a lab's links are numbered in their order.
            "addresses": {link: f"10.{number}.0.2" for number, (link, _) in enumerate(every, 1)},
        }
        for end in ("near", "far"):
            with open(os.path.join(folder, f"{os.path.basename(folder)}-{end}.toml"), "w") as file:
                file.write(site(plan, end, [link for link, _ in used], keys))
        place = os.path.join(folder, "plan.json")
        json.dump(plan, open(place, "w"))
        me, world = os.path.abspath(__file__), os.path.join(folder, "lab.toml")
        with open(world, "w") as file:
            file.write(scenario(name))
        lab = subprocess.run(
            [plan["airbraid"], "lab", world, "--seed", str(seed), "--json",
             "--name", os.path.basename(folder), "--duration", f"{options.seconds + 40} s",
             "--exec", f"far:5201=exec python3 {me} --end far {place}", "--exec", f"near=python3 {me} --end near {place}"],
            capture_output=True, text=True, check=False)
        try:
            result = json.load(open(os.path.join(folder, "result.json")))
        except OSError:
            logs = [open(os.path.join(folder, log)).read() for log in ("near.log", "far.log") if os.path.exists(os.path.join(folder, log))]
            raise NoResult(f"{name}: no result\n{lab.stderr}\n{lab.stdout[-3000:]}\n" + "\n".join(logs)) from None
        told = json.loads(lab.stdout or "{}")
        result["share"], result["lateness_ms"] = plan["share"], told["lateness_s"]["p999"] * 1e3
        return result


def jain(shares):
    """Jain's index of fairness: 1 where all are equal, 1/n where one has everything."""
    return sum(shares) ** 2 / max(len(shares) * sum(share * share for share in shares), 1e-9)


def summary(result, traffic):
    """The numbers of one run."""
    end = result["iperf"].get("end", {})
    row = {"members": result["members"], "gap_ms": result["gap_s"] * 1e3, "lateness_ms": result["lateness_ms"]}
    if traffic == "udp":
        got = end.get("sum", {})
        row["share"] = got.get("bits_per_second", 0) * (1 - got.get("lost_percent", 100) / 100) / result["share"]
        row["loss_percent"] = got.get("lost_percent")
        row["out_of_order"] = sum(stream["udp"].get("out_of_order", 0) for stream in end.get("streams", []))
    else:
        row["share"] = end.get("sum_received", {}).get("bits_per_second", 0) / result["share"]
        row["repetitions"] = end.get("sum_sent", {}).get("retransmits")
        row["timeouts"] = result["timeouts"]
    if traffic == "many":
        row["jain"] = jain([stream["receiver"]["bits_per_second"] for stream in end.get("streams", [])])
    if result["again_s"] is not None:
        row["again_ms"] = result["again_s"] * 1e3
    if traffic == "voice":
        sent, delays = result["voice"]
        row["voice_in_time"] = sum(delay <= LATE for delay in delays) / max(sent, 1)
        row["voice_ms"] = statistics.median(delays) * 1e3 if delays else None
    row["memory_mb"], row["memory_grown_mb"] = result["memory_mb"][1], result["memory_mb"][1] - result["memory_mb"][0]
    for key in ("idle_ms", "loaded_ms"):
        trips = sorted(result[key])
        row[key] = statistics.median(trips) if trips else None
    trips = sorted(result["loaded_ms"])
    row["p99_ms"] = trips[min(len(trips) - 1, int(len(trips) * 0.99))] if trips else None
    return row


def median(rows):
    """Of each number, over runs."""
    keys = [key for key in rows[0] if all(row.get(key) is not None for row in rows)]
    return {key: statistics.median(row[key] for row in rows) for key in keys}


def show(row, key, form):
    return form.format(row[key]) if row.get(key) is not None else "-"


def check_tools(options):
    """What is missing is said before anything is measured."""
    missing = [tool for tool in ("ping", "iperf3", "ip") if not shutil.which(tool)]
    if missing:
        sys.exit(f"not installed: {', '.join(missing)} (Debian: iputils-ping, iperf3, iproute2)")
    for option, words in {"traffic": LABELS, "direction": ("download", "upload")}.items():
        if unknown := [word for word in getattr(options, option).split(",") if word not in words]:
            sys.exit(f"--{option}: there is no {', '.join(unknown)}; it may be {', '.join(words)}")
    known = open("/proc/sys/net/ipv4/tcp_available_congestion_control").read().split()
    if "bbr" in options.tcp and "bbr" not in known and shutil.which("modprobe"):
        subprocess.run(["modprobe", "tcp_bbr"], check=False, capture_output=True)
        known = open("/proc/sys/net/ipv4/tcp_available_congestion_control").read().split()
    unknown = [tcp for tcp in options.tcp.split(",") if tcp not in known]
    if unknown:
        sys.exit(f"this kernel has no {', '.join(unknown)}; it has {', '.join(known)}")


def on_time(options, name, tcp, direction, traffic, seed, alone=0):
    """The numbers of one run in which the lab kept time, if there is one, and those of the runs in which it did not."""
    late = []
    for attempt in range(1, options.tries + 1):
        if sys.stderr.isatty():
            print(f"\r{name} {tcp} {direction} {traffic}, seed {seed}, try {attempt} ", end="", file=sys.stderr, flush=True)
        row = summary(run(options, name, tcp, direction, traffic, seed, alone), traffic)
        if options.late is None or row["lateness_ms"] <= options.late:
            return row, late
        late.append(row)
    return None, late


def share_of(options, name, tcp, traffic, seed, alone=0):
    """The share of the links' sum that one download gets, and the lab's lateness [ms]; the least late run where none was on time."""
    row, late = on_time(options, name, tcp, "download", traffic, seed, alone)
    row = row or min(late, key=lambda other: other["lateness_ms"])
    return row["share"], row["lateness_ms"]


def keep(options, kept, case):
    """Writes down all cases so far."""
    kept.append(case)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(kept, file, indent=1)


def twins(options, kept):
    """The daemon beside the simulator: mean of the share of the sum over the same seeds."""
    print("| scenario | TCP | daemon | simulator | daemon / simulator | lateness ms |\n|---|---|---|---|---|---|")
    for name, tcp in [(name, tcp) for name in options.only.split(",") if name != "s6" for tcp in options.tcp.split(",")]:
        live = [share_of(options, name, tcp, "tcp", seed) for seed in range(1, options.runs + 1)]
        command = [options.airbraid, "run", os.path.join(SCENARIOS, f"{name}.toml"), "--json",
                   "--set", f"run.replications={options.runs}", "--set", f'run.duration="{options.seconds} s"',
                   "--set", f"flow.download.transport.tcp={tcp}"]
        # Its exit status is that of the file's own expectations, which a shorter run need not meet.
        told = json.loads(subprocess.run(command, capture_output=True, text=True, check=False).stdout)
        goodput = told["cells"][0]["summary"]["flow.download.goodput_bps"]["mean"]
        simulated = goodput / sum(rate for _, rate in links(name))
        mean, late = statistics.mean(share for share, _ in live), max(late for _, late in live)
        keep(options, kept, {"scenario": name, "tcp": tcp, "live": live, "simulated": simulated})
        print(f"| {name} | {tcp} | {mean:.3f} | {simulated:.3f} | {mean / simulated:.3f} | {late:.2f} |", flush=True)


def sets(options, numbers, kept):
    """Random sets: the trunk beside the best of its links alone."""
    print("| set | trunk Mbit/s | of the best link alone | of the sum | lateness ms | links: Mbit/s |\n|---|---|---|---|---|---|")
    for number in numbers:
        name = f"set{number}"
        rates = [rate for _, rate in links(name)]
        share, late = share_of(options, name, "cubic", "tcp", 1)
        alone = []
        for link, rate in enumerate(rates):
            try:
                alone.append(share_of(options, name, "cubic", "single", 1, link)[0] * rate)
            except NoResult as why:
                # A lossy link alone may lose all that a session begins with: it carries nothing. The reason can be read.
                print(f"set {number}, link {link} alone: {why}", file=sys.stderr)
                alone.append(0.0)
        trunk = share * sum(rates)
        keep(options, kept, {"set": number, "trunk_bps": trunk, "alone_bps": alone, "rates_bps": rates, "lateness_ms": late})
        print(f"| {number} | {trunk / 1e6:.2f} | {trunk / max(*alone, 1.0):.3f} | {share:.3f} | {late:.2f} "
              f"| {', '.join(f'{rate / 1e6:.1f}' for rate in rates)} |", flush=True)


def beside_mptcp(options, kept):
    """The trunk and MPTCP over the same links: medians."""
    print("| links: Mbit/s | TCP | trunk: share of sum | MPTCP | trunk - MPTCP | ping loaded p50, trunk | MPTCP | gap ms, trunk | MPTCP | lateness ms |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name, tcp in [(name, tcp) for name in options.only.split(",") for tcp in options.tcp.split(",")]:
        both = []
        for traffic in ("tcp", "mptcp"):
            tried = [on_time(options, name, tcp, "download", traffic, seed) for seed in range(1, options.runs + 1)]
            both.append(median([row for row, _ in tried if row] or [row for _, rows in tried for row in rows]))
        trunk, other = both
        keep(options, kept, {"scenario": name, "tcp": tcp, "trunk": trunk, "mptcp": other})
        print(f"| {name}: {' + '.join(f'{rate / 1e6:.1f}' for _, rate in links(name))} | {tcp} | {trunk['share']:.3f} | {other['share']:.3f} "
              f"| {trunk['share'] - other['share']:+.3f} | {show(trunk, 'loaded_ms', '{:.1f}')} | {show(other, 'loaded_ms', '{:.1f}')} "
              f"| {trunk['gap_ms']:.0f} | {other['gap_ms']:.0f} | {max(trunk['lateness_ms'], other['lateness_ms']):.2f} |", flush=True)


# How a traffic is named in the table, with its TCP.
LABELS = {
    "tcp": "{}", "many": f"{MANY} {{}}", "udp": "udp at 90 %", "voice": "voice beside {}", "single": "{}, first link",
    "return": "{}, a link returns", "flap": "{}, links flap",
}
MORE = ("jain", "timeouts", "again_ms", "loss_percent", "out_of_order", "voice_in_time", "voice_ms", "memory_mb", "memory_grown_mb")


def table(options, kept):
    """A row for each scenario, traffic, TCP and direction: medians."""
    print("| scenario | traffic | direction | share of sum | repetitions | ping idle | loaded p50 | p99 ms | longest gap ms | lateness ms | more |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for traffic, name in [(traffic, name) for traffic in options.traffic.split(",") for name in options.only.split(",")]:
        for tcp in ["udp"] if traffic == "udp" else options.tcp.split(","):
            for direction in options.direction.split(","):
                tried = [on_time(options, name, tcp, direction, traffic, seed) for seed in range(1, options.runs + 1)]
                runs, late = [row for row, _ in tried if row], [row for _, rows in tried for row in rows]
                row = median(runs or late)
                keep(options, kept, {"scenario": name, "traffic": traffic, "tcp": tcp, "direction": direction, "median": row, "runs": runs, "late": late})
                more = [f"on time {len(runs)} of {len(runs) + len(late)}"] if late else []
                more += [f"{key} {show(row, key, '{:.3g}')}" for key in MORE if key in row and (traffic == "flap" or not key.startswith("memory"))]
                label = LABELS[traffic].format(tcp)
                print(f"| {name} | {label} | {direction} | {show(row, 'share', '{:.3f}')} | {show(row, 'repetitions', '{:.0f}')} "
                      f"| {show(row, 'idle_ms', '{:.1f}')} | {show(row, 'loaded_ms', '{:.1f}')} | {show(row, 'p99_ms', '{:.1f}')} "
                      f"| {show(row, 'gap_ms', '{:.0f}')} | {show(row, 'lateness_ms', '{:.2f}')} | {', '.join(more)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], epilog=__doc__.split("\n\n", 2)[2],
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--airbraid", default="target/release/airbraid", metavar="FILE", help="the command (%(default)s)")
    parser.add_argument("--seconds", type=int, default=30, help="of traffic in a run (%(default)s)")
    parser.add_argument("--runs", type=int, default=3, help="runs of each case, seeds from 1 on (%(default)s)")
    parser.add_argument("--only", default="s1,s2,s3,s4,s5,s6", metavar="LIST", help="scenarios (%(default)s)")
    parser.add_argument("--tcp", default="cubic,bbr", metavar="LIST", help="congestion controls (%(default)s)")
    parser.add_argument("--direction", default="download,upload", metavar="LIST", help="(%(default)s)")
    parser.add_argument("--traffic", default="tcp", metavar="LIST", help="tcp, many, udp, voice, single, return, flap (%(default)s)")
    parser.add_argument("--late", type=float, metavar="MS", help="runs in which the lab was later do not count (all count)")
    parser.add_argument("--tries", type=int, default=5, metavar="N", help="runs with one seed at most until one is on time (%(default)s)")
    parser.add_argument("--twin", action="store_true", help="the simulator beside the daemon")
    parser.add_argument("--sets", metavar="FIRST-LAST", help="random sets of links, such as 1-8")
    parser.add_argument("--mptcp", action="store_true", help="the kernel's MPTCP over the same links beside the daemon")
    parser.add_argument("--json", metavar="FILE", help="all numbers of all runs")
    parser.add_argument("--end", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.end:
        plan = json.load(open(options.end[1]))
        ends = {"near": mptcp_near, "far": mptcp_far} if plan["traffic"] == "mptcp" else {"near": near, "far": far}
        ends[options.end[0]](plan)
        return
    check_tools(options)
    kept = []
    if options.twin:
        twins(options, kept)
    elif options.sets:
        first, _, last = options.sets.partition("-")
        sets(options, range(int(first), int(last or first) + 1), kept)
    elif options.mptcp:
        beside_mptcp(options, kept)
    else:
        table(options, kept)


try:
    main()
except NoResult as why:
    sys.exit(str(why))
