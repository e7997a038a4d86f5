"""Scenarios: read, changed, explained, run."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _core
from .errors import ArgumentError
from .run import Run

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Cell:
    """One combination of swept values of a scenario."""

    set: Mapping[str, Any]
    """The swept keys with their values; empty where nothing is swept."""
    label: str
    """The same for a person."""
    hash: bytes
    """SHA-256 of what is simulated: not of title, question, seed and number of replications."""
    seed: int
    """Seed of the first replication."""
    replications: int


def toml(value: object) -> str:
    """A Python value as TOML: text, bool, int, float, list, tuple, mapping, or a scalar of NumPy.

    Raises TypeError for anything else.
    """
    if hasattr(value, "item") and not isinstance(value, str | bytes):
        value = value.item()
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return {math.inf: "inf", -math.inf: "-inf"}.get(value, repr(value))
        case str():
            # JSON's escapes are TOML's, but for DEL, which TOML wants escaped.
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case list() | tuple():
            return "[" + ", ".join(toml(one) for one in value) + "]"
        case Mapping():
            entries = (f"{toml(str(key))} = {toml(one)}" for key, one in value.items())
            return "{" + ", ".join(entries) + "}"
    raise TypeError(f"a scenario has no values of type {type(value).__name__}: {value!r}")


def said(settings: Mapping[str, object]) -> list[str]:
    """What `--set` would be given: `key=value`.

    Raises TypeError for a key that is no text, ArgumentError for one that cannot be a key.
    """
    if not isinstance(settings, Mapping):
        raise TypeError(f"a mapping from keys to values is needed, this is {settings!r}")
    arguments = []
    for key, value in settings.items():
        if not isinstance(key, str):
            raise TypeError(f"a key is a text as `trunk.air.policy.distributor` is, this is {key!r}")
        if "=" in key:
            raise ArgumentError(f"`{key}` is not a path to a key: keys and names with points between, no `=`")
        arguments.append(f"{key}={toml(value)}")
    return arguments


class Scenario:
    """A scenario file with what is said over it, every value resolved and checked.

    Made by `Scenario.load`, `Scenario.loads` and `with_`; never changes. Can be pickled.
    """

    def __init__(self, core: _core.Scenario) -> None:
        self._core = core

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Scenario:
        """Reads a TOML file (docs/reference/scenario.md has all keys).

        Raises ScenarioError with file, line, column, value and remedy of all that is wrong, up to ten.
        """
        return cls(_core.Scenario.load(os.fspath(path)))

    @classmethod
    def loads(cls, text: str, name: str = "scenario") -> Scenario:
        """Reads a text; `name` is what messages call it. Raises ScenarioError."""
        return cls(_core.Scenario.loads(text, name))

    def with_(self, settings: Mapping[str, object] | None = None, /, **keys: object) -> Scenario:
        """The same scenario with some keys set, as by `--set`: dotted paths, the elements of lists by their names.

        A table's key can be written as a keyword, `__` for the point: `with_(run__duration="10 s")`. A quantity is a
        text with its unit. A key that is swept keeps that value alone; `sweep.KEY` sweeps one more.

        Raises ScenarioError for a wrong key or value, TypeError for a value that TOML does not have.
        """
        dotted = {key.replace("__", "."): value for key, value in keys.items()}
        new = said(settings if settings is not None else {}) + said(dotted)
        return Scenario(_core.Scenario.loads(self._core.text, self._core.name, [*self._core.said, *new]))

    def __reduce__(self) -> tuple[object, ...]:
        return _revive, (self._core.text, self._core.name, tuple(self._core.said))

    def __repr__(self) -> str:
        return f"<Scenario {self.name}: {self.title}>"

    @property
    def name(self) -> str:
        """The file, as it was named."""
        return self._core.name

    @property
    def title(self) -> str:
        """What it is called."""
        return self._core.title

    @property
    def question(self) -> str:
        """The question that it answers."""
        return self._core.question

    @property
    def cells(self) -> list[Cell]:
        """One for each combination of its `[sweep]`; one where nothing is swept."""
        parts = self._core.cells()
        return [Cell(json.loads(swept), label, hash_, seed, n) for swept, label, hash_, seed, n in parts]

    def run(self, seed: int | None = None, *, cell: int = 0, timeline: bool = False, captures: bool = False) -> Run:
        """Runs one cell once, on this thread; the interpreter's lock is free meanwhile, and Ctrl-C stops it.

        `seed`: none takes the scenario's. `timeline` records every frame, `captures` the frames of every radio as
        pcapng. The numbers are those of the command with the same file, settings and seed.

        Raises RunError, and IndexError for a cell that does not exist.
        """
        if seed is None:
            seed = self.cells[cell].seed
        return Run(self._core.run(cell, seed, captures, timeline))

    def report(self, directory: str | os.PathLike[str]) -> Path:
        """Runs every cell with every replication and writes what `airbraid run FILE --out DIR` writes.

        Gives the path of its page, `report.html`. `directory` is made, or replaced if an older result is in it. One run
        after the other on this thread; Ctrl-C stops it and leaves nothing. Raises ArgumentError, RunError.
        """
        return Path(self._core.report(os.fspath(directory)))

    def explain(self) -> str:
        """Every resolved value and where it came from, as `airbraid explain` prints it."""
        return self._core.explain()

    def explanation(self) -> dict[str, Any]:
        """The object of `airbraid explain --json`: scenario, title, question, cells, sweep, values, warnings."""
        explained: dict[str, Any] = json.loads(self._core.explain_json())
        return explained

    def values(self) -> pl.DataFrame:
        """Every resolved value of the first cell: columns `key`, `value`, `from` (all text)."""
        import polars as pl

        columns = ["key", "value", "from"]
        return pl.DataFrame(self.explanation()["values"], schema=dict.fromkeys(columns, pl.String))

    def map(self, cell: int = 0) -> dict[str, Any]:
        """Where the nodes are at the start [m] and what joins them: nodes, trunks, tunnels, links, flows."""
        places: dict[str, Any] = json.loads(self._core.map_json(cell))
        return places


def _revive(text: str, name: str, over: tuple[str, ...]) -> Scenario:
    return Scenario(_core.Scenario.loads(text, name, list(over)))


def run(scenario: Scenario) -> dict[str, Any]:
    """Runs every cell of a scenario with every replication: the object of `airbraid run FILE --json`.

    `cells` (one where nothing is swept), in each `set`, `summary` (mean, standard deviation, 99 % interval and number
    for each metric) and `runs`. One run after the other on this thread; `Campaign` uses more. Raises RunError.
    """
    results: dict[str, Any] = json.loads(scenario._core.results_json())
    return results


def report(directory: str | os.PathLike[str]) -> Path:
    """Writes the page of a result again, as `airbraid report DIR`, and gives its path.

    `directory` is one that `airbraid run --out` or `Scenario.report` has written. Raises ArgumentError.
    """
    return Path(_core.report_of(os.fspath(directory)))
