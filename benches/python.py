"""What campaigns from Python cost and survive. usage: AIRBRAID=target/release/airbraid benches/python.py [PART[=RUNS]]...

PART: dask (1,000 runs on a local cluster of four worker processes, one of them killed in the middle), overhead (executors
beside the command's --jobs, runs of 0.2 s), memory (10,000 runs in one process).
"""

import json
import os
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "crates/py/tests"))

import airbraid as ab  # noqa: E402
import doing  # noqa: E402

FILE = ROOT / "scenarios/examples/three_channels.toml"
ONE_CELL = {"trunk.air.members": ["ch1", "ch5", "ch9"]}
# What a run is to take at least for the executor's share to be small [s of processor].
RUN_S = 0.2
ROUNDS = 3
# What Dask looks at less often: its event loops (50 times a second each), the memory of workers, whose work could be another's.
QUIET: dict[str, object] = {
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.worker.profile.enabled": False,
}


def dask(count: int = 1_000) -> None:
    """1,000 runs; the notes of the workers say what was begun, the coordinator when each result came."""
    import distributed

    base = ab.Scenario.load(FILE).with_(ONE_CELL | {"run.duration": "2 s"})
    campaign = ab.Campaign(base, {"radio.rate": ["2 Mbit/s", "11 Mbit/s"]}, seeds=range(count // 2))
    killed: list[int] = []
    killed_at: list[int] = []
    with (
        tempfile.TemporaryDirectory() as name,
        distributed.LocalCluster(n_workers=4, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        directory = Path(name)
        executor = doing.Instead(client.get_executor(), doing.note, directory)

        def told(done: int, total: int) -> None:
            if not killed and done >= total // 2:
                killed_at.append(done)
                killed.append(next(iter(client.run(os.getpid).values())))
                os.kill(killed[0], signal.SIGKILL)
                killed_at.append(time.monotonic_ns())

        begun = time.monotonic()
        runs = campaign.run(executor, store=directory / "store", progress=told, in_flight=8)
        took = time.monotonic() - begun
        frame = runs.frame()
        notes = doing.notes(directory)
        again = [came for at, seed, said, _ in notes if at > (came := executor.came.get((seed, said), at))]
        before_s = [(killed_at[1] - came) / 1e9 for came in again]
        processes = len({pid for *_, pid in notes})
        print(f"dask: {len(campaign)} runs on 4 workers, process {killed[0]} killed after {killed_at[0]}: {took:.1f} s")
        print(f"  in the frame {frame.height}, distinct {frame['run_id'].n_unique()}, processes that worked {processes}")
        print(f"  begun {len(notes)}; begun after their result had come: {len(again)}", end="")
        print(f", which was at most {max(before_s):.2f} s before the death" if before_s else "")


def overhead(count: int = 100) -> None:
    """As many runs of 0.2 s by the command and by executors, in turn, each time another first; no cluster's start is counted.

    A way's cost is the time by the clock on all cores for each second of processor that its runs took: so a processor whose
    speed changes while it is measured changes both. Beside it the plain clock. Of both the median of the rounds' ratios."""
    base, took_s = _taking(RUN_S, count)
    cores = len(os.sched_getaffinity(0))
    print(f"overhead: {count} runs of {took_s:.3f} s of processor, {cores} at a time, {ROUNDS} rounds; beside the command's --jobs")
    ways: dict[str, Callable[[], Took]] = {
        "command": lambda: _by_command(base, cores),
        "workers": lambda: _by_workers(base, cores),
        "dask": lambda: _on_dask(base, cores, {}),
        "dask, quiet": lambda: _on_dask(base, cores, QUIET),
    }
    rounds: list[dict[str, Took]] = []
    for number in range(ROUNDS):
        names = list(ways)[number % len(ways) :] + list(ways)[: number % len(ways)]
        rounds.append({name: ways[name]() for name in names})
    for name in ways:
        cost = [round[name].cost / round["command"].cost - 1 for round in rounds]
        clock = statistics.median(round[name].clock_s / round["command"].clock_s - 1 for round in rounds)
        own_s = statistics.median(round[name].clock_s * cores - round[name].runs_s for round in rounds) / count
        run_s = statistics.median(round[name].runs_s for round in rounds) / count
        print(f"  {name:12} {statistics.median(cost):+6.1%} (rounds {' '.join(f'{one:+.1%}' for one in cost)}), by the clock {clock:+.1%};", end="")
        print(f" a run {run_s * 1e3:.0f} ms of processor and {own_s * 1e3:.1f} ms of what is around it")


class Took(NamedTuple):
    """What a way took: by the clock, and its runs of processor."""

    clock_s: float
    runs_s: float

    @property
    def cost(self) -> float:
        """Seconds by the clock for each of processor."""
        return self.clock_s / self.runs_s


def _taking(seconds: float, count: int) -> tuple[ab.Scenario, float]:
    """The scenario for so long that one of its runs takes `seconds` of processor, and what it took."""
    base = ab.Scenario.load(FILE).with_(ONE_CELL | {"run.replications": count})
    simulated_s = 60.0
    for _ in range(3):
        base = base.with_({"run.duration": f"{simulated_s:.1f} s"})
        took_s = statistics.median(base.run(seed).result["cpu_s"] for seed in range(1, 6))
        simulated_s *= seconds / took_s
    return base, took_s


def _by_command(base: ab.Scenario, cores: int) -> Took:
    command = [os.environ["AIRBRAID"], "run", str(FILE), "--json", "--jobs", str(cores)]
    command += [f"--set={said}" for said in base._core.said]
    begun = time.monotonic()
    answer = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    clock_s = time.monotonic() - begun
    return Took(clock_s, sum(run["cpu_s"] for cell in json.loads(answer)["cells"] for run in cell["runs"]))


def _by_workers(base: ab.Scenario, cores: int) -> Took:
    with tempfile.TemporaryDirectory() as directory:
        begun = time.monotonic()
        with ab.Workers(cores) as workers:
            ab.Campaign(base).run(doing.Instead(workers, doing.timed, Path(directory)))
        return Took(time.monotonic() - begun, doing.processor_s(Path(directory)))


def _on_dask(base: ab.Scenario, cores: int, settings: dict[str, object]) -> Took:
    """On a cluster that is there and whose workers have had something to do."""
    import dask
    import distributed

    with (
        tempfile.TemporaryDirectory() as directory,
        dask.config.set(settings),
        distributed.LocalCluster(n_workers=cores, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        executor = client.get_executor()
        executor.submit(len, "").result()
        begun = time.monotonic()
        ab.Campaign(base).run(doing.Instead(executor, doing.timed, Path(directory)))
        return Took(time.monotonic() - begun, doing.processor_s(Path(directory)))


def memory(count: int = 10_000) -> None:
    """10,000 runs, one after the other: what the process holds after each thousand."""
    base = ab.Scenario.load(FILE).with_(ONE_CELL | {"run.duration": "200 ms", "run.warm_up": "0 s"})
    print(f"memory: resident after each tenth of {count} runs [MB]")
    held = []
    for number in range(count):
        _ = base.run(number).metrics
        if (number + 1) % (count // 10) == 0:
            held.append(int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6)
    print("  " + " ".join(f"{mb:.1f}" for mb in held), f"; growth after the first tenth {held[-1] - held[0]:+.1f} MB")


if __name__ == "__main__":
    for part in sys.argv[1:] or ["dask", "overhead", "memory"]:
        name, _, runs = part.partition("=")
        do = {"dask": dask, "overhead": overhead, "memory": memory}[name]
        do(int(runs)) if runs else do()
