#!/usr/bin/env python3
"""Instructions of a run by layer: which part of the simulator an event, and an exchange of frames, costs what.

    benches/layers.py                      the table
    benches/layers.py --svg FILE           and as a picture
    benches/layers.py --only c --files 15  of one work, with the 15 source files that cost most
    AIRBRAID=PATH benches/layers.py        another binary than target/release/airbraid; it needs line tables

Each work runs twice under callgrind, for a shorter and a longer time: the difference has no start and no end in it.
Instructions belong to the source file of their line, also where a function was inlined into another; those of the
standard library to the file that it was inlined into. An exchange is a data frame of a radio with all that it entails:
contention, acknowledgement, what every other radio makes of it, the layers above. Calls of malloc, realloc and memcpy are
counted; those that were inlined away are not.
"""
import argparse, collections, json, os, re, subprocess, sys, tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import chart  # noqa: E402

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
AIRBRAID = os.environ.get("AIRBRAID", os.path.join(ROOT, "target/release/airbraid"))
# The works of benches/peers.sh, and two more: label, scenario, shorter and longer time [s].
WORKS = [
    ("a", "two nodes, TCP", "scenarios/bench/two-nodes-tcp.toml", 2, 12),
    ("b", "trunk of three", "scenarios/bench/trunk-of-three.toml", 2, 8),
    ("c", "50 saturated", "scenarios/bench/saturated-50.toml", 1, 3),
    ("d", "chain of 12", "scenarios/bench/chain-12.toml", 5, 35),
    ("e", "two nodes, 1 Mbit/s", "scenarios/bench/two-nodes-1mbps.toml", 5, 45),
    ("f", "802.11ax, A-MPDUs", "scenarios/wifi/saturated.toml", 1, 2),
]
# Layers, and the source files that belong to each: the first that fits.
LAYERS = [
    ("heap", r"malloc\.c|malloc/|/alloc/src/alloc\.rs|arena\.c|__rust_"),
    ("copies", r"memmove|memcpy|memset|strings?/\.\./sysdeps"),
    ("random numbers", r"engine/src/(stream|random)|xoshiro|rand_core"),
    ("kernel, timers", r"sim/src/(queue|timers|run)\.rs|world/(wakeups|mod|change|course)\.rs|engine/src/machine"),
    ("medium", r"world/(medium|air|killers|slotted)|sim/src/phy"),
    ("MAC", r"crates/mac|world/(port/(radio|mac|multi_link|mod|free_space|snr|delivery_loss)|device|frame)"),
    ("trunk, links", r"engine/src|world/port"),
    ("network, TCP", r"crates/net|world/(flow|flows|greedy|walk|routing|network|aodv|resolution|multihomed)\.rs"),
    ("world, records", r"crates/(sim|units|campaign|cli)"),
]
OTHER = "the rest"
STANDARD = re.compile(r"/library/(core|alloc|std)|/rustc/|^core/|^alloc/|^std/")
CALLS = ("malloc", "realloc", "memcpy")


def bare(path):
    """A path without the directories before the crate."""
    return re.sub(r".*/(?=crates/|src/)", "", path)


def layer_of(path):
    return next((name for name, pattern in LAYERS if re.search(pattern, path)), OTHER)


class Profile:
    """Self instructions by source file, and calls by function, of one file of callgrind."""

    def __init__(self, path):
        self.files, self.calls, names = collections.Counter(), collections.Counter(), {}

        def name(kind, text):
            number, _, rest = text.partition(" ")
            if rest:
                names[kind, number] = rest
            return names.get((kind, number), text)

        own = inner = ""
        is_call = False
        for line in open(path, errors="replace"):
            key, _, value = line.strip().partition("=")
            if key == "fl":
                own = inner = name("file", value)
            elif key in ("fi", "fe"):
                inner = name("file", value)
            elif key in ("fn", "cfn"):
                called = name("function", value)
            elif key in ("cfi", "cfl"):
                name("file", value)
            elif key == "ob" or key == "cob":
                pass
            elif key == "calls":
                is_call = True
                self.count(called, int(value.split()[0]))
            elif line[:1].isdigit() or line[:1] in "+-*":
                if not is_call:
                    self.files[own if STANDARD.search(inner) else inner] += int(line.split()[1])
                is_call = False

    def count(self, function, calls):
        bare = function.split("'")[0].split("@")[0]
        for kind in CALLS:
            if bare == kind or (kind == "memcpy" and re.match(r"_*mem(cpy|move)", bare)):
                self.calls[kind] += calls


def profile(scenario, seconds, scratch):
    out = os.path.join(scratch, "callgrind")
    command = [AIRBRAID, "run", scenario, "--duration", f"{seconds} s", "--set", "run.warm_up=0 s", "--replications", "1", "--jobs", "1", "--json"]
    valgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}"]
    done = subprocess.run([*valgrind, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    if done.returncode:
        sys.exit(f"error: {' '.join(command)}: {done.stderr[-500:]}")
    run = json.loads(done.stdout)["cells"][0]["runs"][0]
    frames = sum(mac["data_frames"] for mac in run["macs"])
    return Profile(out), run["events"], frames


def measure(scenario, shorter, longer):
    """Instructions by file, calls, events and exchanges of the time between."""
    with tempfile.TemporaryDirectory() as scratch:
        (first, events, frames), (second, more_events, more_frames) = (
            profile(scenario, seconds, scratch) for seconds in (shorter, longer)
        )
    files, calls = second.files.copy(), second.calls.copy()
    files.subtract(first.files)
    calls.subtract(first.calls)
    return files, calls, more_events - events, more_frames - frames


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--svg", metavar="FILE", help="draw the table as bars")
    parser.add_argument("--only", metavar="LETTERS", default="".join(work[0] for work in WORKS), help="these works")
    parser.add_argument("--files", type=int, default=0, metavar="N", help="the N source files that cost most, of each")
    arguments = parser.parse_args()
    works = [work for work in WORKS if work[0] in arguments.only]
    if not works:
        parser.error(f"--only takes some of {''.join(work[0] for work in WORKS)}")
    columns = []
    for letter, label, scenario, shorter, longer in works:
        files, calls, events, frames = measure(scenario, shorter, longer)
        layers = collections.Counter()
        for path, count in files.items():
            layers[layer_of(path)] += count
        columns.append((letter, label, layers, calls, events, frames))
        for path, count in files.most_common(arguments.files):
            print(f"{letter} {count / frames:9.1f} {layer_of(path):15} {bare(path)}", flush=True)
    show(columns)
    if arguments.svg:
        draw(columns, arguments.svg)


def show(columns):
    print("\n| instructions an exchange | " + " | ".join(f"({letter}) {label}" for letter, label, *_ in columns) + " |")
    print("|---" * (len(columns) + 1) + "|")
    for name in [name for name, _ in LAYERS] + [OTHER]:
        print(f"| {name} | " + " | ".join(f"{one[2][name] / one[5]:.0f}" for one in columns) + " |")
    whole = [sum(one[2].values()) for one in columns]
    print("| **all** | " + " | ".join(f"**{all / one[5]:.0f}**" for all, one in zip(whole, columns)) + " |")
    print("| an event | " + " | ".join(f"{all / one[4]:.0f}" for all, one in zip(whole, columns)) + " |")
    print("| events an exchange | " + " | ".join(f"{one[4] / one[5]:.1f}" for one in columns) + " |")
    for kind in CALLS:
        print(f"| calls of {kind} an exchange | " + " | ".join(f"{one[3][kind] / one[5]:.2f}" for one in columns) + " |")


def draw(columns, path):
    names = [name for name, _ in LAYERS] + [OTHER]
    bars = [(f"({letter}) {label}", [layers[name] / frames for name in names]) for letter, label, layers, _, _, frames in columns]
    chart.bars(path, "Instructions an exchange of frames by layer: shares, and the sum", names, bars)


if __name__ == "__main__":
    main()
