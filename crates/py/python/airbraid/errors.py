"""What can go wrong, with the texts of the command."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Complaint(NamedTuple):
    """One thing that is wrong with a scenario: where, what stands there, and what to write instead."""

    file: str
    """The file, or the option (`--set`), in which it is written."""
    line: int | None
    """The line, from 1; none where the file as a whole is meant."""
    column: int | None
    """The column in characters, from 1."""
    message: str
    value: str | None
    """What is written there."""
    remedy: str | None
    """What to do about it."""


class AirbraidError(Exception):
    """Whatever airbraid refuses."""


class ScenarioError(AirbraidError, ValueError):
    """A scenario is wrong, or what was said over it. Nothing was run.

    The text has a line for each error, as the command prints it; `errors` has them by their parts, up to ten.
    """

    def __init__(self, message: str, errors: Sequence[tuple[object, ...]] = ()) -> None:
        super().__init__(message, tuple(errors))
        self.errors = tuple(Complaint._make(parts) for parts in errors)

    def __str__(self) -> str:
        return str(self.args[0])


class ArgumentError(AirbraidError, ValueError):
    """An argument of a campaign, a plan or a reproduction is wrong. Nothing was run."""


class RunError(AirbraidError, RuntimeError):
    """A run failed."""


class StoreError(AirbraidError, OSError):
    """The run store cannot be used."""


class WorkerDied(AirbraidError, RuntimeError):
    """A worker process ended while a run was on it. A campaign runs that run again."""


class CampaignStopped(AirbraidError, RuntimeError):
    """A campaign could not go on. What was done is in the store; the same call goes on from there."""
