"""The same scenario and seed: identical numbers from the command and from Python."""

import json
from pathlib import Path
from typing import Any

import airbraid as ab
import pytest
from conftest import Command

FILES = [
    "examples/three_channels",
    "examples/lossy_link",
    "kuang2004/two_nodes",
    "giustiniano2013/short_slots",
    "eckhardt1998/wireless",
]


def timeless(results: dict[str, Any]) -> dict[str, Any]:
    """Without what was measured by the clock, and without the words in which the settings were given."""
    results.get("made", {}).pop("settings", None)
    for cell in results["cells"]:
        for run in cell["runs"]:
            del run["wall_s"], run["cpu_s"]
    return results


@pytest.mark.parametrize("name", FILES)
def test_a_run_is_that_of_the_command(root: Path, airbraid: Command, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(root)
    file = f"scenarios/{name}.toml"
    over = {"run.duration": "2 s", "run.warm_up": "0 s", "run.replications": 2, "run.seed": 7}
    options = ["--duration", "2 s", "--set", "run.warm_up=0 s", "--replications", "2", "--seed", "7"]
    printed = airbraid("run", file, "--json", *options)
    assert printed.returncode == 0, printed.stderr
    ours = ab.run(ab.Scenario.load(file).with_(over))
    assert timeless(ours) == timeless(json.loads(printed.stdout))


def test_a_report_is_that_of_the_command(trunk: ab.Scenario, airbraid: Command, tmp_path: Path) -> None:
    page = trunk.with_(run__replications=2).report(tmp_path / "look")
    assert page == tmp_path / "look" / "report.html"
    written = page.read_bytes()
    page.unlink()
    assert ab.report(page.parent).read_bytes() == written, "made again from its files"
    page.unlink()
    assert airbraid("report", str(page.parent)).returncode == 0
    assert page.read_bytes() == written, "and by the command"
    assert {"summary.json", "flows.csv", "courses.json", "plot.svg"} <= {file.name for file in page.parent.iterdir()}


def test_a_report_never_replaces_something_else(trunk: ab.Scenario, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("the work of years")
    with pytest.raises(ab.ArgumentError, match="holds something else than a result"):
        trunk.report(tmp_path)
    with pytest.raises(ab.ArgumentError, match=r"there is no summary\.json in it"):
        ab.report(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_single_run_is_one_of_them(trunk: ab.Scenario) -> None:
    whole = timeless(ab.run(trunk.with_(run__replications=2)))
    alone = trunk.run(2, cell=1)
    assert {key: value for key, value in alone.result.items() if key not in ("wall_s", "cpu_s")} == whole["cells"][1]["runs"][1]
    assert alone.metrics["flow.download.goodput_bps"] == alone.result["flows"][0]["goodput_bps"]


def test_workers_and_store_change_no_number(trunk: ab.Scenario, tmp_path: Path) -> None:
    campaign = ab.Campaign(trunk, seeds=[3, 4])
    frame = campaign.run(workers=2, store=tmp_path).frame()
    for row in frame.iter_rows(named=True):
        metrics = trunk.run(row["seed"], cell=row["cell"]).metrics
        assert {name: row[name] for name in metrics} == metrics


def test_the_store_is_that_of_the_command(airbraid: Command, tmp_path: Path) -> None:
    """What Python has done, the command does not do again."""
    rows = ab.reproduce("wang2005", quick=True, only=["000.fig11.tcp1"], store=tmp_path, jobs=1, progress=False)
    printed = airbraid("reproduce", "wang2005", "--quick", "--only", "000.fig11.tcp1", "--json", "--store", str(tmp_path))
    assert printed.returncode == 0, printed.stderr
    assert "runs are in the store" in printed.stderr
    assert json.loads(printed.stdout) == rows.rows
    assert rows.frame()["id"].to_list() == ["000.fig11.tcp1"]
    assert sum(rows.verdicts().values()) == 1


def test_a_plan_is_that_of_the_command(airbraid: Command) -> None:
    printed = airbraid("plan", "--duty", "0.5,0.125,0.375", "--slot", "12.5 ms", "--delay", "20 ms,50 ms,80 ms", "--json")
    plan = ab.plan([0.5, 0.125, 0.375], slot="12.5 ms", delay=["20 ms", "50 ms", "80 ms"])
    assert plan.report == json.loads(printed.stdout)
    for options in (["--duty", "0.9,0.9"], ["--duty", "half"], ["--duty", "0.5", "--slot", "12"]):
        refused = airbraid("plan", *options)
        assert refused.returncode == 2
        with pytest.raises(ab.ArgumentError) as caught:
            ab.plan(options[1], slot=options[3] if len(options) > 2 else None)
        assert refused.stderr.strip() == f"error: {caught.value}"


def test_efficiency_is_that_of_the_command(airbraid: Command) -> None:
    printed = airbraid("plan", "efficiency", "--batch", "4", "--json")
    assert ab.efficiency(batch=4).to_dicts() == json.loads(printed.stdout)["macs"]
    with pytest.raises(ab.ArgumentError, match="--batch 65: a number from 1 to 64"):
        ab.efficiency(batch=65)


def test_periods_are_those_of_the_command(airbraid: Command) -> None:
    printed = airbraid("plan", "--duty", "0.5,0.5", "--periods", "50 ms,100 ms", "--json")
    assert ab.periods(["50 ms", "100 ms"], [0.5, 0.5]).to_dicts() == json.loads(printed.stdout)["periods"]


def test_the_model_of_round_trip_times() -> None:
    """Half the time connected, a period of 100 ms: the closed form, as `crates/sim/src/models/rtt.rs` has it."""
    plan = ab.plan([0.5], period="100 ms")
    assert plan.rtt_mean_s("min-max", 0, "50 ms") == pytest.approx(0.079099, abs=2e-6)
    samples = plan.rtt_samples_s("min-max")["AP 1"]
    assert len(samples) == 10_000
    assert samples == sorted(samples)
    assert sum(samples) / len(samples) == pytest.approx(0.079099, rel=0.02)
    with pytest.raises(ab.ArgumentError, match="there are no-policy"):
        plan.rtt_mean_s("best", 0, "50 ms")
