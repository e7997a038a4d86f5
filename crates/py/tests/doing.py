"""What workers of the tests do besides runs: notes, deaths. Workers import it by its name."""

import os
import signal
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

from airbraid._worker import Job, Outcome, work


def note(directory: str, jobs: list[Job], enough_s: float) -> list[Outcome]:
    """Does runs and leaves a note of each: who, when it began."""
    return _each(jobs, enough_s, lambda job: _write(Path(directory), "began", job))


def die_once(directory: str, jobs: list[Job], enough_s: float) -> list[Outcome]:
    """Kills its process at the first run with seed 5 that anybody does."""

    def before(job: Job) -> None:
        _write(Path(directory), "began", job)
        if job.seed == 5 and _is_first(Path(directory) / "died"):
            os.kill(os.getpid(), signal.SIGKILL)

    return _each(jobs, enough_s, before)


def die_always(directory: str, jobs: list[Job], enough_s: float) -> list[Outcome]:
    """Kills its process at each run with seed 5."""

    def before(job: Job) -> None:
        if job.seed == 5:
            os.kill(os.getpid(), signal.SIGKILL)
        _write(Path(directory), "began", job)

    return _each(jobs, enough_s, before)


def slowly(directory: str, jobs: list[Job], enough_s: float) -> list[Outcome]:
    """Takes 50 ms more for each run."""
    outcomes = []
    for job in jobs:
        time.sleep(0.05)
        (outcome,) = note(directory, [job], enough_s)
        outcomes.append(outcome._replace(took_s=outcome.took_s + 0.05))
    return outcomes


def timed(directory: str, jobs: list[Job], enough_s: float) -> list[Outcome]:
    """Does runs and leaves a note of what processor they took."""
    begun = time.thread_time()
    outcomes = work(jobs, enough_s)
    with (Path(directory) / "processor").open("a") as file:
        file.write(f"{time.thread_time() - begun}\n")
    return outcomes


def processor_s(directory: Path) -> float:
    """What the runs took that `timed` did [s of processor]."""
    return sum(map(float, (directory / "processor").read_text().split()))


def _each(jobs: list[Job], enough_s: float, before: Callable[[Job], None]) -> list[Outcome]:
    outcomes = []
    for job in jobs:
        before(job)
        outcomes += work([job], enough_s)
    return outcomes


def _is_first(path: Path) -> bool:
    try:
        path.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def _write(directory: Path, what: str, job: Job) -> None:
    with (directory / "notes").open("a") as file:
        file.write(f"{time.monotonic_ns()} {what} {job.seed} {'/'.join(job.said)} {os.getpid()}\n")


def notes(directory: Path) -> list[tuple[int, int, str, int]]:
    """Of each run that was begun: when [ns], seed, settings, process."""
    path = directory / "notes"
    lines = path.read_text().splitlines() if path.exists() else []
    # Settings may have spaces in them.
    parts = [line.split(" ", 3) for line in lines]
    rest = [part[3].rsplit(" ", 1) for part in parts]
    return [(int(p[0]), int(p[2]), settings, int(pid)) for p, (settings, pid) in zip(parts, rest, strict=True)]


class Instead(Executor):
    """An executor that has another do `fn(directory, jobs, enough_s)` instead of the runs."""

    def __init__(self, inner: Executor, fn: Callable[[str, list[Job], float], list[Outcome]], directory: Path) -> None:
        self.inner, self.fn, self.directory = inner, fn, directory
        self.came: dict[tuple[int, str], int] = {}
        self.calls: list[int] = []

    def __getattr__(self, name: str) -> Any:
        # How many workers there are is the other's to say.
        return getattr(self.inner, name)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:  # noqa: ARG002
        jobs: list[Job] = args[0]
        self.calls.append(len(jobs))
        future = self.inner.submit(self.fn, str(self.directory), *args)

        def arrived(done: Future[Any]) -> None:
            if not done.cancelled() and done.exception() is None:
                for job in jobs[: len(done.result())]:
                    self.came.setdefault((job.seed, "/".join(job.said)), time.monotonic_ns())

        future.add_done_callback(arrived)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self.inner.shutdown(wait=wait, cancel_futures=cancel_futures)
