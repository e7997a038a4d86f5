"""Plans of slots for one radio at several access points, the model of round-trip times behind them, and what handshakes
leave of the rate: `airbraid plan`."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _core
from .errors import ArgumentError

if TYPE_CHECKING:
    import polars as pl

_Many = str | float | Sequence[str] | Sequence[float]


def _text(value: _Many) -> str:
    """A value or several as the command takes them, with commas between."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float | Sequence):
        raise TypeError(f"a text, a number or a list of them is needed, this is {value!r}")
    return ",".join(_text(one) for one in value) if isinstance(value, Sequence) else repr(value)


def _options(options: dict[str, Any]) -> str:
    plain = ("seed", "batch", "packets_per_ack")
    given = {name: value for name, value in options.items() if value is not None}
    return json.dumps({name: value if name in plain else _text(value) for name, value in given.items()})


class SlotPlan:
    """A plan of slots, beside those of every other policy."""

    def __init__(self, core: _core.SlotPlan, unused: Sequence[str] = ()) -> None:
        self._core = core
        self.unused = tuple(unused)
        """The access points that are not worth their switch."""

    @cached_property
    def report(self) -> dict[str, Any]:
        """The object of `airbraid plan --json`."""
        report: dict[str, Any] = json.loads(self._core.report_json())
        return report

    def frame(self) -> pl.DataFrame:
        """A row for each policy and access point: `policy`, `access_point`, `disconnection_s`, `rtt_mean_s`, `rtt_std_s`,
        `rtt_p50_s`, `rtt_p90_s`, `rtt_p99_s`, `throughput_bps`, `aggregate_bps` (of the policy), `switches` (in a period)."""
        import polars as pl

        names = [point["name"] for point in self.report["access_points"]]
        rows = []
        for plan in self.report["plans"]:
            for name, seen in zip(names, plan["access_points"], strict=True):
                rtt = seen["rtt_s"] or {}
                rows.append(
                    {"policy": plan["policy"], "access_point": name, "disconnection_s": seen["disconnection_ns"] / 1e9}
                    | {f"rtt_{key}_s": rtt.get(key) for key in ("mean", "std", "p50", "p90", "p99")}
                    | {"throughput_bps": seen["throughput_bps"], "aggregate_bps": plan["aggregate_bps"]}
                    | {"switches": plan["switches"]}
                )
        return pl.DataFrame(rows, infer_schema_length=None)

    def rtt_samples_s(self, policy: str) -> dict[str, list[float]]:
        """10,000 round-trip times [s] by the model for each access point, sorted; empty for one that is never connected.

        Raises ArgumentError for a policy that has no plan."""
        names = [point["name"] for point in self.report["access_points"]]
        return dict(zip(names, self._core.rtt_samples_s(policy), strict=True))

    def rtt_mean_s(self, policy: str, access_point: int, delay: str) -> float:
        """Mean round-trip time [s] that TCP sees through an access point (counted from 0) whose wire takes `delay`, by the
        closed form (Giustiniano et al. 2013, section 4.2); infinite without connection. Raises ArgumentError."""
        return self._core.rtt_mean_s(policy, access_point, delay)

    @property
    def text(self) -> str:
        """What `airbraid plan` prints."""
        return self._core.text()

    def save_svg(self, path: str | os.PathLike[str]) -> None:
        """Draws map and round-trip times into a file, as `airbraid plan --svg`."""
        Path(path).write_text(self._core.svg())

    def _repr_html_(self) -> str:
        return self._core.svg()

    def __repr__(self) -> str:
        report = self.report
        return f"<SlotPlan of {len(report['access_points'])} access points by {report['policy']}, {report['slots']} slots>"


def plan(
    duty: _Many | None = None,
    *,
    backhaul: _Many | None = None,
    wireless: _Many | None = None,
    scheduler: str | None = None,
    weight: _Many | None = None,
    slot: str | None = None,
    period: str | None = None,
    switch: str | None = None,
    delay: _Many | None = None,
    loss: _Many | None = None,
    flows: _Many | None = None,
    mss: str | None = None,
    names: _Many | None = None,
    policy: str | None = None,
    seed: int | None = None,
) -> SlotPlan:
    """Plans whose slot comes when, by every policy. The options are those of `airbraid plan`; a list, or a text with commas;
    quantities with their units.

    Either `duty`, the duty cycles, or `backhaul` and `wireless`, from which `scheduler` (fatvap, themis) derives them.
    Raises ArgumentError with the text of the command.
    """
    return SlotPlan(*_core.plan(_options(dict(locals()))))


def periods(periods: _Many, duty: _Many, *, delay: _Many | None = None, switch: str | None = None) -> pl.DataFrame:
    """Compares periods for given duty cycles: `period_ns`, `slots`, `shortest_ns`, `no_policy_bps`, `min_max_bps`, `refused`.

    Raises ArgumentError."""
    import polars as pl

    options = _options({"duty": duty, "delay": delay, "switch": switch})
    rows = json.loads(_core.periods(options, _text(periods)))["periods"]
    return pl.DataFrame(rows, infer_schema_length=None)


def efficiency(
    *,
    standard: str | None = None,
    preamble: str | None = None,
    rate: str | None = None,
    control_rate: str | None = None,
    packet: str | None = None,
    ack: str | None = None,
    llc: str | None = None,
    packets_per_ack: int | None = None,
    batch: int | None = None,
    switching: str | None = None,
    backoff: str | None = None,
) -> pl.DataFrame:
    """What 802.11, MCMAC and Bi-MCMAC leave of the rate, by arithmetic (Kuang and Williamson 2004, appendix A): a row for
    each MAC, columns as `airbraid plan efficiency --json`. Raises ArgumentError."""
    options = _options(dict(locals()))
    import polars as pl

    return pl.DataFrame(json.loads(_core.efficiency(options))["macs"], infer_schema_length=None)


__all__ = ["ArgumentError", "SlotPlan", "efficiency", "periods", "plan"]
