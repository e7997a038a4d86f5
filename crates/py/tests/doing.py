"""What workers of the tests do besides runs: notes, deaths. Workers import it by its name."""

import os
import signal
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

from airbraid._worker import Job, work


def note(directory: str, job: Job) -> str:
    """Does a run and leaves a note of it: who, when it began."""
    _write(Path(directory), "began", job)
    return work(job)


def die_once(directory: str, job: Job) -> str:
    """Kills its process at the first run with seed 5 that anybody does."""
    _write(Path(directory), "began", job)
    if job.seed == 5 and _is_first(Path(directory) / "died"):
        os.kill(os.getpid(), signal.SIGKILL)
    return work(job)


def die_always(directory: str, job: Job) -> str:
    """Kills its process at each run with seed 5."""
    if job.seed == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    return note(directory, job)


def slowly(directory: str, job: Job) -> str:
    """Takes 50 ms more."""
    time.sleep(0.05)
    return note(directory, job)


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
    """An executor that has another do `fn(directory, job)` instead of the run."""

    def __init__(self, inner: Executor, fn: Callable[[str, Job], str], directory: Path) -> None:
        self.inner, self.fn, self.directory = inner, fn, directory
        self.came: dict[tuple[int, str], int] = {}

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:  # noqa: ARG002
        job: Job = args[0]
        future = self.inner.submit(self.fn, str(self.directory), job)

        def arrived(done: Future[Any]) -> None:
            if not done.cancelled() and done.exception() is None:
                self.came.setdefault((job.seed, "/".join(job.said)), time.monotonic_ns())

        future.add_done_callback(arrived)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self.inner.shutdown(wait=wait, cancel_futures=cancel_futures)
