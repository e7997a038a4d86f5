"""What campaigns from Python cost and survive. usage: AIRBRAID=target/release/airbraid benches/python.py [PART[=RUNS]]...

PART: dask (1,000 runs on a local cluster of four worker processes, one of them killed in the middle), overhead (executors
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


def dask(count: int = 1_000) -> None:
    """1,000 runs; the notes of the workers say what was begun, the coordinator when each result came."""
    import distributed

    base = nm.Scenario.load(FILE).with_(ONE_CELL | {"run.duration": "2 s"})
    campaign = nm.Campaign(base, {"radio.rate": ["2 Mbit/s", "11 Mbit/s"]}, seeds=range(count // 2))
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


def overhead(count: int = 40) -> None:
    """The same runs by the command and by executors, in turn, twice; the better of each. Processor time is that of all
    processes, which another's work on the machine disturbs less; a cluster's is not counted."""
    base = nm.Scenario.load(FILE).with_(ONE_CELL | {"run.duration": "120 s", "run.replications": count})
    seconds = base.run(1).result["cpu_s"]
    cores = len(os.sched_getaffinity(0))
    print(f"overhead: {count} runs of {seconds:.2f} s of processor, {cores} at a time")
    command = [os.environ["AIRBRAID"], "run", str(FILE), "--json", "--jobs", str(cores)]
    command += [f"--set=trunk.air.members={json.dumps(ONE_CELL['trunk.air.members'])}"]
    command += ["--duration", "120 s", "--replications", str(count)]
    wall: dict[str, list[float]] = {"command": [], "workers": [], "dask": []}
    processor: dict[str, list[float]] = {"command": [], "workers": []}
    for _ in range(2):
        for name, do in (
            ("command", lambda: subprocess.run(command, stdout=subprocess.DEVNULL, check=True)),
            ("workers", lambda: nm.Campaign(base).run(workers=cores)),
        ):
            before, begun = _processor_s(), time.monotonic()
            do()
            wall[name].append(time.monotonic() - begun)
            processor[name].append(_processor_s() - before)
        wall["dask"].append(_on_dask(base, cores))
    for what, measured in (("wall", wall), ("processor", processor)):
        for name, took in measured.items():
            print(f"  {what:9} {name:8} {min(took):7.2f} s  {min(took) / min(measured['command']) - 1:+.1%}")


def _processor_s() -> float:
    """Processor time of this process and of those that it has started and that have ended."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in both)


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


def memory(count: int = 10_000) -> None:
    """10,000 runs, one after the other: what the process holds after each thousand."""
    base = nm.Scenario.load(FILE).with_(ONE_CELL | {"run.duration": "200 ms", "run.warm_up": "0 s"})
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
