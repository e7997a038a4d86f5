"""Campaigns: a scenario, a grid of settings and some seeds, done by any executor and kept in the command's run store."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

from . import _core
from ._worker import Job
from .errors import ArgumentError
from .progress import Progress
from .runs import Runs, RunStore
from .scenario import Scenario
from .stats import Until

# More runs than this are refused, as by the command.
RUNS_MAX = 100_000


@dataclass(frozen=True)
class CampaignCell:
    """One combination of the grid, with the scenario's own sweep."""

    index: int
    set: Mapping[str, Any]
    label: str
    hash: bytes
    scenario: Scenario
    number: int
    """Which cell of its scenario it is."""

    def job(self, seed: int) -> Job:
        """The run of this cell with `seed`."""
        core = self.scenario._core
        return Job(core.text, core.name, tuple(core.said), self.number, seed, _core.BUILD)

    def run_id(self, seed: int) -> str:
        """What the run is called: the first digits of the hash of what is simulated, and the seed."""
        return f"{self.short_hash}-{seed}"

    @property
    def short_hash(self) -> str:
        """The first twelve digits of the hash, as reports of the command print it."""
        return self.hash[:6].hex()


class Campaign:
    """Every combination of `grid` said over `base`, each with every seed: the same seeds for all, so that what is compared
    sees the same topology, traffic and channel.

    `grid`: from dotted keys to lists of values, as `[sweep]` of a scenario has them; what `base` sweeps itself is swept too.
    `seeds`: numbers, as `range(1, 31)`; none: what the scenario says, replication k on seed + k.

    Everything is checked here, before any run: ScenarioError for keys and values, TypeError for shapes, ArgumentError
    for what is empty or twice.
    """

    def __init__(
        self,
        base: Scenario,
        grid: Mapping[str, Sequence[object]] | None = None,
        seeds: Iterable[int] | None = None,
    ) -> None:
        if not isinstance(base, Scenario):
            raise TypeError(f"base: a Scenario is needed (Scenario.load reads one), this is {base!r}")
        self.base = base
        self.grid = _grid(grid)
        self.cells: list[CampaignCell] = []
        chosen = None if seeds is None else _seeds(seeds)
        self._seeds: list[list[int]] = []
        for values in itertools.product(*self.grid.values()):
            scenario = base.with_(dict(zip(self.grid, values, strict=True))) if self.grid else base
            for number, cell in enumerate(scenario.cells):
                swept = dict(zip(self.grid, values, strict=True)) | dict(cell.set)
                label = ", ".join(f"{key} = {value}" for key, value in swept.items())
                self.cells.append(CampaignCell(len(self.cells), swept, label, cell.hash, scenario, number))
                own = [cell.seed + k for k in range(cell.replications)]
                self._seeds.append(own if chosen is None else chosen)
        if len(self) > RUNS_MAX:
            raise ArgumentError(f"{len(self)} runs are too many: at most {RUNS_MAX}, with fewer cells or seeds")

    def __len__(self) -> int:
        """How many runs there are."""
        return sum(len(seeds) for seeds in self._seeds)

    def __repr__(self) -> str:
        return f"<Campaign of {self.base.name}: {len(self.cells)} cells, {len(self)} runs>"

    @property
    def keys(self) -> list[str]:
        """What is swept: the grid's keys, then those of the scenario's own sweep."""
        return list(dict.fromkeys(key for cell in self.cells for key in cell.set))

    def seeds(self, cell: int) -> list[int]:
        """The seeds of a cell, in their order."""
        return list(self._seeds[cell])

    def run(
        self,
        executor: Executor | Callable[[], Executor] | None = None,
        *,
        workers: int | None = None,
        store: str | os.PathLike[str] | None = None,
        until: Until | None = None,
        progress: bool | Callable[[int, int], None] | None = None,
        tries: int = 3,
        in_flight: int | None = None,
    ) -> Runs:
        """Does what the store has not, and keeps each run when it is done.

        `executor`: none for `workers` processes on this machine (none: as many as cores); or anything that is a
        `concurrent.futures.Executor`: `dask.distributed.Client(...).get_executor()`, `mpi4py.futures.MPIPoolExecutor()`;
        or a function that makes one, which is called again if its executor breaks.
        `store`: a directory with the command's run store (`airbraid reproduce --store`), made if it is not there; none
        for one that is gone with the result. Only this process writes to it.
        `until`: goes on with the seeds of a cell only until its interval is narrow enough.
        `progress`: a bar on standard error or in the notebook; none: if that is a terminal. Or a function that is told
        runs done and runs in all.
        `in_flight`: how many runs an executor is given at a time; none: two for each worker of those that say how many they
        have, 64 of others. Two for each worker are enough; of what a cluster loses with a worker it computes less again.
        `tries`: a run that has cost so many workers their lives is not tried again.

        Ctrl-C stops it, and what was done is kept: the same call goes on from there.
        Raises RunError if a run fails, CampaignStopped if it cannot go on, StoreError.
        """
        from .coordinate import Coordinator

        if executor is not None and workers is not None:
            raise ArgumentError("workers: they are the executor's own; give one or the other")
        if executor is not None and not isinstance(executor, Executor) and not callable(executor):
            raise TypeError(f"executor: a concurrent.futures.Executor is needed, this is {executor!r}")
        if in_flight is not None and (isinstance(in_flight, bool) or not isinstance(in_flight, int) or in_flight < 1):
            raise ValueError(f"in_flight: a number from 1 on is needed, this is {in_flight!r}")
        if until is not None and not isinstance(until, Until):
            raise TypeError(f"until: a stats.Until is needed, this is {until!r}")
        with Progress(len(self), progress) as bar:
            return Coordinator(self, RunStore(store), until, bar, tries, in_flight).run(executor, workers)


def _grid(grid: Mapping[str, Sequence[object]] | None) -> dict[str, list[object]]:
    if grid is None:
        return {}
    if not isinstance(grid, Mapping):
        raise TypeError(f"grid: a mapping from keys to lists of values is needed, this is {grid!r}")
    checked = {}
    for key, values in grid.items():
        if not isinstance(key, str):
            raise TypeError(f"grid: a key is a text as `trunk.air.policy.distributor` is, this is {key!r}")
        if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
            raise TypeError(f"grid: `{key}` needs a list of values, this is {values!r}")
        listed = list(values)
        if not listed:
            raise ArgumentError(f"grid: there is nothing to sweep in `{key}`: give at least one value, or leave it out")
        if any(one in listed[:i] for i, one in enumerate(listed)):
            raise ArgumentError(f"grid: a value of `{key}` is swept twice: {listed!r}")
        if key in ("schema", "sweep", "expect", "run.seed", "run.replications"):
            raise ArgumentError(f"grid: `{key}` cannot be swept: every cell gets the same seeds")
        if key.startswith(("sweep.", "expect.")):
            raise ArgumentError(f"grid: `{key}` is no key of a run: the grid has the swept keys themselves, as `radio.rate`")
        checked[key] = listed
    return checked


def _seeds(seeds: Iterable[int]) -> list[int]:
    if isinstance(seeds, str | bytes | Mapping) or not isinstance(seeds, Iterable):
        raise TypeError(f"seeds: numbers are needed, as range(1, 31), this is {seeds!r}")
    listed = []
    for seed in seeds:
        if isinstance(seed, bool) or not hasattr(seed, "__index__"):
            raise TypeError(f"seeds: a seed is a whole number, this is {seed!r}")
        listed.append(seed.__index__())
    if not listed:
        raise ArgumentError("seeds: there is none: give at least one, or leave them out")
    if len(set(listed)) < len(listed):
        raise ArgumentError("seeds: one is there twice, and would count as two runs")
    wrong = [seed for seed in listed if not 0 <= seed < 1 << 63]
    if wrong:
        raise ArgumentError(f"seeds: from 0 to 2^63 - 1, not {wrong[0]}")
    return listed
