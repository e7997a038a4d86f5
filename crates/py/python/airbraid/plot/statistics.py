"""Plots of campaigns: lines with bands, distributions, heat maps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from ..errors import ArgumentError
from ..stats import as_polars, need
from .figure import COLOURS, MARKERS, Figure, canvas, origin, shown

if TYPE_CHECKING:
    import pandas as pd


def _numbers(values: list[Any]) -> tuple[list[float], list[str] | None]:
    """Where values are put on an axis, and their labels: quantities by their number if all have one unit."""
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return [float(value) for value in values], None
    parts = [str(value).split(maxsplit=1) for value in values]
    try:
        numbers = [float(part[0]) for part in parts]
    except (ValueError, IndexError):
        numbers = []
    if numbers and len({part[1] if len(part) > 1 else "" for part in parts}) == 1:
        return numbers, None
    distinct = list(dict.fromkeys(values))
    return [float(distinct.index(value)) for value in values], [str(value) for value in distinct]


def _unit(values: list[Any]) -> str:
    units = {part[1] if len(part := str(value).split(maxsplit=1)) > 1 else "" for value in values}
    return f" [{units.pop()}]" if len(units) == 1 and units != {""} else ""


def _groups(table: pl.DataFrame, hue: str | None) -> list[tuple[str, pl.DataFrame]]:
    if hue is None:
        return [("", table)]
    parts = table.partition_by(hue, maintain_order=True)
    return [(str(part[hue][0]), part) for part in parts]


def lines(
    table: pl.DataFrame | pd.DataFrame, x: str, hue: str | None = None, *, title: str | None = None, zero: bool = True
) -> Figure:
    """A line with a band for each value of `hue`, from what `stats.mean_ci` or `stats.paired` gave.

    `x`: a swept key; texts with one unit are put by their numbers, others one beside the other. `zero`: the axis begins at
    zero. A mean of one run has no band and is marked `n = 1`. Raises ArgumentError for a column that is not there.
    """
    frame = as_polars(table)
    need(frame, [x, "mean", "low", "high", "n", "metric", *([hue] if hue else [])])
    if frame["metric"].n_unique() != 1:
        raise ArgumentError("lines: all rows must be of one metric")
    drawn, axes = canvas(title)
    factor, label = shown(frame["metric"][0])
    places, ticks = _numbers(frame[x].to_list())
    frame = frame.with_columns(pl.Series("_x", places))
    for number, (name, group) in enumerate(_groups(frame, hue)):
        _line(axes, group.sort("_x"), number, factor, name)
    if ticks is not None:
        axes.set_xticks(range(len(ticks)), ticks)
        axes.margins(x=0.12)
    axes.set_xlabel(x + _unit(frame[x].to_list()))
    axes.set_ylabel(label)
    if zero and frame["mean"].min() >= 0:  # type: ignore[operator]
        axes.set_ylim(bottom=0)
    if hue is not None:
        axes.legend(title=hue, frameon=False, fontsize="small", title_fontsize="small")
    return Figure(drawn, axes, origin(frame))


def _line(axes: Axes, group: pl.DataFrame, number: int, factor: float, name: str) -> None:
    colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
    at, mean = group["_x"].to_numpy(), group["mean"].to_numpy() * factor
    axes.plot(at, mean, color=colour, marker=marker, markersize=4, linewidth=1.4, label=name)
    low, high = (group[side].to_numpy().astype(float) * factor for side in ("low", "high"))
    axes.fill_between(at, low, high, color=colour, alpha=0.2, linewidth=0)
    if len(at) == 1 and np.isfinite(low).all():
        axes.errorbar(at, mean, [mean - low, high - mean], color=colour, capsize=3)
    for place, height, n in zip(at, mean, group["n"].to_list(), strict=True):
        if n == 1:
            axes.annotate("n = 1", (place, height), (4, 4), textcoords="offset points", fontsize="x-small", color=colour)


def cdf(table: pl.DataFrame | pd.DataFrame, metric: str, hue: str | None = None, *, title: str | None = None) -> Figure:
    """The distribution of a column: which share of the rows has this value or less, a curve for each value of `hue`.

    Raises ArgumentError for a column that is not there or has no number.
    """
    frame = as_polars(table)
    need(frame, [metric, *([hue] if hue else [])])
    drawn, axes = canvas(title)
    factor, label = shown(metric)
    for number, (name, group) in enumerate(_groups(frame, hue)):
        values = np.sort(group[metric].drop_nulls().to_numpy().astype(float)) * factor
        if values.size == 0:
            raise ArgumentError(f"cdf: `{metric}` has no number{f' where {hue} = {name}' if hue else ''}")
        share = np.arange(values.size + 1) / values.size
        colour = COLOURS[number % len(COLOURS)]
        axes.step(np.r_[values[0], values], share, where="post", color=colour, linewidth=1.4, label=name)
    axes.set_xlabel(label)
    axes.set_ylabel("share of the rows")
    axes.set_ylim(0, 1.02)
    if hue is not None:
        axes.legend(title=hue, frameon=False, fontsize="small", title_fontsize="small")
    return Figure(drawn, axes, origin(frame) | {"metric": metric})


def heat_map(table: pl.DataFrame | pd.DataFrame, x: str, y: str, *, title: str | None = None) -> Figure:
    """The means of a sweep over two keys, a field for each cell, from what `stats.mean_ci` gave.

    Raises ArgumentError for a column that is not there, or where a field has several rows.
    """
    frame = as_polars(table)
    need(frame, [x, y, "mean", "metric", "n"])
    columns, rows = (frame[key].unique(maintain_order=True).to_list() for key in (x, y))
    factor, label = shown(frame["metric"][0])
    field = np.full((len(rows), len(columns)), np.nan)
    for row in frame.iter_rows(named=True):
        place = rows.index(row[y]), columns.index(row[x])
        if np.isfinite(field[place]):
            raise ArgumentError(f"heat_map: several rows have {x} = {row[x]} and {y} = {row[y]}: choose among them first")
        field[place] = row["mean"] * factor if row["mean"] is not None else np.nan
    drawn, axes = canvas(title, height=1.6 + 0.5 * len(rows))
    axes.grid(visible=False)
    image = axes.imshow(field, cmap="cividis", aspect="auto", origin="lower")
    middle = (np.nanmin(field) + np.nanmax(field)) / 2
    for (i, j), value in np.ndenumerate(field):
        colour = "black" if value > middle else "white"
        axes.text(j, i, f"{value:.3g}", ha="center", va="center", fontsize="small", color=colour)
    axes.set_xticks(range(len(columns)), [str(value) for value in columns])
    axes.set_yticks(range(len(rows)), [str(value) for value in rows])
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    drawn.colorbar(image, ax=axes, label=label)
    return Figure(drawn, axes, origin(frame))
