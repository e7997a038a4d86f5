"""Plots of one run or a few: the course of a number, the frames on the air."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from ..errors import ArgumentError
from ..run import Run, seconds
from ..stats import as_polars, need
from .figure import COLOURS, Figure, canvas, origin, shown

if TYPE_CHECKING:
    import pandas as pd

_KINDS = ("DATA", "ACK", "RTS", "CTS", "CRN", "NULL")
_FAILED = "#d55e00"

# More frames in one picture cannot be told apart.
_FRAMES_MAX = 2_000


def time_sequence(table: pl.DataFrame | pd.DataFrame, hue: str | None = None, *, title: str | None = None) -> Figure:
    """The course of a number over the time of the run, from `Run.series` or `Runs.series`: the last column over `time_s`, a
    line for each run, coloured by `hue`. With `[record] sequence` in the scenario, `flow.NAME.sequence_bytes` is the
    time-sequence diagram of TCP. Raises ArgumentError for a column that is not there.
    """
    frame = as_polars(table)
    need(frame, ["time_s", *([hue] if hue else [])])
    name = frame.columns[-1]
    factor, label = shown(name)
    drawn, axes = canvas(title)
    colours: dict[str, str] = {}
    runs = frame.partition_by("run_id", maintain_order=True) if "run_id" in frame.columns else [frame]
    for run in runs:
        key = str(run[hue][0]) if hue else ""
        colour = colours.setdefault(key, COLOURS[len(colours) % len(COLOURS)])
        axes.plot(run["time_s"].to_numpy(), run[name].to_numpy() * factor, color=colour, linewidth=0.9, alpha=0.8)
    axes.set_xlabel("time [s]")
    axes.set_ylabel(label)
    axes.set_xlim(left=0)
    if frame[name].min() >= 0:  # type: ignore[operator]
        axes.set_ylim(bottom=0)
    if hue is not None:
        lines = [Line2D([], [], color=colour, label=key) for key, colour in colours.items()]
        axes.legend(handles=lines, title=hue, frameon=False, fontsize="small", title_fontsize="small")
    return Figure(drawn, axes, origin(frame) | {"metric": name})


def frames(run: Run, after: str | float, before: str | float, *, title: str | None = None) -> Figure:
    """The frames on the air between two times, a line for each radio: a bar from the beginning of a transmission to its end,
    hatched where its receiver could not read it. The end is when the receiver had it; a frame that nobody received is
    drawn as a tick. Raises ArgumentError without a timeline, or for more frames than can be told apart.
    """
    begin, end = seconds(after), seconds(before)
    # What is on the air at the end of the picture ends a little later: an MPDU of 1 Mbit/s takes 20 ms at most.
    bars = [bar for bar in _bars(run.timeline(after=begin, before=end + 0.02)) if bar["start_s"] < end]
    if len(bars) > _FRAMES_MAX:
        raise ArgumentError(f"frames: {len(bars)} frames cannot be told apart: shorten the time, {_FRAMES_MAX} at most")
    stations = sorted({bar["who"] for bar in bars})
    if not stations:
        raise ArgumentError(f"frames: nothing was sent between {begin:g} s and {end:g} s")
    drawn, axes = canvas(title, height=1.2 + 0.45 * len(stations))
    axes.grid(visible=False, axis="y")
    kinds: dict[str, str] = {}
    for bar in bars:
        known = _KINDS.index(bar["kind"]) if bar["kind"] in _KINDS else len(_KINDS)
        colour = kinds.setdefault(bar["kind"], COLOURS[(0, 2, 4, 5, 3, 6, 6)[known]])
        place = stations.index(bar["who"])
        start = (bar["start_s"] - begin) * 1e3
        if bar["end_s"] is None:
            axes.plot([start, start], [place - 0.32, place + 0.32], color=colour, linewidth=1)
            continue
        hatch, edge = ("////", _FAILED) if bar["cause"] else (None, "none")
        width = (bar["end_s"] - bar["start_s"]) * 1e3
        axes.barh(place, width, 0.64, start, color=colour, hatch=hatch, edgecolor=edge)
    axes.set_yticks(range(len(stations)), stations)
    axes.set_ylim(-0.6, len(stations) - 0.4)
    axes.invert_yaxis()
    axes.set_xlim(0, (end - begin) * 1e3)
    axes.set_xlabel(f"time after {begin:g} s [ms]")
    patches = [Patch(color=colour, label=kind) for kind, colour in kinds.items()]
    if any(bar["cause"] for bar in bars):
        patches.append(Patch(facecolor="white", edgecolor=_FAILED, hatch="////", label="not readable"))
    axes.legend(handles=patches, frameon=False, fontsize="small", ncols=len(patches), loc="lower right", bbox_to_anchor=(1, 1))
    return Figure(drawn, axes, {"seeds": [run.result["seed"]]})


def _bars(table: pl.DataFrame) -> list[dict[str, Any]]:
    """Each transmission with its end: when its receiver had it, or could not read it."""
    open_bars: dict[tuple[str, str], dict[str, Any]] = {}
    bars = []
    for row in table.iter_rows(named=True):
        if row["event"] == "TX":
            bar = {"who": row["who"], "kind": row["kind"], "start_s": row["time_s"], "end_s": None, "cause": None}
            open_bars[row["who"], row["peer"]] = bar
            bars.append(bar)
        elif row["event"] in ("RX ok", "RX err"):
            # A broadcast is received by many; the last of them ends it.
            for peer in (row["who"], "everybody"):
                sent = open_bars.get((row["peer"], peer))
                if sent is not None and sent["kind"] == row["kind"]:
                    sent["end_s"] = row["time_s"]
                    sent["cause"] = row["cause"]
                    break
    return bars
