"""The coordinator of a campaign: what is to be done, who does it, and what of it is kept.

It alone writes to the store; workers are told some runs and give their facts. A run is asked for again only if its worker died
before the result was here, so that nothing is done twice that was kept. Runs that were asked for together and of which nothing
came are asked for one by one: who it was that ends workers is then known.
"""

from __future__ import annotations

import json
import queue
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from contextlib import contextmanager

from ._worker import Outcome, work
from .campaign import Campaign, CampaignCell
from .errors import CampaignStopped, RunError, WorkerDied
from .pace import CALL_S, ENOUGH_S, Pace
from .progress import Progress
from .runs import Key, Runs, RunStore
from .stats import Until
from .workers import Workers

# Calls whose results are written in one transaction, at most.
BATCH = 256

_Answer = Future[list[Outcome]]
# The number of a call, and what it gave.
_Ended = tuple[int, _Answer]


class Coordinator:
    """One campaign on its way."""

    def __init__(
        self, campaign: Campaign, store: RunStore, until: Until | None, bar: Progress, tries: int, in_flight: int | None
    ) -> None:
        self.campaign, self.store, self.until, self.bar, self.tries = campaign, store, until, bar, tries
        self.in_flight = in_flight
        # How many of its seeds each cell is asked for.
        whole = [len(campaign.seeds(cell.index)) for cell in campaign.cells]
        self.asked = whole if until is None else [min(until.least, n) for n in whole]
        self.whole = whole
        self.waiting: deque[Key] = deque()
        self.known: set[Key] = set()
        self.done: set[Key] = set()
        self.recalled = 0
        self.values: dict[Key, float | None] = {}
        self.ended: queue.SimpleQueue[_Ended] = queue.SimpleQueue()
        # Calls by their numbers: the runs that they are of.
        self.calls = 0
        self.flying: dict[int, tuple[list[Key], _Answer]] = {}
        self.cell_of: dict[Key, CampaignCell] = {}
        self.lost: dict[Key, int] = {}
        # Nothing came of them when they were asked for with others.
        self.alone: set[Key] = set()
        self.broken = 0

    def run(self, executor: Executor | Callable[[], Executor] | None, workers: int | None) -> Runs:
        """Does it all."""
        for cell in self.campaign.cells:
            self._ask(cell, 0)
        self._widen()
        if self.waiting:
            if isinstance(executor, Executor):
                try:
                    self._work(executor)
                except BrokenExecutor as error:
                    raise self._stopped(f"the executor broke ({error}); a function that makes one is called again") from error
            elif executor is not None:
                while self._work_on_made(executor):
                    pass
            else:
                with _own(Workers(workers)) as own:
                    self._work(own)
        seeds = [self.campaign.seeds(cell.index)[: self.asked[cell.index]] for cell in self.campaign.cells]
        return Runs(self.campaign, self.store, seeds, recalled=self.recalled, lost=sum(self.lost.values()))

    def _work_on_made(self, make: Callable[[], Executor]) -> bool:
        """Works with an executor of its own; true if it broke and another is wanted."""
        with make() as executor:
            try:
                self._work(executor)
            except BrokenExecutor as error:
                self.broken += 1
                if self.broken >= self.tries:
                    raise self._stopped(f"{self.broken} executors broke one after the other: {error}") from error
                self._take_back()
                return True
            except BaseException:
                executor.shutdown(wait=False, cancel_futures=True)
                raise
        return False

    # --- what is to be done ------------------------------------------------------------------------------------------

    def _ask(self, cell: CampaignCell, begin: int) -> None:
        """Asks for the runs of a cell from number `begin` to what it is asked for; takes what the store has."""
        for seed in self.campaign.seeds(cell.index)[begin : self.asked[cell.index]]:
            key = Key(cell.hash, seed)
            if key in self.known:
                continue
            self.known.add(key)
            self.cell_of[key] = cell
            facts = self.store.get(key)
            if facts is None:
                self.waiting.append(key)
            else:
                self.recalled += 1
                self._count(key, facts)
        self.bar.to(len(self.done), sum(self.asked))

    def _count(self, key: Key, facts: str) -> None:
        self.done.add(key)
        if self.until is not None:
            self.values[key] = json.loads(facts)["metrics"].get(self.until.metric)

    def _widen(self) -> None:
        """Asks for more runs of the cells whose interval is still too wide."""
        if self.until is None:
            return
        for cell in self.campaign.cells:
            while (more := self._more(cell)) is not None:
                begin, self.asked[cell.index] = self.asked[cell.index], more
                self._ask(cell, begin)

    def _more(self, cell: CampaignCell) -> int | None:
        """How many runs a cell needs now; none if it has enough, or some are not done."""
        assert self.until is not None
        asked = self.asked[cell.index]
        keys = [Key(cell.hash, seed) for seed in self.campaign.seeds(cell.index)[:asked]]
        if asked == self.whole[cell.index] or any(key not in self.done for key in keys):
            return None
        values = [value for key in keys if (value := self.values[key]) is not None]
        return None if self.until.is_met(values) else min(asked + self.until.step, self.whole[cell.index])

    # --- who does it -------------------------------------------------------------------------------------------------

    def _work(self, executor: Executor) -> None:
        pace = self.pace = Pace(executor, self.in_flight)
        try:
            while self.waiting or self.flying:
                while self.waiting and len(self.flying) < pace.in_flight:
                    self._submit(executor, self._together())
                self._keep(self._next())
                self._widen()
        except KeyboardInterrupt:
            self._keep_what_is_here()
            raise
        finally:
            for _, future in self.flying.values():
                future.cancel()
        self._warn()

    def _together(self) -> list[Key]:
        """The runs of the next call."""
        keys = [self.waiting.popleft()]
        if keys[0] in self.alone:
            return keys
        most, seconds = self.pace.runs_max(len(self.waiting)), 0.0
        while len(keys) < most and self.waiting and self.waiting[0] not in self.alone:
            seconds += self.pace.expected_s(self.cell_of[keys[-1]].index)
            if seconds + self.pace.expected_s(self.cell_of[self.waiting[0]].index) > CALL_S:
                break
            keys.append(self.waiting.popleft())
        return keys

    def _submit(self, executor: Executor, keys: list[Key]) -> None:
        try:
            future = executor.submit(work, [self.cell_of[key].job(key.seed) for key in keys], ENOUGH_S)
        except BrokenExecutor:
            self.waiting.extendleft(reversed(keys))
            raise
        self.calls = number = self.calls + 1
        self.flying[number] = (keys, future)
        future.add_done_callback(lambda future: self.ended.put((number, future)))

    def _next(self) -> list[_Ended]:
        """What has ended, at least one."""
        return [self.ended.get(), *self._drain()]

    def _drain(self) -> list[_Ended]:
        items: list[_Ended] = []
        while len(items) < BATCH:
            try:
                items.append(self.ended.get_nowait())
            except queue.Empty:
                break
        return items

    def _keep(self, ended: list[_Ended]) -> None:
        """Writes what came, in one transaction; then says what failed."""
        good: list[tuple[Key, str]] = []
        bad: list[tuple[list[Key], BaseException]] = []
        while ended:
            # Nobody keeps a future whose result is here: what a cluster loses with a worker it computes again if somebody does.
            number, future = ended.pop()
            # One of an executor that broke was asked for again.
            if number in self.flying:
                keys, _ = self.flying.pop(number)
                try:
                    self._sort(keys, future.result(), good, bad)
                except (Exception, CancelledError) as error:
                    bad.append((keys, error))
            del future
        if good:
            self.store.put(good)
            self.broken = 0
            for key, facts in good:
                self._count(key, facts)
            self.bar.to(len(self.done))
        for keys, failure in bad:
            self._failed(keys, failure)
        broken = next((failure for _, failure in bad if isinstance(failure, BrokenExecutor)), None)
        if broken is not None:
            raise broken

    def _sort(
        self, keys: list[Key], outcomes: list[Outcome], good: list[tuple[Key, str]], bad: list[tuple[list[Key], BaseException]]
    ) -> None:
        """The outcomes of a call's runs, as many as were begun; the others are asked for again."""
        for key, outcome in zip(keys, outcomes, strict=False):
            self.pace.took(self.cell_of[key].index, outcome.took_s)
            if isinstance(outcome.facts, str):
                good.append((key, outcome.facts))
            else:
                bad.append(([key], outcome.facts))
        self.waiting.extendleft(reversed(keys[len(outcomes) :]))

    def _keep_what_is_here(self) -> None:
        self._keep([item for item in self._drain() if not item[1].cancelled() and item[1].exception() is None])

    def _failed(self, keys: list[Key], error: BaseException) -> None:
        """Nothing came of a call."""
        # Whose worker it was that died when an executor broke nobody knows: all that it had are asked for again.
        if isinstance(error, BrokenExecutor) or len(keys) > 1:
            self._again(keys)
            self.alone.update(keys)
        else:
            self._failed_alone(keys[0], error)

    def _again(self, keys: list[Key]) -> None:
        for key in keys:
            self.lost[key] = self.lost.get(key, 0) + 1
            self.waiting.append(key)

    def _failed_alone(self, key: Key, error: BaseException) -> None:
        cell = self.cell_of[key]
        where = f"the run with seed {key.seed}" + (f" in the cell {cell.label}" if cell.label else "")
        match error:
            # Cancelled although nobody here did: a cluster that has lost its client does that to all that it was asked for.
            case WorkerDied() | CancelledError():
                self._again([key])
                if self.lost[key] >= self.tries:
                    what = "ended its worker" if isinstance(error, WorkerDied) else "been cancelled"
                    raise self._stopped(f"{where} has {what} {self.lost[key]} times. {error}".rstrip(" .")) from error
            case RunError():
                raise RunError(f"{where} failed: {error}") from error
            case _:
                said = str(error) or type(error).__name__
                raise self._stopped(f"{where} gave no result: {said}") from error

    def _take_back(self) -> None:
        """What an executor has that broke is wanted of the next; what it had done is kept."""
        self._keep_what_is_here()
        for keys, _ in self.flying.values():
            self._again(keys)
            self.alone.update(keys)
        self.flying.clear()

    def _stopped(self, why: str) -> CampaignStopped:
        kept = f"{len(self.done)} of {sum(self.asked)} runs are kept in {self.store.path}; the same call goes on from there"
        return CampaignStopped(f"{why}. {kept if self.store.is_lasting else 'Without a store nothing is kept'}")

    def _warn(self) -> None:
        if self.until is None:
            return
        wide = 0
        for cell in self.campaign.cells:
            keys = [Key(cell.hash, seed) for seed in self.campaign.seeds(cell.index)[: self.asked[cell.index]]]
            wide += not self.until.is_met([value for key in keys if (value := self.values[key]) is not None])
        if wide:
            message = f"{wide} of {len(self.campaign.cells)} cells have used all seeds and are not at {self.until}"
            warnings.warn(message, stacklevel=4)


@contextmanager
def _own(workers: Workers) -> Iterator[Workers]:
    """Workers that are gone afterwards, at once if something went wrong."""
    try:
        yield workers
    except BaseException:
        workers.kill()
        raise
    workers.shutdown()
