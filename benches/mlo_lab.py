#!/usr/bin/env python3
"""Three radios as one, in real time: the kernel's MPTCP and the daemon's tunnel beside trunks and multi-link devices.

usage: benches/mlo_lab.py [--airbraid FILE] [--runs N] [--seconds N] [--only mptcp,tunnel] [--cases alone,crowded,lossy]

One TCP download (CUBIC) from the access point to the station of scenarios/mlo/comparison.toml, over its three radios
(80 MHz in 5 GHz, 80 MHz in 6 GHz, 20 MHz in 2.4 GHz), but with a lower MCS and shorter queues, so that two cores
carry it in real time. Ways:

  six          the radio of 6 GHz alone, which nothing disturbs
  wang         trunk of 2005: round robin, a packet a radio
  fifo, early  trunks above the MAC: 8 ms a radio in the order of arrival; earliest delivery
  str          multi-link device with a radio for each link
  mptcp        three associations, an interface each, and the kernel's MPTCP over them: two further subflows
  tunnel       the same three associations, `airbraid up` at both ends, and plain TCP through the tunnel

Cases: `alone`; `crowded`, where five older stations saturate the link of 5 GHz; `lossy`, where 10 % of the MPDUs are lost there.
Every way runs in the lab with the kernel's TCP; all but the last two in the simulator, too, on the same seeds. Settings of
trunks and cases are those of papers/mlo/figures.toml. The numbers: Mbit/s of TCP payload after the warm-up, mean and standard
deviation of the runs; the lab's largest lateness (of one event in a thousand) over the runs. A run that was later than
`--late` is done again, `--tries` times at most; if none was on time the least late counts and the row says so.
It needs root, as the lab does. `--json` has every run.
"""

import argparse
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCENARIO = os.path.join(ROOT, "scenarios", "mlo", "comparison.toml")
FIGURES = os.path.join(ROOT, "papers", "mlo", "figures.toml")
TRUNK = re.compile(r'^ *\{ name = "air", .*\n', re.MULTILINE)
CASES = {"alone": "alone", "crowded": "crowded", "lossy": "more_errors"}
NAMES = {
    "six": "the best radio alone (6 GHz)",
    "wang": "trunk of 2005, a packet a radio",
    "fifo": "trunk, `fifo`",
    "early": "trunk, `earliest_delivery`",
    "str": "multi-link (STR)",
    "mptcp": "MPTCP over three associations",
    "tunnel": "the daemon's tunnel over three associations",
}
# With attach = "radios": networks by channel, 1 in 2.4 GHz, 36 in 5 GHz, 37 in 6 GHz; the access point is the second node.
RADIOS = {"ch36": 2, "six": 3, "two": 1}
AP, STATION, TUNNEL_AP, TUNNEL_STATION = 1, 2, "10.77.0.2", "10.77.0.1"
PORT, TUNNEL_PORT = 5400, 5182
WAITS = 20.0  # [s] for a server, or for a tunnel's links, at most.
BUFFER = "4096 131072 67108864"  # More than rate times delay: the buffers are not the limit, as in the scenario.


# An end, inside its namespace.

def place(radio, node):
    """The address of a node's radio."""
    return f"10.{RADIOS[radio]}.0.{node}"


def stream_socket(way):
    """A TCP or MPTCP socket with CUBIC."""
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_MPTCP if way == "mptcp" else 0)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
    return made


def prepare(plan, node):
    """Buffers, MPTCP's path manager, or the daemon, which it returns."""
    for name in ("tcp_rmem", "tcp_wmem"):
        with open(f"/proc/sys/net/ipv4/{name}", "w") as file:
            file.write(BUFFER)
    if plan["way"] == "mptcp":
        subprocess.run(["ip", "mptcp", "limits", "set", "subflows", "8", "add_addr_accepted", "8"], check=True)
        if node == AP:
            for radio in list(RADIOS)[1:]:
                subprocess.run(["ip", "mptcp", "endpoint", "add", place(radio, AP), "dev", radio, "signal"], check=True)
    if plan["way"] == "tunnel":
        file = plan["ap" if node == AP else "station"]
        with open(file + ".log", "w") as log:
            # As the unit has it: it sleeps most of the time, and should be awake when a frame is due.
            return subprocess.Popen(["nice", "-n", "-10", plan["airbraid"], "up", file, "--foreground"], stdout=log, stderr=log)
    return None


def connect(plan, host, end):
    """A stream to the access point, as soon as there is one to have."""
    while True:
        stream = stream_socket(plan["way"])
        try:
            stream.settimeout(1.0)
            stream.connect((host, PORT))
            stream.settimeout(None)
            return stream
        except OSError:
            stream.close()
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


def source(plan):
    """The access point: sends what it can to who connects."""
    works = prepare(plan, AP)
    with stream_socket(plan["way"]) as ear:
        ear.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        ear.bind(("0.0.0.0", PORT))
        ear.listen()
        stream, _ = ear.accept()
        with stream:
            try:
                while True:
                    stream.sendall(bytes(1 << 17))
            except OSError:
                pass  # The other end has had enough.
    if works:
        works.terminate()
        works.wait()


def sink(plan):
    """The station: receives, and says what came after the warm-up."""
    end = time.monotonic() + WAITS
    works = prepare(plan, STATION)
    host = {"tunnel": TUNNEL_AP, "mptcp": place("ch36", AP)}.get(plan["way"], f"10.0.0.{AP}")
    while works and time.monotonic() < end:
        name = os.path.basename(plan["station"]).removesuffix(".toml")
        asked = subprocess.run([plan["airbraid"], "status", name, "--json"], capture_output=True, text=True, check=False)
        members = json.loads(asked.stdout)["peers"][0]["members"] if asked.returncode == 0 else []
        if sum(member["state"] == "active" for member in members) == len(RADIOS):
            break
        time.sleep(0.1)
    with connect(plan, host, end) as stream:
        begin, came, counted = time.monotonic() + plan["warm_up"], 0, None
        while (now := time.monotonic()) < begin + plan["seconds"]:
            if counted is None and now >= begin:
                counted = (now, came)
            data = stream.recv(1 << 17)
            if not data:
                break
            came += len(data)
        now = time.monotonic()
        since, before = counted or (now, came)
        print(json.dumps({"goodput": (came - before) * 8e-6 / max(now - since, 1e-9), "subflows": subflows(stream, plan["way"])}))
    if works:
        works.terminate()
        works.wait()


def subflows(stream, way):
    """The further subflows of an MPTCP stream: the first byte of `struct mptcp_info`."""
    return stream.getsockopt(284, 1, 4)[0] if way == "mptcp" else 0


# Outside.

def settings(options, way, case):
    """The `--set` words of a way and a case, by papers/mlo/figures.toml."""
    with open(FIGURES, "rb") as file:
        runs = {run["name"]: run for run in tomllib.load(file)["run"]}
    run = runs["tcp_" + (way if way in NAMES and way not in ("mptcp", "tunnel") else "str")]
    cell = next(cell for cell in run["cells"] if cell[0] == CASES[case])
    own = [] if way in ("mptcp", "tunnel") else [re.sub(r"queue=4000$", f"queue={options.queue}", word) for word in run["set"]]
    return [*own, *cell[1:], f"radio.mcs={options.mcs}", f"radio.queue={options.queue}"]


def simulated(options, way, case):
    """Goodput of each replication [Mbit/s]."""
    command = [options.airbraid, "run", SCENARIO, "--json", "--jobs", "1", "--seed", str(options.seed), "--replications", str(options.runs),
               "--duration", f"{options.warm_up + options.seconds} s", "--set", f'run.warm_up="{options.warm_up} s"', "--set", "expect={}"]
    for word in settings(options, way, case):
        command += ["--set", word]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not done.stdout:
        sys.exit(done.stderr)
    return [run["flows"][0]["goodput_bps"] / 1e6 for run in json.loads(done.stdout)["cells"][0]["runs"]]


def site(own, other, keys, folder):
    """A file of the daemon."""
    uplinks = "".join(f'[[uplink]]\nname = "{radio}"\n' for radio in RADIOS)
    places = ", ".join(f'{radio} = "{place(radio, AP)}:{TUNNEL_PORT}"' for radio in RADIOS)
    address = {"ap": TUNNEL_AP, "station": TUNNEL_STATION}
    listen, endpoint = (f"listen = {TUNNEL_PORT}\n", "") if own == "ap" else ("", f"endpoint = {{ {places} }}\n")
    return (f'schema = 1\n[interface]\naddress = ["{address[own]}/24"]\nprivate_key = "{os.path.join(folder, own)}.key"\n{listen}{uplinks}'
            f'[[peer]]\nname = "{other}"\npublic_key = "{keys[other]}"\nallowed = ["{address[other]}/32"]\n{endpoint}')


def write_sites(plan, folder):
    """Keys and files of both daemons."""
    keys = {}
    for end in ("ap", "station"):
        key = subprocess.run([plan["airbraid"], "genkey"], capture_output=True, check=True).stdout
        with open(os.open(os.path.join(folder, end + ".key"), os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
            file.write(key)
        keys[end] = subprocess.run([plan["airbraid"], "pubkey"], input=key, capture_output=True, check=True).stdout.decode().strip()
    for end, other in (("ap", "station"), ("station", "ap")):
        plan[end] = os.path.join(folder, f"{os.path.basename(folder)}-{end}.toml")
        with open(plan[end], "w") as file:
            file.write(site(end, other, keys, folder))


def lab(options, way, case, seed):
    """One run in the lab: goodput [Mbit/s], lateness [ms], further subflows, bytes that came by each interface."""
    with tempfile.TemporaryDirectory(prefix=f"mlo-{way}-") as folder, open(SCENARIO) as file:
        text = file.read()
        plan = {"way": way, "airbraid": os.path.abspath(options.airbraid), "warm_up": options.warm_up, "seconds": options.seconds}
        attach = "trunk"
        if way in ("mptcp", "tunnel"):
            attach, text = "radios", TRUNK.sub("", text)
        if way == "tunnel":
            write_sites(plan, folder)
        world, orders = os.path.join(folder, "lab.toml"), os.path.join(folder, "plan.json")
        with open(world, "w") as file:
            file.write(text)
        with open(orders, "w") as file:
            json.dump(plan, file)
        me = os.path.abspath(__file__)
        command = [plan["airbraid"], "lab", world, "--seed", str(seed), "--json", "--name", os.path.basename(folder),
                   "--duration", f"{options.warm_up + options.seconds + WAITS} s",
                   "--exec", f"ap=exec python3 {me} --end source {orders}", "--exec", f"station=exec python3 {me} --end sink {orders}"]
        for node in ("ap", "station"):
            command += ["--set", f'node.{node}.host="namespace"', "--set", f'node.{node}.attach="{attach}"']
        for word in settings(options, way, case):
            command += ["--set", word]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        try:
            told = json.loads(done.stdout)
            said = json.loads(next(one["stdout"] for one in told["commands"] if one["node"] == "station"))
        except ValueError:
            logs = [open(os.path.join(folder, log)).read() for log in os.listdir(folder) if log.endswith(".log")]
            sys.exit(f"{way}, {case}, seed {seed}: no result\n{done.stderr}\n{done.stdout[-3000:]}\n" + "\n".join(logs))
        came = {one["name"]: one["received_bytes"] for one in told["interfaces"] if one["node"] == "station"}
        return {"seed": seed, "goodput": said["goodput"], "subflows": said["subflows"], "late_ms": told["lateness_s"]["p999"] * 1e3,
                "received_bytes": came}


def on_time(options, way, case, seed):
    """A run in which the lab kept time, or the least late."""
    tried = []
    for _ in range(options.tries):
        tried.append(lab(options, way, case, seed))
        if tried[-1]["late_ms"] <= options.late:
            break
    return min(tried, key=lambda run: run["late_ms"])


def show(values):
    """Mean and standard deviation."""
    return f"{statistics.mean(values):.1f} ± {statistics.stdev(values) if len(values) > 1 else 0.0:.1f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], epilog=__doc__.split("\n\n", 2)[2],
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--airbraid", default="target/release/airbraid", metavar="FILE", help="the command (%(default)s)")
    parser.add_argument("--runs", type=int, default=3, help="of each way in each case (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the first run (%(default)s)")
    parser.add_argument("--seconds", type=int, default=8, help="that count (%(default)s)")
    parser.add_argument("--warm-up", type=int, default=2, metavar="SECONDS", help="that do not (%(default)s)")
    parser.add_argument("--mcs", type=int, default=2, help="of all radios (%(default)s: some 200 Mbit/s for TCP)")
    parser.add_argument("--queue", type=int, default=1000, metavar="PACKETS", help="before each radio, device or trunk (%(default)s)")
    parser.add_argument("--only", default=",".join(NAMES), metavar="LIST", help="ways (%(default)s)")
    parser.add_argument("--cases", default=",".join(CASES), metavar="LIST", help="(%(default)s)")
    parser.add_argument("--late", type=float, default=1.0, metavar="MS", help="lateness that is on time (%(default)s)")
    parser.add_argument("--tries", type=int, default=3, metavar="N", help="runs until one is on time (%(default)s)")
    parser.add_argument("--json", metavar="FILE", help="every run")
    parser.add_argument("--end", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.end:
        with open(options.end[1]) as file:
            {"source": source, "sink": sink}[options.end[0]](json.load(file))
        return
    ways, cases = options.only.split(","), options.cases.split(",")
    for word, known in [*((way, NAMES) for way in ways), *((case, CASES) for case in cases)]:
        if word not in known:
            parser.error(f"{word}: one of {', '.join(known)}")
    if os.geteuid() != 0:
        parser.error("a lab makes network namespaces, and that takes root: run it by sudo")
    kept = []
    print("| case | way | simulated, Mbit/s | in the lab, Mbit/s | late, ms |\n|---|---|---|---|---|")
    for case in cases:
        for way in ways:
            ours = simulated(options, way, case) if way not in ("mptcp", "tunnel") else []
            real = [on_time(options, way, case, options.seed + run) for run in range(options.runs)]
            kept.append({"case": case, "way": way, "simulated": ours, "lab": real})
            late = max(run["late_ms"] for run in real)
            mark = "" if late <= options.late else f", on time {sum(run['late_ms'] <= options.late for run in real)} of {len(real)}"
            print(f"| {case} | {NAMES[way]} | {show(ours) if ours else '-'} | {show([run['goodput'] for run in real])} | {late:.2f}{mark} |", flush=True)
            if options.json:
                with open(options.json, "w") as file:
                    json.dump(kept, file, indent=1)
    by_way(kept, ways, cases)


def by_way(kept, ways, cases):
    """The same in a line for each way."""
    found = {(one["case"], one["way"]): one for one in kept}
    print(f"\n| | {' | '.join(f'{case}, simulated | in the lab' for case in cases)} |\n" + "|---" * (2 * len(cases) + 1) + "|")
    for way in ways:
        cells = []
        for case in cases:
            ours, real = found[case, way]["simulated"], [run["goodput"] for run in found[case, way]["lab"]]
            cells += [show(ours) if ours else "-", show(real)]
        print(f"| {NAMES[way]} | {' | '.join(cells)} |")


main()
