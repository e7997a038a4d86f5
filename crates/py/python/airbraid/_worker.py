"""What a worker does: one run of a scenario given by its text, with a few scenarios kept ready.

It imports nothing but the native module: a worker is there in some hundredths of a second.
"""

from __future__ import annotations

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


@lru_cache(maxsize=64)
def _scenario(text: str, name: str, said: tuple[str, ...]) -> _core.Scenario:
    return _core.Scenario.loads(text, name, list(said))


def work(job: Job) -> str:
    """Does a run and gives its facts as JSON.

    Raises RunError; RuntimeError where the worker has another build of airbraid.
    """
    if job.build != _core.BUILD:
        raise RuntimeError(f"the worker has build {_core.BUILD} of airbraid, the campaign {job.build}: install the same")
    return _scenario(job.text, job.name, job.said).run(job.cell, job.seed).facts_json()
