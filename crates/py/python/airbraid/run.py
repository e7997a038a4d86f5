"""What one run gave: its result, its series, its frames."""

from __future__ import annotations

import json
import re
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _core
from .errors import ArgumentError

if TYPE_CHECKING:
    import polars as pl

_UNITS_S = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}

# A line of the frame timeline: time in groups of three digits, who, what, and the rest by what it is.
_LINE = re.compile(r"^ *(\d+)\.(\d{3}) (\d{3}) (\d{3})  (\S+) +(TX|RX ok|RX err|DROP|DELIVER|TIMER) +(.*)$")
_FRAME = re.compile(
    r"^(?P<kind>\S+) +(?:->|<-) (?P<peer>\S+) +(?P<size_bytes>\d+) B +(?P<rate>[\d.]+) Mbit/s"
    r"(?:  seq (?P<sequence>\d+) *)?(?P<retry>  retry)?(?P<power_save>  PS)?"
    r"(?:  dur (?P<nav_us>\d+) us)?(?:  (?P<signal_dbm>-?[\d.]+) dBm)?(?:  (?P<cause>collision|channel))?"
    r"(?:  \(cw (?P<cw>\d+), backoff (?P<backoff>\d+)\))?$"
)
_PACKET = re.compile(r"^(?P<flow>.+?) #(?P<number>\d+)  (?P<size_bytes>\d+) B  (?P<rest>.+)$")
_DELAY = re.compile(r"^after (\d+)\.(\d{3}) ms$")


def seconds(time: str | float) -> float:
    """A time with its unit (`"30 s"`, `"250 ms"`), or a number of seconds [s]. Raises ArgumentError."""
    if isinstance(time, int | float):
        return float(time)
    found = re.fullmatch(r"\s*([\d.]+)\s*([a-z]+)\s*", time)
    if found is None or found[2] not in _UNITS_S:
        raise ArgumentError(f"{time}: a time with its unit is needed, as 30 s or 250 ms")
    return float(found[1]) * _UNITS_S[found[2]]


class Run:
    """One cell with one seed, done.

    `metrics` has every number by the name that summaries use, `result` the whole as the command's `--json` has it.
    """

    def __init__(self, core: _core.Run) -> None:
        self._core = core

    @cached_property
    def result(self) -> dict[str, Any]:
        """One element of `runs` of `airbraid run --json`."""
        result: dict[str, Any] = json.loads(self._core.result_json())
        return result

    @cached_property
    def _facts(self) -> dict[str, Any]:
        facts: dict[str, Any] = json.loads(self._core.facts_json())
        return facts

    @property
    def metrics(self) -> dict[str, float]:
        """Each number by its name, the unit last: `flow.download.goodput_bps`."""
        metrics: dict[str, float] = self._facts["metrics"]
        return metrics

    def series(self, name: str) -> pl.DataFrame:
        """Values by interval: columns `time_s` (the end of each) and one called as the series. Raises ArgumentError."""
        import polars as pl

        series = series_named(self._facts["series"], name)
        return pl.DataFrame({"time_s": times_s(series), name: series["values"]})

    @property
    def series_names(self) -> list[str]:
        """What `series` can be asked for."""
        return list(self._facts["series"])

    @property
    def text(self) -> str:
        """The frame timeline as readable lines. Raises ArgumentError if it was not recorded."""
        if self._core.timeline is None:
            raise ArgumentError("no frames were recorded: run with timeline=True, or replay")
        return self._core.timeline

    def timeline(self, who: str | None = None, after: str | float = 0.0, before: str | float | None = None) -> pl.DataFrame:
        """The frame timeline, a row for each thing that happened, by time.

        `who`: only of this node or radio (`sender`, `sender/ch1`). Columns: `time_s`, `who`, `event` (TX, RX ok, RX err,
        DROP, DELIVER, TIMER), `kind` and `peer` of a frame, `size_bytes`, `rate_bps`, `sequence`, `retry`, `nav_us`,
        `signal_dbm`, `cause`, `cw`, `backoff` (slots), `flow`, `number`, `delay_s`, `detail`; null where a row has none.
        Times are rounded to the double nearest to the nanosecond. Raises ArgumentError if it was not recorded.
        """
        import polars as pl

        begin, end = seconds(after), float("inf") if before is None else seconds(before)
        rows = []
        for line in self.text.splitlines():
            row = read_line(line)
            station = row["who"]
            mine = who is None or station == who or station.startswith(f"{who}/")
            if mine and begin <= row["time_s"] < end:
                rows.append(row)
        return pl.DataFrame(rows, schema=_schema())

    @property
    def captures(self) -> dict[str, bytes]:
        """Captures as pcapng, by file name; empty if they were not recorded."""
        return self._core.captures

    def save_captures(self, directory: str | Path) -> list[Path]:
        """Writes the captures as files for Wireshark."""
        directory = Path(directory)
        directory.mkdir(parents=True, exist_ok=True)
        written = []
        for name, content in self.captures.items():
            written.append(directory / name)
            written[-1].write_bytes(content)
        return written

    def __repr__(self) -> str:
        result = self.result
        return f"<Run seed {result['seed']}, {result['duration_s']:g} s, {result['events']} events>"


def series_named(all_series: dict[str, Any], name: str) -> dict[str, Any]:
    """The series of this name. Raises ArgumentError with the names that there are."""
    if name not in all_series:
        raise ArgumentError(f"no series is called `{name}`; there are {', '.join(all_series) or 'none'}")
    found: dict[str, Any] = all_series[name]
    return found


def times_s(series: dict[str, Any]) -> list[float]:
    """The end of each interval of a series [s]."""
    return [(i + 1) * series["interval_s"] for i in range(len(series["values"]))]


def read_line(line: str) -> dict[str, Any]:
    """The parts of a line of the frame timeline."""
    found = _LINE.match(line)
    if found is None:
        raise ValueError(f"not a line of a timeline: {line}")
    whole, ms, us, ns, who, event, rest = found.groups()
    row: dict[str, Any] = {"time_s": int(whole + ms + us + ns) / 1e9, "who": who, "event": event}
    if event == "TIMER":
        return {**row, "detail": rest}
    parts = (_PACKET if event in ("DROP", "DELIVER") else _FRAME).match(rest)
    if parts is None:
        raise ValueError(f"not a line of a timeline: {line}")
    values = parts.groupdict()
    if event in ("DROP", "DELIVER"):
        delay = _DELAY.match(values["rest"])
        packet = {"flow": values["flow"], "number": int(values["number"]), "size_bytes": int(values["size_bytes"])}
        last = {"detail": values["rest"]} if delay is None else {"delay_s": int(delay[1] + delay[2]) / 1e6}
        return row | packet | last
    integers = {name: int(values[name]) for name in ("size_bytes", "sequence", "nav_us", "cw", "backoff") if values[name]}
    signal = {"signal_dbm": float(values["signal_dbm"])} if values["signal_dbm"] else {}
    frame = {
        "kind": values["kind"],
        "peer": values["peer"],
        "rate_bps": round(float(values["rate"]) * 1e6),
        "retry": values["retry"] is not None,
        "cause": values["cause"],
    }
    return row | frame | integers | signal


def _schema() -> dict[str, Any]:
    import polars as pl

    text, whole, real = pl.String, pl.Int64, pl.Float64
    return {
        "time_s": real, "who": text, "event": text, "kind": text, "peer": text, "size_bytes": whole, "rate_bps": whole,
        "sequence": whole, "retry": pl.Boolean, "nav_us": whole, "signal_dbm": real, "cause": text, "cw": whole,
        "backoff": whole, "flow": text, "number": whole, "delay_s": real, "detail": text,
    }  # fmt: skip
