#!/usr/bin/env python3
"""Time of runs with recordings, beside the same run without: by the clock, user time and system time [s], medians of
five. Files are written on a second thread: on a machine of one core the clock shows what the processor times add to.

    benches/recordings.py                    target/release/airbraid
    AIRBRAID=PATH benches/recordings.py      another binary
"""
import os, resource, statistics, subprocess, tempfile, time

CASES = [("trunk-of-three", 600), ("saturated-50", 100), ("chain-12", 2400)]
OPTIONS = ["", "--pcap", "--timeline", "--perfetto"]
REPETITIONS = 5


def times(arguments):
    """Time by the clock, user time and system time of a process [s]."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after, ended = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    return ended - begun, after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime


def run(airbraid, file, seconds, option):
    """The times of one run; its files are gone afterwards, and that is not counted."""
    with tempfile.TemporaryDirectory() as scratch:
        command = [airbraid, "run", file, "--duration", f"{seconds} s", "--replications", "1", "--jobs", "1"]
        return times([*command, "--out", os.path.join(scratch, "look"), *option.split()])


def main():
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    airbraid = os.environ.get("AIRBRAID", os.path.join(root, "target/release/airbraid"))
    print("scenario        option      clock    user  system  times the plain run: clock, user")
    for name, seconds in CASES:
        file = os.path.join(root, f"scenarios/bench/{name}.toml")
        # In turns: what else the machine does falls on all of them.
        taken = [[run(airbraid, file, seconds, option) for option in OPTIONS] for _ in range(REPETITIONS)]
        rows = [[statistics.median(part) for part in zip(*column)] for column in zip(*taken)]
        for option, (clock, user, system) in zip(OPTIONS, rows):
            ratios = f"{clock / rows[0][0]:.2f}  {user / rows[0][1]:.2f}"
            print(f"{name:15} {option or 'alone':11} {clock:5.2f} {user:7.2f} {system:7.2f}  {ratios}", flush=True)


main()
