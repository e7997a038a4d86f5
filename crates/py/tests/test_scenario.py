"""Scenarios: read as the command reads them, refused with its words."""

import math
import pickle
from pathlib import Path

import airbraid as ab
import polars as pl
import pytest
from airbraid.scenario import toml
from conftest import Command


def test_settings_are_those_of_set(short: ab.Scenario) -> None:
    changed = short.with_({"radio.rate": "2 Mbit/s", "node.sender.position": ["50 m", "0 m"]}, run__replications=2)
    values = dict(changed.values().select("key", "value").iter_rows())
    assert values["radio.rate"] == "2 Mbit/s"
    assert changed.cells[0].replications == 2
    assert changed.map()["nodes"][0] == {"name": "sender", "x_m": 50.0, "y_m": 0.0, "moves": False, "channels": [1, 5, 9]}
    assert short.cells[0].replications == 5, "a scenario never changes"


def test_a_swept_key_that_is_set_is_no_longer_swept(trunk: ab.Scenario) -> None:
    assert [cell.set for cell in trunk.cells] == [
        {"trunk.air.members": ["ch1"]},
        {"trunk.air.members": ["ch1", "ch5", "ch9"]},
    ]
    assert len(trunk.with_({"trunk.air.members": ["ch5"]}).cells) == 1


def test_values_become_toml() -> None:
    class Scalar:
        def item(self) -> float:
            return 1.5

    value = {"a": [True, 1, 0.1], "b": 'quote " back \\ delete \x7f', "c": Scalar()}
    assert toml(value) == '{"a" = [true, 1, 0.1], "b" = "quote \\" back \\\\ delete \\u007f", "c" = 1.5}'
    assert toml(math.inf) == "inf"
    with pytest.raises(TypeError, match="no values of type object"):
        toml(object())


@pytest.mark.parametrize(
    ("key", "value", "near"),
    [
        ("trunk.air.policy.distributo", "srr", "did you mean `distributor`"),
        ("radio.rate", "11", "the unit is missing"),
        ("trunk.air.policy.distributor", "robin", "round_robin"),
        ("run.duration", -1, "the unit is missing"),
        ("node.nobody.position", ["0 m", "0 m"], "nothing in `node` is called `nobody`"),
    ],
)
def test_errors_have_the_words_of_the_command(root: Path, airbraid: Command, key: str, value: object, near: str) -> None:
    file = "scenarios/examples/three_channels.toml"
    said = airbraid("run", file, "--set", f"{key}={toml(value)}")
    assert said.returncode == 2
    with pytest.raises(ab.ScenarioError) as caught:
        ab.Scenario.load(root / file).with_({key: value})
    assert [f"error: {line}" for line in str(caught.value).splitlines()] == said.stderr.splitlines()
    assert near in str(caught.value)
    assert caught.value.errors[0].file == "--set"
    assert caught.value.errors[0].remedy is not None
    assert isinstance(caught.value, ab.AirbraidError | ValueError)


def test_every_error_of_a_file_is_told_at_once(tmp_path: Path) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text('schema = 1\ntitle = "t"\nquestion = "a?"\n[run]\nduration = "1 parsec"\nsede = 1\n')
    with pytest.raises(ab.ScenarioError) as caught:
        ab.Scenario.load(file)
    places = {(error.line, error.column) for error in caught.value.errors}
    assert {(5, 12), (6, 1)} <= places
    with pytest.raises(ab.ScenarioError, match="the file cannot be read"):
        ab.Scenario.load(tmp_path / "none.toml")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.errors) == (str(caught.value), caught.value.errors)


def test_it_travels_as_text(short: ab.Scenario) -> None:
    again = pickle.loads(pickle.dumps(short))
    assert again.cells == short.cells
    assert again.name == short.name


def test_explain_is_that_of_the_command(root: Path, airbraid: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    file = "scenarios/examples/three_channels.toml"
    scenario = ab.Scenario.load(file)
    assert scenario.explain() == airbraid("explain", file).stdout
    values = scenario.values()
    assert values.schema == {"key": pl.String, "value": pl.String, "from": pl.String}
    assert scenario.explanation()["question"] == scenario.question


def test_a_sweep_is_set_like_any_key_and_a_wrong_one_is_refused(short: ab.Scenario) -> None:
    swept = short.with_({"sweep.radio.rate": ["1 Mbit/s", "2 Mbit/s"]})
    assert [cell.set["radio.rate"] for cell in swept.cells] == ["1 Mbit/s", "2 Mbit/s"]
    assert len(ab.Campaign(swept, {"run.warm_up": ["0 s", "100 ms"]}, seeds=[1])) == 4
    with pytest.raises(ab.ScenarioError, match="unknown key `nonsense`"):
        short.with_({"sweep.nonsense": [1, 2]})
    with pytest.raises(ab.ScenarioError, match="`foo` is no metric"):
        short.with_({"expect.foo": {"min": 1}})


def test_dir_shows_what_the_package_offers_and_nothing_else() -> None:
    assert dir(ab) == sorted(ab.__all__)
    assert not {"Any", "annotations", "importlib"} & set(dir(ab))
