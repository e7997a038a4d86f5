#!/usr/bin/env python3
"""Processor time of runs with recordings, beside the same run without: user time and system time [s], medians of three.

    benches/recordings.py                    target/release/airbraid
    AIRBRAID=PATH benches/recordings.py      another binary
"""
import os, resource, statistics, subprocess, tempfile

CASES = [("trunk-of-three", 600), ("saturated-50", 100), ("chain-12", 600)]
OPTIONS = ["", "--pcap", "--timeline", "--perfetto"]
REPETITIONS = 3


def times(arguments):
    """User and system time of a process [s]."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime


def main():
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    airbraid = os.environ.get("AIRBRAID", os.path.join(root, "target/release/airbraid"))
    print("scenario        option       user  system  user, times the plain run's")
    for name, seconds in CASES:
        file = os.path.join(root, f"scenarios/bench/{name}.toml")
        for option in OPTIONS:
            with tempfile.TemporaryDirectory() as scratch:
                run = [airbraid, "run", file, "--duration", f"{seconds} s", "--replications", "1", "--jobs", "1"]
                run += ["--out", os.path.join(scratch, "look"), *option.split()]
                taken = [times(run) for _ in range(REPETITIONS)]
            user, system = (statistics.median(part) for part in zip(*taken))
            plain = user if not option else plain
            print(f"{name:15} {option or 'alone':11} {user:6.2f} {system:7.2f}  {user / plain:.1f}", flush=True)


main()
