"""Campaigns: checked before they begin, complete whatever dies, the same whoever does them."""

import importlib
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import airbraid as ab
import doing
import nanoarrow
import polars as pl
import pytest
from polars.testing import assert_frame_equal

GRID = {"radio.rate": ["2 Mbit/s", "11 Mbit/s"]}
GOODPUT = "flow.download.goodput_bps"


@pytest.fixture
def campaign(short: ab.Scenario) -> ab.Campaign:
    return ab.Campaign(short, GRID, seeds=range(1, 9))


# --- what is refused before anything runs --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("grid", "seeds", "kind", "words"),
    [
        ({"radio.rat": ["2 Mbit/s"]}, None, ab.ScenarioError, "did you mean `rate`"),
        ({"radio.rate": ["2 Mbit/s", "3 Mbit/s"]}, None, ab.ScenarioError, "3 Mbit/s"),
        ({"radio.rate": "2 Mbit/s"}, None, TypeError, "needs a list of values"),
        ({"radio.rate": 2}, None, TypeError, "needs a list of values"),
        ({"radio.rate": []}, None, ab.ArgumentError, "nothing to sweep"),
        ({"radio.rate": ["2 Mbit/s", "2 Mbit/s"]}, None, ab.ArgumentError, "swept twice"),
        ({"radio.rate": [object()]}, None, TypeError, "no values of type object"),
        ({"run.seed": [1, 2]}, None, ab.ArgumentError, "cannot be swept"),
        ({"sweep.x": [1]}, [1], ab.ArgumentError, "no key of a run"),
        ({"expect.flow.download.goodput": [1]}, [1], ab.ArgumentError, "no key of a run"),
        ({1: [1]}, None, TypeError, "a key is a text"),
        (["radio.rate"], None, TypeError, "a mapping"),
        (None, 3, TypeError, "numbers are needed"),
        (None, [1.5], TypeError, "a whole number"),
        (None, [True], TypeError, "a whole number"),
        (None, "12", TypeError, "numbers are needed"),
        (None, [], ab.ArgumentError, "there is none"),
        (None, [1, 1], ab.ArgumentError, "twice"),
        (None, [-1], ab.ArgumentError, "from 0 to"),
        (None, range(100_001), ab.ArgumentError, "too many"),
    ],
)
def test_wrong_keys_shapes_and_types_raise_before_the_first_run(
    short: ab.Scenario, grid: Any, seeds: Any, kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind, match=words):
        ab.Campaign(short, grid, seeds)


def test_a_wrong_way_to_run_raises_before_the_first_run(campaign: ab.Campaign, tmp_path: Path) -> None:
    wrong: list[tuple[dict[str, Any], type[Exception]]] = [
        ({"executor": 4}, TypeError),
        ({"executor": ab.Workers, "workers": 2}, ab.ArgumentError),
        ({"workers": 0}, ValueError),
        ({"workers": 1.5}, TypeError),
        ({"until": "narrow"}, TypeError),
        ({"in_flight": 0}, ValueError),
        ({"progress": 1}, TypeError),
    ]
    for arguments, kind in wrong:
        with pytest.raises(kind):
            campaign.run(store=tmp_path / "store", **arguments)
    (tmp_path / "runs.sqlite").write_text("something else")
    with pytest.raises(ab.StoreError, match="not an SQLite file"):
        campaign.run(store=tmp_path)
    with pytest.raises(TypeError, match="a Scenario is needed"):
        ab.Campaign("trunk.toml")  # type: ignore[arg-type]


# --- what comes out ------------------------------------------------------------------------------------------------


def test_a_row_for_each_run_with_units_in_the_names(trunk: ab.Scenario) -> None:
    runs = ab.Campaign(trunk, GRID, seeds=[4, 2]).run(workers=2)
    frame = runs.frame()
    assert frame.height == len(runs) == 8
    assert frame.columns[:6] == ["run_id", "scenario_hash", "cell", "radio.rate", "trunk.air.members", "seed"]
    assert frame["seed"].to_list() == [4, 2] * 4
    assert frame["trunk.air.members"].unique(maintain_order=True).to_list() == ['["ch1"]', '["ch1", "ch5", "ch9"]']
    assert frame["run_id"].n_unique() == 8
    assert frame[GOODPUT].dtype == pl.Float64
    assert not frame.select(pl.col("^drops\\..*$").is_null().any()).row(0).count(True)
    pandas = runs.frame("pandas")
    assert pandas[GOODPUT].to_list() == frame[GOODPUT].to_list()
    with pytest.raises(ab.ArgumentError, match="polars or pandas"):
        runs.frame("excel")  # type: ignore[call-overload]


def test_series_are_arrow(trunk: ab.Scenario) -> None:
    runs = ab.Campaign(trunk, seeds=[1]).run(workers=1)
    series = runs.series(GOODPUT)
    assert series.columns == ["run_id", "scenario_hash", "cell", "trunk.air.members", "seed", "time_s", GOODPUT]
    arrow = nanoarrow.ArrayStream(series).read_all()
    assert len(arrow) == series.height == 2
    one = trunk.run(1, cell=1).series(GOODPUT)
    assert_frame_equal(series.filter(pl.col("cell") == 1).select("time_s", GOODPUT), one)
    with pytest.raises(ab.ArgumentError, match=f"no series is called `goodput`; there are {GOODPUT}"):
        runs.series("goodput")


def test_a_run_is_replayed_with_all_its_frames(campaign: ab.Campaign) -> None:
    runs = campaign.run(workers=2)
    worst = runs.frame().sort(GOODPUT).row(0, named=True)
    run = runs.replay(worst["run_id"])
    assert run.metrics[GOODPUT] == worst[GOODPUT]
    assert len(run.timeline()) == len(run.text.splitlines())
    some = run.timeline("sender", after="300 ms", before=0.5)
    assert some["time_s"].is_sorted()
    assert 0.3 <= some["time_s"].min() <= some["time_s"].max() < 0.5  # type: ignore[operator]
    assert set(some["who"].unique()) <= {"sender", "sender/ch1", "sender/ch5", "sender/ch9"}
    assert run.metrics["mac.sender.ch1.data_frames"] == len(
        run.timeline("sender/ch1").filter((pl.col("event") == "TX") & (pl.col("kind") == "DATA"))
    )
    with pytest.raises(ab.ArgumentError, match="column run_id"):
        runs.replay("nothing-1")
    with pytest.raises(ab.ArgumentError, match="no frames were recorded"):
        _ = campaign.base.run(1).text


# --- the store -----------------------------------------------------------------------------------------------------


def test_what_is_in_the_store_is_not_done_again(campaign: ab.Campaign, short: ab.Scenario, tmp_path: Path) -> None:
    store = tmp_path / "store"
    first = ab.Campaign(short, GRID, seeds=range(1, 4))
    with ab.Workers(2) as workers:
        first.run(doing.Instead(workers, doing.note, tmp_path), store=store)
    assert len(doing.notes(tmp_path)) == 6
    with ab.Workers(2) as workers:
        runs = campaign.run(doing.Instead(workers, doing.note, tmp_path), store=store)
    assert (runs.recalled, len(runs)) == (6, 16)
    assert len(doing.notes(tmp_path)) == 16
    with ab.Workers(1) as workers:
        again = campaign.run(doing.Instead(workers, doing.note, tmp_path), store=store)
    assert again.recalled == 16
    assert len(doing.notes(tmp_path)) == 16
    assert_frame_equal(again.frame(), runs.frame())


def test_a_damaged_result_is_computed_again(campaign: ab.Campaign, tmp_path: Path) -> None:
    whole = campaign.run(workers=2, store=tmp_path).frame()
    with sqlite3.connect(tmp_path / "runs.sqlite") as database:
        database.execute("UPDATE runs SET facts = replace(facts, '1', '2') WHERE seed = 5")
    with pytest.warns(UserWarning, match="does not fit its checksum"):
        runs = campaign.run(workers=2, store=tmp_path)
    assert runs.recalled == 14
    assert_frame_equal(runs.frame(), whole)


def _script(script: str) -> subprocess.Popen[str]:
    """A script that Ctrl-C reaches, even if what runs the tests does not hear it."""
    command = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n" + script
    return subprocess.Popen([sys.executable, "-c", command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_ctrl_c_leaves_a_store_to_go_on_from(root: Path, tmp_path: Path) -> None:
    script = textwrap.dedent(f"""
        import airbraid as ab
        base = ab.Scenario.load({str(root / "scenarios/examples/three_channels.toml")!r})
        base = base.with_({{"run.duration": "1 s", "run.warm_up": "0 s", "trunk.air.members": ["ch1"]}})
        def told(done, total):
            if done >= 20:  # several may come at once
                print("twenty", flush=True)
        ab.Campaign(base, seeds=range(1000)).run(workers=2, store={str(tmp_path)!r}, progress=told)
    """)
    process = _script(script)
    assert process.stdout is not None
    for line in process.stdout:
        if "twenty" in line:
            break
    process.send_signal(signal.SIGINT)
    begun = time.monotonic()
    _, said = process.communicate(timeout=20)
    assert time.monotonic() - begun < 10
    assert process.returncode != 0
    assert said.rstrip().endswith("KeyboardInterrupt")
    database = sqlite3.connect(tmp_path / "runs.sqlite")
    assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    kept = database.execute("SELECT count(*) FROM runs").fetchone()[0]
    database.close()
    assert 20 <= kept < 1000
    base = ab.Scenario.load(root / "scenarios/examples/three_channels.toml").with_(
        {"run.duration": "1 s", "run.warm_up": "0 s", "trunk.air.members": ["ch1"]}
    )
    # Runs end in another order than they began in, but not far from it.
    assert ab.Campaign(base, seeds=range(kept + 10)).run(workers=2, store=tmp_path).recalled == kept


def test_ctrl_c_stops_a_single_run(root: Path) -> None:
    file = root / "scenarios/examples/three_channels.toml"
    long = f'ab.Scenario.load({str(file)!r}).with_({{"run.duration": "100000 s"}})'
    script = f"import airbraid as ab; s = {long}; print(flush=True); s.run(1)"
    process = _script(script)
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=20)
    assert said.rstrip().endswith("KeyboardInterrupt")


# --- executors -----------------------------------------------------------------------------------------------------


def test_who_does_it_changes_nothing(campaign: ab.Campaign) -> None:
    expected = campaign.run(workers=1).frame()
    with ThreadPoolExecutor(3) as threads, ab.Workers(2) as workers:
        for executor in (threads, workers):
            assert_frame_equal(campaign.run(executor).frame(), expected)
    assert_frame_equal(campaign.run(lambda: ProcessPoolExecutor(2, mp_context=_spawn())).frame(), expected)


def _spawn() -> Any:
    import multiprocessing

    return multiprocessing.get_context("spawn")


def test_a_worker_that_dies_costs_its_own_run_alone(campaign: ab.Campaign, tmp_path: Path) -> None:
    expected = campaign.run(workers=2).frame()
    with ab.Workers(2) as workers:
        runs = campaign.run(doing.Instead(workers, doing.die_once, tmp_path))
    assert runs.lost == 1
    assert_frame_equal(runs.frame(), expected)
    begun = [(seed, settings) for _, seed, settings, _ in doing.notes(tmp_path)]
    assert len(begun) == 17, "16 runs, and one of them twice"
    assert [seed for seed, settings in begun if begun.count((seed, settings)) > 1] == [5, 5]


def test_a_run_that_kills_every_worker_is_not_tried_for_ever(campaign: ab.Campaign, tmp_path: Path) -> None:
    with ab.Workers(2) as workers, pytest.raises(ab.CampaignStopped) as caught:
        campaign.run(doing.Instead(workers, doing.die_always, tmp_path), store=tmp_path)
    assert "the run with seed 5 in the cell radio.rate = " in str(caught.value)
    assert "has ended its worker 3 times. worker process" in str(caught.value)
    assert "SIGKILL" in str(caught.value)
    assert "the same call goes on from there" in str(caught.value)


class _Timed(Executor):
    """Does each run in a moment and says that it took `took_s`; no more of a call than fit into its time."""

    def __init__(self, took_s: float, workers: int) -> None:
        self.took_s, self._max_workers = took_s, workers
        self.calls: list[int] = []

    def submit(self, fn: Any, /, *args: Any, **_: Any) -> Future[Any]:
        jobs, enough_s = args
        self.calls.append(len(jobs))
        future: Future[Any] = Future()
        some = jobs[: max(1, int(enough_s / self.took_s))]
        future.set_result([fn([job], enough_s)[0]._replace(took_s=self.took_s) for job in some])
        return future


@pytest.mark.parametrize(("took_s", "least", "most"), [(0.2, 4, 5), (0.3, 3, 3), (0.01, 12, 30), (0.6, 1, 1), (100, 1, 1)])
def test_short_runs_go_several_to_a_call(short: ab.Scenario, took_s: float, least: int, most: int) -> None:
    executor = _Timed(took_s, workers=2)
    runs = ab.Campaign(short, seeds=range(100)).run(executor)
    assert (len(runs.frame()), runs.lost) == (100, 0)
    assert sum(executor.calls) == 100
    assert least <= max(executor.calls) <= most
    assert executor.calls[0] == executor.calls[-1] == 1, "nothing is known of the first; the last are shared out"


def test_what_a_worker_does_not_begin_is_asked_for_again(short: ab.Scenario) -> None:
    """A call whose runs take longer than those before them ends in time."""
    executor = _Timed(0.1, workers=1)
    base = ab.Campaign(short, seeds=range(60))

    def told(done: int, _: int) -> None:
        if done >= 20:
            executor.took_s = 1.0

    runs = base.run(executor, progress=told)
    assert (len(runs.frame()), runs.lost) == (60, 0)
    assert sum(executor.calls) > 60


def test_what_dies_with_others_is_asked_for_alone(campaign: ab.Campaign, tmp_path: Path) -> None:
    """Where calls have several runs a death costs them all once, and who it was is known afterwards."""

    class Dear(doing.Instead):
        calls_are_cheap = False

    expected = campaign.run(workers=2).frame()
    with ab.Workers(1) as workers:
        executor = Dear(workers, doing.die_once, tmp_path)
        runs = campaign.run(executor)
    assert max(executor.calls) > 1
    assert 1 < runs.lost <= max(executor.calls)
    assert_frame_equal(runs.frame(), expected)
    with ab.Workers(1) as workers, pytest.raises(ab.CampaignStopped, match="the run with seed 5 in the cell") as caught:
        campaign.run(Dear(workers, doing.die_always, tmp_path))
    assert "has ended its worker 3 times" in str(caught.value)


def test_a_pool_that_breaks_is_made_again(campaign: ab.Campaign, tmp_path: Path) -> None:
    """`ProcessPoolExecutor` gives up all its processes when one dies: only what is missing is asked of the next."""
    expected = campaign.run(workers=2).frame()
    made: list[doing.Instead] = []

    def make() -> Executor:
        made.append(doing.Instead(ProcessPoolExecutor(2, mp_context=_spawn()), doing.die_once, tmp_path))
        return made[-1]

    runs = campaign.run(make, store=tmp_path)
    assert len(made) == 2
    assert_frame_equal(runs.frame(), expected)
    assert _begun_after_it_came(made, tmp_path) == []
    with ProcessPoolExecutor(1, mp_context=_spawn()) as pool, pytest.raises(ab.CampaignStopped, match="the executor broke"):
        campaign.run(doing.Instead(pool, doing.die_always, tmp_path))


def _begun_after_it_came(executors: list[doing.Instead], directory: Path, before: float = 1e99) -> list[tuple[int, str]]:
    """Runs that were begun although their result had come, `before` a time [ns]."""
    came: dict[tuple[int, str], int] = {}
    for executor in executors:
        came |= executor.came
    early = {run: at for run, at in came.items() if at < before}
    return [(seed, said) for at, seed, said, _ in doing.notes(directory) if at > early.get((seed, said), at)]


def test_what_a_cluster_cancels_is_asked_for_again(campaign: ab.Campaign) -> None:
    """As Dask does when it has lost its client for a while."""

    class Forgetful(Executor):
        def __init__(self) -> None:
            self.asked = 0

        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
            self.asked += 1
            future: Future[Any] = Future()
            if self.asked % 5 == 0:
                future.cancel()
                future.set_running_or_notify_cancel()
            else:
                future.set_result(fn(*args, **kwargs))
            return future

    runs = campaign.run(Forgetful())
    assert (len(runs.frame()), runs.lost) == (16, 3)


def test_a_failed_run_has_the_words_of_the_command(campaign: ab.Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> str:
        raise ab.RunError("it broke")

    monkeypatch.setattr("airbraid._worker._once", fails)
    with (
        ThreadPoolExecutor(1) as threads,
        pytest.raises(ab.RunError, match=r"seed 1 in the cell radio\.rate = 2 Mbit/s, .* failed: it broke"),
    ):
        campaign.run(threads)


def test_workers_are_an_executor() -> None:
    with ab.Workers(2) as workers:
        assert list(workers.map(os.path.basename, ["/a/b", "/c/d"])) == ["b", "d"]
        with pytest.raises(ZeroDivisionError):
            workers.submit(divmod, 1, 0).result()
        assert workers.submit(print, "what a call prints is no answer").result() is None
        assert len(workers.pids) >= 1
    with pytest.raises(RuntimeError, match="shut down"):
        workers.submit(len, "")


def test_workers_go_when_their_coordinator_dies() -> None:
    begin = "import airbraid as ab, os; w = ab.Workers(1); w.submit(len, '').result()"
    script = f"{begin}; print(w.pids[0], flush=True); os.kill(os.getpid(), 9)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    pid = int(done.stdout)
    for _ in range(100):
        if not Path(f"/proc/{pid}").exists() or "State:\tZ" in Path(f"/proc/{pid}/status").read_text():
            return
        time.sleep(0.05)
    pytest.fail("a worker outlives its coordinator")


def test_dask_with_a_worker_killed_in_the_middle(short: ab.Scenario, tmp_path: Path) -> None:
    """The small version of `make python-bench`: four worker processes of a local cluster, one of them killed."""
    # Without types.
    distributed = importlib.import_module("distributed")
    campaign = ab.Campaign(short, GRID, seeds=range(1, 41))
    killed: list[int] = []
    with (
        distributed.LocalCluster(n_workers=4, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        executor = doing.Instead(client.get_executor(), doing.slowly, tmp_path)

        def told(done: int, total: int) -> None:
            if not killed and done > total // 3:
                killed.append(next(iter(client.run(os.getpid).values())))
                os.kill(killed[0], signal.SIGKILL)
                killed.append(time.monotonic_ns())

        runs = campaign.run(executor, store=tmp_path, progress=told, in_flight=8)
    assert len(killed) == 2
    assert len(runs.frame()) == 80
    assert runs.frame()[GOODPUT].null_count() == 0
    # Dask takes a moment to hear that nobody wants a result any more.
    assert _begun_after_it_came([executor], tmp_path, before=killed[1] - 2e9) == []
    assert_frame_equal(
        ab.Campaign(short, GRID, seeds=[1, 40]).run(workers=2).frame(), runs.frame().filter(pl.col("seed").is_in([1, 40]))
    )


def test_progress_is_a_bar_that_ends_full(campaign: ab.Campaign, capsys: pytest.CaptureFixture[str]) -> None:
    told: list[tuple[int, int]] = []
    campaign.run(workers=2, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (16, 16)
    campaign.run(workers=2)
    assert capsys.readouterr().err == "", "no terminal, no bar"


def test_a_cell_stops_when_its_interval_is_narrow(short: ab.Scenario) -> None:
    until = ab.stats.Until(GOODPUT, relative=0.05, least=3, step=2)
    campaign = ab.Campaign(short, GRID, seeds=range(1, 40))
    first = campaign.run(workers=2, until=until).frame()
    for rate in GRID["radio.rate"]:
        values = first.filter(pl.col("radio.rate") == rate)[GOODPUT].to_list()
        assert until.is_met(values)
        assert len(values) in range(3, 40, 2)
        assert len(values) == 3 or not until.is_met(values[:-2])
    assert_frame_equal(campaign.run(workers=1, until=until).frame(), first)
    with pytest.warns(UserWarning, match="2 of 2 cells have used all seeds"):
        ab.Campaign(short, GRID, seeds=[1, 2]).run(workers=1, until=ab.stats.Until(GOODPUT, relative=1e-9))
