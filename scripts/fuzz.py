#!/usr/bin/env python3
"""Tries every reader of outside bytes with random inputs, and prints how many, for how long, and what was found.

The targets are the tests of `fuzz/`. Each gets the same time, so cheap ones get more inputs, up to a share. What was tried is kept in a file: a run
that was stopped goes on where it was. Seeds count up, so a finding can be repeated; its output is kept beside the file.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
#: So long a target runs before the next has its turn [s].
TURN = 4.0
#: No target gets more of all inputs: a cheap one alone could have all of them.
SHARE = 0.08
#: And none has less than this of all inputs, however long it takes.
LEAST = 0.002
#: Inputs of a target's first turn, by which it is measured.
FIRST = 2000


def targets():
    """The executables of the fuzz targets, by their names."""
    build = ["cargo", "test", "--profile", "fuzz", "--locked", "-p", "airbraid-fuzz", "--no-run", "--message-format=json"]
    made = subprocess.run(build, cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True).stdout
    found = {}
    for line in made.splitlines():
        message = json.loads(line)
        if message.get("executable") and message["target"]["kind"] == ["test"]:
            listed = subprocess.run(
                [message["executable"], "--list", "--format", "terse"], stdout=subprocess.PIPE, check=True, text=True
            )
            for test in listed.stdout.splitlines():
                name = test.removesuffix(": test")
                found[name] = (message["executable"], name)
    return dict(sorted(found.items()))


def run(executable, test, inputs, seed):
    """Tries inputs; gives the time that it took [s], and what was said if something was found."""
    environment = os.environ | {"BOLERO_RANDOM_ITERATIONS": str(inputs), "BOLERO_RANDOM_SEED": str(seed)}
    began = time.monotonic()
    done = subprocess.run(
        [executable, "--exact", test, "--nocapture", "--test-threads", "1"],
        cwd=ROOT / "fuzz",
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    return time.monotonic() - began, None if done.returncode == 0 else done.stdout


def table(kept):
    """What was tried, as a table for the terminal and for docs/security.md."""
    lines = ["| target | inputs | seconds | findings |", "|---|---:|---:|---:|"]
    for name, one in kept.items():
        lines.append(f"| `{name}` | {one['inputs']:,} | {one['seconds']:.0f} | {one['findings']} |")
    total = {key: sum(one[key] for one in kept.values()) for key in ("inputs", "seconds", "findings")}
    lines.append(f"| together | {total['inputs']:,} | {total['seconds']:.0f} | {total['findings']} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=float, default=1e7, help="in all, those of earlier runs counted (1e7)")
    parser.add_argument("--seconds", type=float, default=3600, help="stop after so long (3600)")
    parser.add_argument("--only", action="append", default=[], help="targets whose names contain this")
    parser.add_argument("--kept", type=pathlib.Path, default=ROOT / "out/fuzz/tried.json", help="what was tried")
    parser.add_argument("--fresh", action="store_true", help="forget what was tried before")
    arguments = parser.parse_args()

    all_targets = {
        name: found for name, found in targets().items() if all(part in name for part in arguments.only)
    }
    if not all_targets:
        sys.exit(f"no target is called {' '.join(arguments.only)}")
    arguments.kept.parent.mkdir(parents=True, exist_ok=True)
    kept = {}
    if arguments.kept.exists() and not arguments.fresh:
        kept = json.loads(arguments.kept.read_text())
    for name in all_targets:
        kept.setdefault(name, {"inputs": 0, "seconds": 0.0, "findings": 0, "turns": 0, "rate": 0.0})

    began = time.monotonic()
    try:
        while True:
            least, most = LEAST * arguments.inputs, SHARE * arguments.inputs
            behind = [name for name in all_targets if kept[name]["inputs"] < least]
            if not behind and sum(one["inputs"] for one in kept.values()) >= arguments.inputs:
                break
            waiting = behind or [name for name in all_targets if kept[name]["inputs"] < most] or all_targets
            name = min(waiting, key=lambda name: kept[name]["seconds"])
            if time.monotonic() - began > arguments.seconds:
                break
            one = kept[name]
            inputs = max(FIRST, min(int(one["rate"] * TURN), int(most) - one["inputs"]))
            seed = one["turns"] + 1
            seconds, said = run(*all_targets[name], inputs, seed)
            one["turns"] += 1
            one["seconds"] += seconds
            if said is None:
                one["inputs"] += inputs
                one["rate"] = inputs / seconds
            else:
                one["findings"] += 1
                (arguments.kept.parent / f"{name.replace('::', '-')}-{seed}.txt").write_bytes(said)
                print(f"{name}: a finding; BOLERO_RANDOM_SEED={seed} BOLERO_RANDOM_ITERATIONS={inputs}", file=sys.stderr)
            arguments.kept.write_text(json.dumps(kept, indent=1))
    except KeyboardInterrupt:
        print("stopped; the next run goes on here", file=sys.stderr)
    print(table(kept))
    sys.exit(1 if any(kept[name]["findings"] for name in all_targets) else 0)


if __name__ == "__main__":
    main()
