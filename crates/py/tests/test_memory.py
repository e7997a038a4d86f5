"""Memory does not grow with the number of runs: the small version of `make bench-python`."""

import gc
from pathlib import Path

import airbraid as ab


def resident_mb() -> float:
    """What the process holds [MB]."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1e3


def test_runs_leave_nothing_behind(short: ab.Scenario) -> None:
    tiny = short.with_({"run.duration": "100 ms"})

    def some(count: int) -> float:
        for seed in range(count):
            _ = tiny.run(seed, timeline=True).metrics
        gc.collect()
        return resident_mb()

    before = some(200)
    assert some(600) - before < 4, "a run holds 0.1 MB and more while it lasts"
