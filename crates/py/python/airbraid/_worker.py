"""What a worker does: runs of scenarios given by their text, with a few scenarios kept ready.

It imports nothing but the native module: a worker is there in some hundredths of a second.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from . import _core


class Job(NamedTuple):
    """One run to do. Text, name and settings make the scenario on whatever machine the worker is."""

    text: str
    name: str
    said: tuple[str, ...]
    cell: int
    seed: int
    build: str
    """The sources that the results are to be of."""


class Outcome(NamedTuple):
    """What became of one run."""

    facts: str | Exception
    """Its facts as JSON, or what went wrong with it."""
    took_s: float
    """By the clock."""


@lru_cache(maxsize=64)
def _scenario(text: str, name: str, said: tuple[str, ...]) -> _core.Scenario:
    return _core.Scenario.loads(text, name, list(said))


def _once(job: Job) -> str:
    if job.build != _core.BUILD:
        raise RuntimeError(f"the worker has build {_core.BUILD} of airbraid, the campaign {job.build}: install the same")
    return _scenario(job.text, job.name, job.said).run(job.cell, job.seed).facts_json()


def work(jobs: Sequence[Job], enough_s: float) -> list[Outcome]:
    """Does the first run and those that it can begin within `enough_s`, up to one that fails: an outcome for each of these."""
    begun = last = time.monotonic()
    outcomes: list[Outcome] = []
    for job in jobs:
        facts: str | Exception
        try:
            facts = _once(job)
        except Exception as error:  # who asked says what it was; the runs before it are kept
            facts = error
        now = time.monotonic()
        outcomes.append(Outcome(facts, now - last))
        last = now
        if isinstance(facts, Exception) or now - begun >= enough_s:
            break
    return outcomes
