"""What campaigns from Python cost, and what they survive. usage: AIRBRAID=target/release/airbraid benches/python.py [PART]...

PART: dask (1,000 runs on a local cluster of four worker processes, one of which is killed in the middle), overhead (executors
beside the command's --jobs, runs of 0.2 s and longer), memory (10,000 runs in one process).
"""

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import Executor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "crates/py/tests"))

import airbraid as nm  # noqa: E402
import doing  # noqa: E402

FILE = ROOT / "scenarios/examples/three_channels.toml"
ONE_CELL = {"trunk.air.members": ["ch1", "ch5", "ch9"]}


def dask() -> None:
    """1,000 runs; the notes of the workers say what was begun, the coordinator when each result came."""
    import distributed

    base = nm.Scenario.load(FILE).with_(ONE_CELL | {"run.duration": "5 s"})
    campaign = nm.Campaign(base, {"radio.rate": ["2 Mbit/s", "11 Mbit/s"]}, seeds=range(500))
    killed: list[int] = []
    with (
        tempfile.TemporaryDirectory() as name,
        distributed.LocalCluster(n_workers=4, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        directory = Path(name)
        executor = doing.Instead(client.get_executor(), doing.note, directory)

        def told(done: int, total: int) -> None:
            if not killed and done >= total // 2:
                killed.append(next(iter(client.run(os.getpid).values())))
                os.kill(killed[0], signal.SIGKILL)

        begun = time.monotonic()
        runs = campaign.run(executor, store=directory / "store", progress=told)
        took = time.monotonic() - begun
        frame = runs.frame()
        notes = doing.notes(directory)
        again = [1 for at, seed, said, _ in notes if at > executor.came.get((seed, said), at)]
        processes = len({pid for *_, pid in notes})
        print(f"dask: {len(campaign)} runs on 4 workers, process {killed[0]} killed at {campaign.__len__() // 2}: {took:.1f} s")
        print(f"  in the frame {frame.height}, distinct {frame['run_id'].n_unique()}, processes that worked {processes}")
        print(f"  begun {len(notes)}; begun after their result had come: {len(again)}")


def overhead() -> None:
    """The same runs by the command and by executors, in turn, twice; the better of each."""
    base = nm.Scenario.load(FILE).with_(ONE_CELL | {"run.duration": "60 s", "run.replications": 40})
    seconds = base.run(1).result["wall_s"]
    cores = len(os.sched_getaffinity(0))
    print(f"overhead: 40 runs of {seconds:.2f} s alone, {cores} at a time; seconds in all, processor seconds in runs")
    command = [os.environ["AIRBRAID"], "run", str(FILE), "--json", "--jobs", str(cores)]
    command += [f"--set=trunk.air.members={json.dumps(ONE_CELL['trunk.air.members'])}"]
    command += ["--duration", "60 s", "--replications", "40"]
    best: dict[str, float] = {}
    for _ in range(2):
        begun = time.monotonic()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        best["command"] = min(best.get("command", 1e9), time.monotonic() - begun)
        begun = time.monotonic()
        nm.Campaign(base).run(workers=cores)
        best["workers"] = min(best.get("workers", 1e9), time.monotonic() - begun)
        best["dask"] = min(best.get("dask", 1e9), _on_dask(base, cores))
    for name, took in best.items():
        print(f"  {name:8} {took:7.2f} s  {took / best['command'] - 1:+.1%}")


def _on_dask(base: nm.Scenario, workers: int) -> float:
    import distributed

    with (
        distributed.LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        executor: Executor = client.get_executor()
        executor.submit(len, "").result()
        begun = time.monotonic()
        nm.Campaign(base).run(executor)
        return time.monotonic() - begun


def memory() -> None:
    """10,000 runs, one after the other: what the process holds after each thousand."""
    base = nm.Scenario.load(FILE).with_(ONE_CELL | {"run.duration": "200 ms", "run.warm_up": "0 s"})
    print("memory: resident after each 1,000 of 10,000 runs [MB]")
    held = []
    for number in range(10_000):
        _ = base.run(number).metrics
        if number % 1000 == 999:
            held.append(int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6)
    print("  " + " ".join(f"{mb:.1f}" for mb in held), f"; growth after the first thousand {held[-1] - held[0]:+.1f} MB")


if __name__ == "__main__":
    for part in sys.argv[1:] or ["dask", "overhead", "memory"]:
        {"dask": dask, "overhead": overhead, "memory": memory}[part]()
