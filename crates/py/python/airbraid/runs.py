"""What a campaign gave: frames with a row for each run, series, and any run again with all its frames."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import warnings
import weakref
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

from . import _core
from .errors import ArgumentError
from .run import Run, series_named, times_s
from .scenario import toml

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from .campaign import Campaign, CampaignCell


class Key(NamedTuple):
    """What a run is found by in the store: the hash of what is simulated, and the seed."""

    hash: bytes
    seed: int


class RunStore:
    """The command's run store. `directory`: none for one that is gone with the object. Raises StoreError."""

    def __init__(self, directory: str | os.PathLike[str] | None) -> None:
        self.is_lasting = directory is not None
        if directory is None:
            directory = tempfile.mkdtemp(prefix="airbraid-")
            weakref.finalize(self, shutil.rmtree, directory, ignore_errors=True)
        self._core, said = _core.Store.open(os.fspath(directory))
        if said:
            warnings.warn(said, stacklevel=3)

    @property
    def path(self) -> str:
        """The database."""
        return str(self._core.path)

    def get(self, key: Key) -> str | None:
        """The facts of a run as JSON; none if it was not done. A damaged row is removed, with a warning."""
        facts, damaged = self._core.get(key.hash, key.seed)
        if damaged:
            warnings.warn(f"a result in {self.path} does not fit its checksum; it is computed again", stacklevel=2)
        return facts

    def put(self, runs: Sequence[tuple[Key, str]]) -> None:
        """Keeps the facts of several runs, all of them or none."""
        self._core.put([(key.hash, key.seed, facts) for key, facts in runs])

    def __len__(self) -> int:
        return len(self._core)


class Runs:
    """The runs of a campaign, in the order of its cells and seeds. Facts are read from the store when they are asked for.

    `recalled`: how many were in the store before; `lost`: how many were done again because their worker died.
    """

    def __init__(
        self, campaign: Campaign, store: RunStore, seeds: list[list[int]], *, recalled: int = 0, lost: int = 0
    ) -> None:
        self.campaign, self.recalled, self.lost = campaign, recalled, lost
        self._store, self._seeds = store, seeds

    def __len__(self) -> int:
        return sum(len(seeds) for seeds in self._seeds)

    def __repr__(self) -> str:
        return f"<Runs of {self.campaign.base.name}: {len(self.campaign.cells)} cells, {len(self)} runs>"

    def _rows(self) -> Iterator[tuple[CampaignCell, int, dict[str, Any]]]:
        for cell, seeds in zip(self.campaign.cells, self._seeds, strict=True):
            for seed in seeds:
                facts = self._store.get(Key(cell.hash, seed))
                if facts is None:
                    raise ArgumentError(f"the run {cell.run_id(seed)} is no longer in {self._store.path}: run again")
                yield cell, seed, json.loads(facts)

    @overload
    def frame(self, library: Literal["polars"] = "polars") -> pl.DataFrame: ...
    @overload
    def frame(self, library: Literal["pandas"]) -> pd.DataFrame: ...
    def frame(self, library: str = "polars") -> pl.DataFrame | pd.DataFrame:
        """One row for each run.

        Columns: `run_id`, `scenario_hash`, `cell`, the swept keys (lists and tables as TOML text), `seed`, then every
        number by the name that summaries use, its unit last: `flow.download.goodput_bps`. A number that a run has not
        is null; a reason for drops that did not occur is 0. Any library that knows Arrow's C interface takes the polars
        frame without a copy.
        """
        import polars as pl

        keys = self.campaign.keys
        lead: dict[str, list[Any]] = {name: [] for name in ("run_id", "scenario_hash", "cell", *keys, "seed")}
        columns: dict[str, list[float | None]] = {}
        for before, (cell, seed, facts) in enumerate(self._rows()):
            row = self._lead(cell, seed)
            for name, column in lead.items():
                column.append(row[name])
            for name, value in facts["metrics"].items():
                columns.setdefault(name, [None] * before).append(value)
            for name, values in columns.items():
                if len(values) == before:
                    values.append(0.0 if name.startswith("drops.") else None)
        for name, values in columns.items():
            if name.startswith("drops."):
                columns[name] = [value or 0.0 for value in values]
        if library == "pandas":
            import pandas as pd

            return pd.DataFrame(_plain(lead) | columns)
        if library != "polars":
            raise ArgumentError(f"library: polars or pandas, not {library}")
        schema = dict.fromkeys(columns, pl.Float64)
        return pl.DataFrame(_plain(lead)).hstack(pl.DataFrame(columns, schema=schema))

    def series(self, name: str) -> pl.DataFrame:
        """The course of a number in every run, a row for each interval: `run_id`, `scenario_hash`, `cell`, the swept keys,
        `seed`, `time_s` (the end of the interval) and one column called as the series. Raises ArgumentError."""
        import polars as pl

        parts = []
        for cell, seed, facts in self._rows():
            series = series_named(facts["series"], name)
            lead = {key: [value] for key, value in self._lead(cell, seed).items()}
            values = pl.DataFrame({"time_s": times_s(series), name: series["values"]})
            parts.append(pl.DataFrame(_plain(lead)).join(values, how="cross"))
        return pl.concat(parts, how="vertical_relaxed")

    @property
    def series_names(self) -> list[str]:
        """What `series` can be asked for."""
        return next((list(facts["series"]) for _, _, facts in self._rows()), [])

    def _lead(self, cell: CampaignCell, seed: int) -> dict[str, Any]:
        swept = {key: _value(cell.set[key]) for key in self.campaign.keys}
        ids = {"run_id": cell.run_id(seed), "scenario_hash": cell.short_hash, "cell": cell.index}
        return ids | swept | {"seed": seed}

    def replay(self, run_id: str, *, captures: bool = False) -> Run:
        """Does one of the runs again, with its frame timeline. Raises ArgumentError for a run that is none of them."""
        for cell, seeds in zip(self.campaign.cells, self._seeds, strict=True):
            for seed in seeds:
                if cell.run_id(seed) == run_id:
                    return cell.scenario.run(seed, cell=cell.number, timeline=True, captures=captures)
        raise ArgumentError(f"no run of this campaign is called `{run_id}`: take one of the column run_id")


def _value(value: Any) -> Any:
    return value if isinstance(value, str | bool | int | float) else toml(value)


def _plain(columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Columns of one type each: what mixes numbers and texts becomes text."""

    def plain(values: list[Any]) -> list[Any]:
        kinds = {type(value) for value in values}
        if kinds == {int, float}:
            return [float(value) for value in values]
        return values if len(kinds) <= 1 else [value if isinstance(value, str) else toml(value) for value in values]

    return {name: plain(values) for name, values in columns.items()}
