"""Statistics of independent replications: means with intervals, differences on common seeds, fairness, when to stop."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _core
from .errors import ArgumentError

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


@dataclass(frozen=True)
class Interval:
    """A mean with its confidence interval by Student's t; in the unit of the values."""

    mean: float | None
    """None for no values."""
    std: float | None
    """Of the sample (n - 1); none for fewer than two."""
    low: float | None
    high: float | None
    n: int
    level: float

    @property
    def half_width(self) -> float | None:
        """Half the width of the interval."""
        return None if self.high is None or self.low is None else (self.high - self.low) / 2


def interval(values: Iterable[float], level: float = 0.95) -> Interval:
    """The mean of independent `values` and its confidence interval of `level`.

    Student's t assumes values that are nearly normal, or many. Raises ArgumentError for a level outside (0, 1).
    """
    listed = [float(value) for value in values]
    n = len(listed)
    _checked(level)
    if n == 0:
        return Interval(None, None, None, None, 0, level)
    mean = math.fsum(listed) / n
    if n == 1:
        return Interval(mean, None, None, None, 1, level)
    std = math.sqrt(math.fsum((value - mean) ** 2 for value in listed) / (n - 1))
    half = _core.student_t(level, n - 1) * std / math.sqrt(n)
    return Interval(mean, std, mean - half, mean + half, n, level)


def mean_ci(frame: pl.DataFrame | pd.DataFrame, metric: str, by: str | Sequence[str] = (), level: float = 0.95) -> pl.DataFrame:
    """Mean and confidence interval of a column, for each combination of the columns `by`, in their order in `frame`.

    Columns: those of `by`, `metric` (its name, which has the unit), `mean`, `std`, `low`, `high`, `n`, `level`; `std`, `low`
    and `high` are null for one run. If `frame` is of a campaign, also `seeds` and `scenario_hashes`, which plots put
    into the metadata of their files. Raises ArgumentError for a column that is not there.
    """
    table = as_polars(frame)
    keys = _keys(by)
    need(table, [metric, *keys])
    rows = []
    for group in _groups(table, keys):
        found = interval(group[metric].drop_nulls().to_list(), level)
        rows.append(_first(group, keys) | {"metric": metric} | _columns(found) | _origin(group))
    return _table(rows, keys)


def paired(
    frame: pl.DataFrame | pd.DataFrame,
    metric: str,
    between: str,
    baseline: object,
    by: str | Sequence[str] = (),
    level: float = 0.95,
    on: str = "seed",
) -> pl.DataFrame:
    """Differences to a baseline on common seeds: for each value of the column `between` but `baseline`, the mean of
    (value's run - baseline's run with the same seed) and its confidence interval.

    Runs with one seed see the same topology, traffic and channel: the difference varies less than either, and an interval
    that excludes 0 is a difference. Columns: those of `by`, `between`, `metric`, `mean`, `std`, `low`, `high`, `n` (pairs),
    `level`, `baseline_mean`; `seeds` and `scenario_hashes` as `mean_ci`. Raises ArgumentError for a column or a baseline
    that is not there.
    """
    import polars as pl

    table = as_polars(frame)
    keys = _keys(by)
    need(table, [metric, between, on, *keys])
    if baseline not in table[between].to_list():
        there = table[between].unique(maintain_order=True).to_list()
        raise ArgumentError(f"baseline: no run has {between} = {baseline!r}; there are {there}")
    rows = []
    for group in _groups(table, keys):
        base = group.filter(pl.col(between) == baseline).select(on, pl.col(metric).alias("_base"))
        if base[on].n_unique() < base.height:
            raise ArgumentError(f"several runs of the baseline have one {on}: name what else is swept in `by`")
        for value in group[between].unique(maintain_order=True).to_list():
            if value == baseline:
                continue
            pairs = group.filter(pl.col(between) == value).join(base, on=on).drop_nulls([metric, "_base"])
            found = interval((pairs[metric] - pairs["_base"]).to_list(), level)
            lead = _first(group, keys) | {between: value, "metric": metric}
            base_mean = {"baseline_mean": pairs["_base"].mean() if pairs.height else None}
            rows.append(lead | _columns(found) | base_mean | _origin(pairs))
    return _table(rows, [*keys, between])


def jain(values: Iterable[float]) -> float | None:
    """Jain's index of fairness: 1 if all are equal, one over their number if one has everything; none if nobody has any."""
    listed = [float(value) for value in values]
    squares = math.fsum(value * value for value in listed)
    return math.fsum(listed) ** 2 / (len(listed) * squares) if squares > 0 else None


@dataclass(frozen=True)
class Until:
    """When a cell of a campaign has enough replications: half its interval is `relative` of the mean, or `absolute`, or less.

    It is looked at after `least` runs and every `step` further ones, by the order of the seeds, so that the result does
    not depend on who is faster. Looking again and again makes the true level somewhat lower than `level`: for a level
    that counts take a larger `least`. Raises ArgumentError.
    """

    metric: str
    relative: float | None = None
    absolute: float | None = None
    level: float = 0.95
    least: int = 10
    step: int = 5

    def __post_init__(self) -> None:
        if (self.relative is None) == (self.absolute is None):
            raise ArgumentError("until: give `relative` or `absolute`, one of them")
        width = self.relative if self.relative is not None else self.absolute
        if width is None or not width > 0:
            raise ArgumentError(f"until: a half width above 0 is needed, not {width}")
        if self.least < 2 or self.step < 1:
            raise ArgumentError("until: two runs at least make an interval, and a step is one run at least")
        _checked(self.level)

    def __str__(self) -> str:
        width = f"{self.relative:.2%} of the mean" if self.relative is not None else f"{self.absolute:g}"
        return f"half an interval of {width} for {self.metric} ({self.level:.0%})"

    def is_met(self, values: Sequence[float]) -> bool:
        """Whether these are enough."""
        found = interval(values, self.level)
        if found.half_width is None or found.mean is None:
            return False
        limit = self.absolute if self.relative is None else self.relative * abs(found.mean)
        return limit is not None and found.half_width <= limit


def as_polars(frame: pl.DataFrame | pd.DataFrame) -> pl.DataFrame:
    """A frame of pandas as one of polars. Raises TypeError for what is no frame."""
    import polars as pl

    if isinstance(frame, pl.DataFrame):
        return frame
    if hasattr(frame, "columns") and hasattr(frame, "iloc"):
        columns = {str(name): frame[name].to_list() for name in frame.columns}
        return pl.DataFrame(columns, nan_to_null=True)
    raise TypeError(f"a frame of polars or pandas is needed, this is {type(frame).__name__}")


def _checked(level: float) -> None:
    if not 0 < level < 1:
        raise ArgumentError(f"a level is above 0 and below 1, as 0.95 is; this is {level}")


def _keys(by: str | Sequence[str]) -> list[str]:
    return [by] if isinstance(by, str) else list(by)


def need(table: pl.DataFrame, names: Sequence[str]) -> None:
    """Raises ArgumentError for a column that is not there."""
    for name in names:
        if name not in table.columns:
            import difflib

            near = difflib.get_close_matches(name, table.columns, 1)
            meant = f"did you mean `{near[0]}`? " if near else ""
            raise ArgumentError(f"there is no column `{name}`: {meant}there are {', '.join(table.columns)}")


def _groups(table: pl.DataFrame, keys: Sequence[str]) -> list[pl.DataFrame]:
    return table.partition_by(list(keys), maintain_order=True) if keys else [table]


def _first(group: pl.DataFrame, keys: Sequence[str]) -> dict[str, Any]:
    return {key: group[key][0] for key in keys}


def _columns(found: Interval) -> dict[str, Any]:
    return {
        "mean": found.mean, "std": found.std, "low": found.low, "high": found.high, "n": found.n, "level": found.level,
    }  # fmt: skip


def _origin(group: pl.DataFrame) -> dict[str, Any]:
    """What the rows of a group came from."""
    columns = {"seeds": "seed", "scenario_hashes": "scenario_hash"}
    return {name: group[of].unique(maintain_order=True).to_list() for name, of in columns.items() if of in group.columns}


def _table(rows: list[dict[str, Any]], keys: Sequence[str]) -> pl.DataFrame:
    import polars as pl

    if not rows:
        raise ArgumentError(f"there is nothing to compare in {', '.join(keys) or 'the frame'}")
    real = dict.fromkeys(("mean", "std", "low", "high", "baseline_mean"), pl.Float64)
    return pl.DataFrame(rows, schema_overrides={name: kind for name, kind in real.items() if name in rows[0]})
