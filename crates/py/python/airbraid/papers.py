"""Reproductions of papers: `airbraid reproduce`."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from . import _core
from .progress import Progress

if TYPE_CHECKING:
    import polars as pl


def papers() -> list[str]:
    """The papers that `reproduce` knows."""
    return _core.papers()


class Reproduction:
    """The rows of a paper beside ours."""

    def __init__(self, rows: dict[str, Any]) -> None:
        self.rows = rows
        """The object of `airbraid reproduce --json`."""

    def frame(self) -> pl.DataFrame:
        """A row for each row of the paper's table: `id`, `unit`, `paper`, `accept`, `mean`, `std`, `low`, `high` (99 %), `n`,
        `kind`, `origin`, `verdict`, `note`. The value of the paper is text; ours is null where it is a list or none."""
        import polars as pl

        return pl.DataFrame([_row(row) for row in self.rows["rows"]], infer_schema_length=None)

    def verdicts(self) -> dict[str, int]:
        """How many rows have each verdict."""
        found = [row["verdict"] for row in self.rows["rows"]]
        return {verdict: found.count(verdict) for verdict in dict.fromkeys(found)}

    def __repr__(self) -> str:
        return f"<Reproduction of {self.rows['paper']}: {self.verdicts()}>"


def _row(row: dict[str, Any]) -> dict[str, Any]:
    ours = row["ours"]
    number = not isinstance(ours["mean"], list)
    low, high = (ours["ci99"] or (None, None)) if number else (None, None)
    paper = row["paper"]
    return (
        {"id": row["id"], "unit": row["unit"], "paper": paper if isinstance(paper, str | None) else json.dumps(paper)}
        | {"accept": row["accept"], "mean": ours["mean"] if number else None, "std": ours["std"] if number else None}
        | {"low": low, "high": high, "n": ours["n"], "kind": row["kind"], "origin": row["origin"]}
        | {"verdict": row["verdict"], "note": row["note"]}
    )


def reproduce(
    paper: str,
    *,
    only: Sequence[str] = (),
    quick: bool = False,
    jobs: int | None = None,
    store: str | os.PathLike[str] | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: bool | Callable[[int, int], None] | None = None,
) -> Reproduction:
    """Reproduces a paper, as `airbraid reproduce`.

    `only`: figures or rows; `quick`: short runs, few replications; `jobs`: threads for as long as it works (none: as many
    as cores); `store`: a directory with the run store; `out`: a directory for report.html, rows.json and rows.csv;
    `progress` as for `Campaign.run`. Ctrl-C stops it; with a store the same call goes on from there.
    Raises ArgumentError for a paper, figure or row that does not exist, StoreError, RunError.
    """
    if isinstance(only, str):
        raise TypeError(f"only: a list of figures or rows is needed, this is {only!r}")
    if jobs is not None and (isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1):
        raise ValueError(f"jobs: a number from 1 on is needed, this is {jobs!r}")
    place = [None if path is None else os.fspath(path) for path in (store, out)]
    with Progress(0, progress) as bar:
        text, notes = _core.reproduce(paper, list(only), quick, jobs or 0, place[0], place[1], bar.to)
    for note in notes:
        warnings.warn(note, stacklevel=2)
    return Reproduction(json.loads(text))
