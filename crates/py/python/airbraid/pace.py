"""How many runs an executor is asked for in one call, and how many calls it has at a time.

What a call costs is the executor's: little where a pipe is between, some hundredths of a second where a scheduler, its messages
and its books are. Short runs therefore go several to a call, as many as take about a second together: so little is what a
worker costs that dies.
"""

from __future__ import annotations

from concurrent.futures import Executor

# What the runs of a call take together [s]: a cluster's 20 ms for a call are a fiftieth of it.
CALL_S = 1.0
# After so long [s] a worker begins no more of a call whose runs took longer than was thought.
ENOUGH_S = 1.5 * CALL_S
# Runs of a call at most: what comes back at once is to be some megabytes at most.
RUNS_MAX = 128
# Calls given at a time to an executor that does not say how many workers it has, or that may get more of them.
IN_FLIGHT = 64


class Pace:
    """What is known of an executor and of the runs of each cell."""

    def __init__(self, executor: Executor, in_flight: int | None) -> None:
        # A worker of our own that dies costs exactly the run that it was at.
        self._is_single = getattr(executor, "calls_are_cheap", False)
        self._workers, is_fixed = _workers(executor)
        self._in_flight = in_flight or (2 * self._workers if self._workers else IN_FLIGHT)
        # A cluster that grows with what it is asked for is asked for more, once it is known how long a run takes.
        self._later = self._in_flight if in_flight or is_fixed else max(self._in_flight, IN_FLIGHT)
        self._took_s: dict[int, tuple[int, float]] = {}

    @property
    def in_flight(self) -> int:
        """How many calls the executor may have: two for each worker, so that the next is there when one is done."""
        return self._later if self._took_s else self._in_flight

    def took(self, cell: int, seconds: float) -> None:
        """A run of a cell took so long."""
        count, total = self._took_s.get(cell, (0, 0.0))
        self._took_s[cell] = (count + 1, total + seconds)

    def expected_s(self, cell: int) -> float:
        """How long a run of a cell will take; one of a cell that nobody has done as long as the others."""
        count, total = self._took_s.get(cell) or [sum(both) for both in zip(*self._took_s.values(), strict=True)]
        return total / count

    def runs_max(self, waiting: int) -> int:
        """How many runs a call may have while so many wait: of the last ones every worker gets its share."""
        if self._is_single or not self._took_s:
            return 1
        workers = self._workers or self._in_flight
        return max(1, min(RUNS_MAX, waiting // (2 * workers)))


def _workers(executor: Executor) -> tuple[int | None, bool]:
    """How many calls an executor does at a time, none if it does not say; whether that stays so."""
    # The standard library's pools have the first, mpi4py's has the second.
    for name in ("_max_workers", "num_workers"):
        count = getattr(executor, name, None)
        if isinstance(count, int) and count > 0:
            return count, True
    # Dask's executor has the client of its cluster.
    threads = getattr(getattr(executor, "_client", None), "nthreads", None)
    count = sum(threads().values()) if callable(threads) else 0
    return count or None, False
