"""Statistics against tables and pocket calculators."""

from typing import Any

import airbraid as ab
import pandas as pd
import polars as pl
import pytest
from airbraid import stats

FRAME = pl.DataFrame({"d": ["a"] * 4 + ["b"] * 4, "seed": [1, 2, 3, 4] * 2, "x_bps": [5.0, 5.1, 4.9, 5.2, 6.0, 6.2, 5.8, 6.1]})


def test_an_interval_is_that_of_the_tables() -> None:
    found = stats.interval([5.0, 5.1, 4.9, 5.2, 4.8], level=0.99)
    assert found.mean == pytest.approx(5.0)
    # 4.604095 * 0.158114 / sqrt 5
    assert found.low == pytest.approx(4.67444, abs=1e-5)
    assert found.high == pytest.approx(5.32556, abs=1e-5)
    assert stats.interval([3.0]) == stats.Interval(3.0, None, None, None, 1, 0.95)
    assert stats.interval([]).mean is None
    for level in (0, 1, 95):
        with pytest.raises(ab.ArgumentError, match=r"as 0\.95 is"):
            stats.interval([1, 2], level)


def test_means_by_cell_keep_their_origin() -> None:
    table = stats.mean_ci(FRAME, "x_bps", by="d")
    assert table.columns == ["d", "metric", "mean", "std", "low", "high", "n", "level", "seeds"]
    assert table["mean"].to_list() == pytest.approx([5.05, 6.025])
    assert table["seeds"].to_list() == [[1, 2, 3, 4]] * 2
    assert stats.mean_ci(pd.DataFrame(FRAME.to_dict(as_series=False)), "x_bps", by=["d"]).equals(table)
    with pytest.raises(ab.ArgumentError, match="no column `x_bp`: did you mean `x_bps`"):
        stats.mean_ci(FRAME, "x_bp")
    with pytest.raises(TypeError, match="a frame of polars or pandas"):
        stats.mean_ci([1, 2], "x_bps")  # type: ignore[arg-type]


def test_pairs_vary_less_than_their_halves() -> None:
    table = stats.paired(FRAME, "x_bps", between="d", baseline="a")
    row = table.row(0, named=True)
    # 1.0, 1.1, 0.9, 0.9: mean 0.975, deviation 0.0957, t 3.182446.
    assert (row["d"], row["n"]) == ("b", 4)
    assert row["mean"] == pytest.approx(0.975)
    assert row["high"] - row["mean"] == pytest.approx(3.182446 * 0.0957427 / 2, rel=1e-5)
    assert row["baseline_mean"] == pytest.approx(5.05)
    alone = stats.mean_ci(FRAME, "x_bps", by="d")
    assert row["high"] - row["low"] < (alone["high"] - alone["low"]).max()
    with pytest.raises(ab.ArgumentError, match="there are \\['a', 'b'\\]"):
        stats.paired(FRAME, "x_bps", between="d", baseline="c")
    with pytest.raises(ab.ArgumentError, match="name what else is swept"):
        stats.paired(pl.concat([FRAME, FRAME]), "x_bps", between="d", baseline="a")


def test_seeds_that_one_side_lacks_make_no_pair() -> None:
    table = stats.paired(FRAME.filter(~((pl.col("d") == "a") & (pl.col("seed") > 2))), "x_bps", between="d", baseline="a")
    assert table["n"].to_list() == [2]
    assert table["seeds"].to_list() == [[1, 2]]


def test_jain() -> None:
    assert stats.jain([1, 1, 1, 1]) == 1.0
    assert stats.jain([1, 0, 0, 0]) == 0.25
    assert stats.jain([0, 0]) is None


def test_until_is_met_when_the_interval_is_narrow() -> None:
    until = stats.Until("x_bps", relative=0.05, least=3)
    assert not until.is_met([1.0])
    assert not until.is_met([1.0, 2.0, 3.0])
    assert until.is_met([1.0, 1.01, 0.99, 1.0])
    assert stats.Until("x_bps", absolute=10).is_met([1.0, 2.0, 3.0])
    wrong: list[dict[str, Any]] = [{}, {"relative": 0.1, "absolute": 1}, {"relative": 0}, {"relative": 0.1, "level": 2}]
    for arguments in [*wrong, {"relative": 0.1, "least": 1}]:
        with pytest.raises(ab.ArgumentError):
            stats.Until("x_bps", **arguments)
