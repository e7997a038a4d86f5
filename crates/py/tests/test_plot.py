"""Plots: each kind is drawn, and its file says what it was made from."""

import hashlib
from pathlib import Path

import airbraid as ab
import polars as pl
import pytest
from airbraid import plot

GOODPUT = "flow.download.goodput_bps"


@pytest.fixture(scope="module")
def runs(trunk: ab.Scenario) -> ab.Runs:
    return ab.Campaign(trunk, {"radio.rate": ["2 Mbit/s", "11 Mbit/s"]}, seeds=[1, 2, 3]).run(workers=2)


@pytest.mark.parametrize("ending", ["png", "pdf", "svg"])
def test_a_line_with_a_band_says_where_it_is_from(runs: ab.Runs, tmp_path: Path, ending: str) -> None:
    table = ab.stats.mean_ci(runs.frame(), GOODPUT, by=runs.campaign.keys, level=0.9)
    figure = plot.lines(table, x="radio.rate", hue="trunk.air.members")
    assert figure.axes.get_xlabel() == "radio.rate [Mbit/s]"
    assert figure.axes.get_ylabel() == "download goodput [Mbit/s]"
    assert [line.get_xdata().tolist() for line in figure.axes.lines] == [[2.0, 11.0]] * 2  # type: ignore[union-attr]
    assert len(figure.axes.collections) == 2, "bands"
    path = figure.save(tmp_path / f"figure.{ending}")
    found = plot.provenance(path)
    assert found["commit"] == ab.COMMIT
    assert found["seeds"] == [1, 2, 3]
    assert (found["metric"], found["level"]) == (GOODPUT, 0.9)
    assert found["scenario_hashes"] == sorted(runs.frame()["scenario_hash"].unique())
    digest = hashlib.sha256(path.read_bytes()).digest()
    again = plot.lines(table, x="radio.rate", hue="trunk.air.members").save(tmp_path / f"again.{ending}")
    assert hashlib.sha256(again.read_bytes()).digest() == digest


def test_one_run_is_marked_as_one(runs: ab.Runs) -> None:
    table = ab.stats.mean_ci(runs.frame().filter(pl.col("seed") == 1), GOODPUT, by=runs.campaign.keys)
    figure = plot.lines(table, x="radio.rate", hue="trunk.air.members")
    assert [text.get_text() for text in figure.axes.texts] == ["n = 1"] * 4


def test_every_kind_is_drawn(runs: ab.Runs, trunk: ab.Scenario, tmp_path: Path) -> None:
    frame = runs.frame()
    table = ab.stats.mean_ci(frame, GOODPUT, by=runs.campaign.keys)
    run = runs.replay(frame["run_id"][0])
    figures = {
        "heat": plot.heat_map(table, x="radio.rate", y="trunk.air.members"),
        "cdf": plot.cdf(frame, GOODPUT, hue="radio.rate"),
        "series": plot.time_sequence(runs.series(GOODPUT), hue="radio.rate"),
        "frames": plot.frames(run, "300 ms", "350 ms"),
        "topology": plot.topology(trunk),
    }
    for name, figure in figures.items():
        path = figure.save(tmp_path / f"{name}.png")
        assert path.stat().st_size > 5_000
        assert plot.provenance(path)["build"] == ab.BUILD
        assert figure._repr_png_().startswith(b"\x89PNG")


def test_the_frames_on_the_air_are_those_of_the_timeline(runs: ab.Runs) -> None:
    run = runs.replay(runs.frame()["run_id"][0])
    sent = run.timeline(after="300 ms", before="350 ms").filter(pl.col("event") == "TX")
    figure = plot.frames(run, "300 ms", "350 ms")
    bars = [patch for patch in figure.axes.patches if patch.get_width() > 0]  # type: ignore[attr-defined]
    assert len(bars) + len(figure.axes.lines) == len(sent)
    longest = max(bar.get_width() for bar in bars)  # type: ignore[attr-defined]
    # An MPDU of 1500 byte at 2 Mbit/s behind a long preamble.
    assert longest == pytest.approx(0.192 + 1536 * 8 / 2e3, rel=0.02)


def test_what_cannot_be_drawn_is_said(runs: ab.Runs, tmp_path: Path) -> None:
    table = ab.stats.mean_ci(runs.frame(), GOODPUT, by=runs.campaign.keys)
    with pytest.raises(ab.ArgumentError, match=r"no column `radio\.rat`: did you mean `radio\.rate`"):
        plot.lines(table, x="radio.rat")
    with pytest.raises(ab.ArgumentError, match="several rows have"):
        plot.heat_map(table, x="radio.rate", y="metric")
    with pytest.raises(ab.ArgumentError, match="no column"):
        plot.cdf(runs.frame(), "goodput")
    with pytest.raises(ab.ArgumentError, match="no frames were recorded"):
        plot.frames(runs.campaign.base.run(1), 0, 1)
    with pytest.raises(ab.ArgumentError, match=r"\.pdf, \.png or \.svg"):
        plot.lines(table, x="radio.rate").save(tmp_path / "figure.gif")
    (tmp_path / "other.png").write_bytes(b"\x89PNG")
    with pytest.raises(ab.ArgumentError, match="does not say"):
        plot.provenance(tmp_path / "other.png")
