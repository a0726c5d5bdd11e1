"""Does a sweep give the same table however it is run, and keep what it has?"""

import doctest
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from manifests import changed

import dvsim
from dvsim.errors import OutputError, RunFailed, ScenarioError
from dvsim.session import run_scenarios
from dvsim.study.store import load_result
from dvsim.study.sweep import prepare, run
from dvsim.study.sweeps import executors
from dvsim.study.sweeps.grid import plan, ranges
from dvsim.study.sweeps.sensitivity import indices, points_for
from dvsim.study.swept import by_point
from dvsim.table.metrics import in_order

VARY = ("workload.message_bytes=8..2048*16", "system.publisher.processes=1,2")
TABLES = ("points.parquet", "values.parquet", "points.csv", "scenario.toml")


@pytest.fixture
def sweep(desk):
    """Make the small sweep of a user's folder over TCP; six points of two replications."""

    def make(vary=VARY, name="tcp.toml", overrides=(), **options):
        how = {"replications": 2, "overrides": overrides}
        return prepare(desk / name, plan(vary, **options), **how)

    return make


def kept(tmp_path, name):
    return {"out": tmp_path / name / "runs", "sweeps": tmp_path / name / "sweeps"}


def tables(swept):
    return {name: (swept.folder / name).read_bytes() for name in TABLES}


def runs_in(root):
    names = ("samples.parquet", "scenario.toml", "values.parquet")
    return {
        path.relative_to(root): path.read_bytes() for path in root.rglob("*") if path.name in names
    }


def test_the_same_bytes_for_any_number_of_workers(sweep, tmp_path):
    one = run(sweep(), workers=1, **kept(tmp_path, "one"))
    two = run(sweep(), workers=2, **kept(tmp_path, "two"))
    assert tables(one) == tables(two)
    assert one.folder.name == two.folder.name
    runs = [runs_in(tmp_path / name / "runs") for name in ("one", "two")]
    assert runs[0] == runs[1]
    assert len(runs[0]) == 6 * 3


def test_a_point_is_kept_as_a_run_of_its_own_would_be(sweep, tmp_path):
    asked = sweep()
    swept = run(asked, workers=1, **kept(tmp_path, "swept"))
    scenarios = [one.scenario for one in asked.trials]
    (alone,) = run_scenarios(scenarios[3:4], replications=2, out=tmp_path / "alone", workers=1)
    folder = by_point(swept)["run"][3]
    assert alone.folder == tmp_path / "alone" / folder
    same = ("samples.parquet", "values.parquet", "scenario.toml")
    for name in same:
        own = (tmp_path / "swept/runs" / folder / name).read_bytes()
        assert own == (alone.folder / name).read_bytes()
    (again,) = run_scenarios(scenarios[3:4], replications=2, out=tmp_path / "swept/runs")
    assert again.folder == tmp_path / "swept/runs" / folder  # found, and whole


def test_the_numbers_of_the_table_are_those_of_the_runs(sweep, tmp_path):
    asked = sweep()
    table = by_point(run(asked, workers=1, **kept(tmp_path, "a")))
    for number in (0, 5):
        scenario = asked.trials[number].scenario
        (alone,) = run_scenarios([scenario], replications=2, out=None, workers=1)
        whole = alone.rate
        row = table.loc[number]
        found = [row[f"delivered_rate{end}"] for end in ("", "_low", "_high")]
        assert found == pytest.approx([whole.value, whole.low, whole.high])
        found = alone.by_metric
        assert row["all_mean"] == pytest.approx(found["all", 0, "messages.mean"].value)
        assert row["all_p99_high"] == pytest.approx(found["all", 0, "messages.99%"].high)


def test_a_point_of_a_switch_has_a_row_for_each_of_its_own_points(tmp_path):
    points = plan(["traffic.load=0.1,0.2"])
    asked = prepare("switch/load-latency", points, scale=0.01, replications=2)
    table = by_point(run(asked, workers=1, **kept(tmp_path, "s")))
    assert table["height"].tolist() == [4.0, 64.0, 256.0] * 2
    assert list(table["traffic.load"]) == [0.1] * 3 + [0.2] * 3
    (study,) = run_scenarios([asked.trials[1].scenario], replications=2, out=None, workers=1)
    wanted = study.estimates()
    wanted = wanted[wanted["metric"] == "throughput"]
    assert table["throughput"][3:].tolist() == pytest.approx(wanted["value"].tolist())
    assert table["throughput_low"][3:].tolist() == pytest.approx(wanted["low"].tolist())


def test_what_is_kept_is_not_run_again(sweep, tmp_path, monkeypatch):
    run(sweep(where="processes == 1"), workers=1, **kept(tmp_path, "a"))
    done = []
    monkeypatch.setattr(executors, "work", counted(executors.work, done))
    whole = run(sweep(), workers=1, **kept(tmp_path, "a"))
    assert sorted(done) == [1, 3, 5]
    fresh = run(sweep(), workers=1, **kept(tmp_path, "b"))
    assert tables(whole) == tables(fresh)


def counted(work, done):
    def also(chunk):
        done.extend(one.number for one in chunk.trials)
        return work(chunk)

    return also


def test_an_interruption_keeps_what_is_done_and_leaves_nothing_half(sweep, tmp_path, monkeypatch):
    def interrupted(chunk):
        if chunk.trials[0].number >= 2:
            raise KeyboardInterrupt
        return work(chunk)

    work = executors.work
    monkeypatch.setattr(executors, "MOST_POINTS", 1)
    monkeypatch.setattr(executors, "work", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(sweep(), workers=1, **kept(tmp_path, "a"))
    root = tmp_path / "a"
    assert len(list(root.rglob("manifest.json"))) == 2
    assert [path for path in root.rglob("*") if path.name.startswith(".")] == []
    assert not (root / "sweeps").exists()


@pytest.mark.parametrize("key", ["workload.messages", "messages"])
def test_a_point_that_fails_is_named_and_the_others_go_on(sweep, tmp_path, key):
    swept = run(sweep([f"{key}=1000000000000,500"]), workers=1, **kept(tmp_path, "a"))
    first, second = by_point(swept)["error"]
    assert first.startswith("vary: workload.messages: is 1000000000000; they take at least ")
    assert second == ""
    assert (
        np.isnan(by_point(swept)["delivered_rate"][0]) and by_point(swept)["delivered_rate"][1] > 0
    )
    assert swept.asked.failed == 1
    again = load_result(swept.folder)
    assert by_point(again).equals(by_point(swept))
    assert again.failed.index.tolist() == [0]


def test_many_points_are_seen_to_be_checked(desk, monkeypatch, capsys):
    points = plan(["workload.messages=500..540+10"])
    prepare(desk / "tcp.toml", points, replications=1, progress=True)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(executors, "MANY", 4)
    prepare(desk / "tcp.toml", points, replications=1)
    assert capsys.readouterr().err == ""
    prepare(desk / "tcp.toml", points, replications=1, progress=True)
    assert capsys.readouterr().err == "done: 5/5 points checked, 0 s left\n"


def test_a_run_that_fails_is_named_too(sweep, tmp_path, monkeypatch):
    def fails(asked, *rest):
        if asked[0].workload.message_bytes == 128:
            raise RunFailed("it could\nnot")
        return simulate(asked, *rest)

    simulate = executors.simulate
    monkeypatch.setattr(executors, "simulate", fails)
    swept = run(sweep(), workers=1, **kept(tmp_path, "a"))
    assert by_point(swept)["error"].tolist() == ["", "", "it could; not", "it could; not", "", ""]
    assert by_point(swept)["run"].tolist()[2] == ""


def test_a_folder_that_somebody_changed_fails_its_point(sweep, tmp_path):
    swept = run(sweep(), workers=1, **kept(tmp_path, "a"))
    folder = tmp_path / "a/runs" / by_point(swept)["run"][2]
    (folder / "values.parquet").write_bytes(b"nonsense")
    again = run(sweep(), workers=1, **kept(tmp_path, "a"))
    assert "values.parquet is truncated or changed" in by_point(again)["error"][2]
    assert len(again.failed) == 1
    repaired = run(sweep(), workers=1, force=True, **kept(tmp_path, "a"))
    assert tables(repaired) == tables(run(sweep(), workers=1, **kept(tmp_path, "b")))


def test_points_that_ask_the_same_are_run_once(sweep, tmp_path):
    swept = run(sweep(["workload.message_bytes=1024,1 KiB"]), workers=1, **kept(tmp_path, "a"))
    assert by_point(swept)["run"].nunique() == 1
    assert by_point(swept)["delivered_rate"].nunique() == 1
    assert swept.asked.units["workload.message_bytes"] == "B"
    assert by_point(swept)["workload.message_bytes"].tolist() == [1024.0, 1024.0]


def test_where_no_point_is_valid_the_key_is_named(sweep):
    with pytest.raises(ScenarioError, match=r"vary: workload.mesages: unknown key; .*'messages'"):
        sweep(["workload.mesages=1,2"])


def test_a_seed_that_no_run_can_have_draws_no_points(sweep):
    with pytest.raises(ScenarioError, match="seed: -1 is negative"):
        plan(["workload.messages=5..60"], sample="sobol:4", seed=-1)
    varied = ["workload.messages=5..60", "system.publisher.processes=1,2"]
    found = ranges(sweep().trials[0].scenario, varied, 0.2)
    with pytest.raises(ScenarioError, match="seed: -1 is negative"):
        points_for(found, 8, -1)


def test_a_worker_with_other_code_is_refused(sweep, monkeypatch):
    monkeypatch.setattr(executors, "code_version", lambda: "0.0.0+other")
    with pytest.raises(RunFailed, match=r"a worker has dvsim 0\.0\.0\+other, and .* is asked for"):
        run(sweep(), workers=1, out=None, sweeps=None)


def test_a_full_disk_ends_the_sweep_with_what_was_kept(sweep, tmp_path, monkeypatch):
    from dvsim import atomic

    def full(folders):
        raise OSError(28, "No space left on device", str(folders[0]))

    monkeypatch.setattr(atomic, "_wait_for_disk", full)
    with pytest.raises(OutputError, match="No space left"):
        run(sweep(), workers=1, **kept(tmp_path, "a"))
    assert list((tmp_path / "a").rglob("manifest.json")) == []
    assert [path for path in (tmp_path / "a").rglob("*") if path.name.startswith(".")] == []


def test_chunks_grow_to_what_takes_some_time_and_lose_no_point(sweep):
    class Fast:
        def workers(self):
            return 2

        def __init__(self):
            self.sizes = []

        def submit(self, chunk):
            self.sizes.append(len(chunk.trials))
            future = Future()
            future.set_result(
                [executors.Done(one.number, executors.Outcome(), [], 0.01) for one in chunk.trials]
            )
            return future

    asked = sweep(["workload.messages=100..400+1"])
    by = Fast()
    numbers = [
        done.number
        for some in executors.done(asked.trials, asked.how, None, "", by, lambda: None)
        for done in some
    ]
    assert sorted(numbers) == list(range(301))
    assert by.sizes[0] == 1 and max(by.sizes) == 50 and by.sizes[-1] == 1


def test_the_order_of_results_depends_on_their_names_alone():
    names = ["r10_mean", "busy_broker", "delivered_rate", "r2_mean", "throughput"]
    first = ["payload_rate", "delivered_rate"]
    assert in_order(names, first) == in_order(names[::-1], first)
    assert in_order(names, first)[0] == "delivered_rate"
    assert in_order(names, first)[2:4] == ["r2_mean", "r10_mean"]


def test_keys_of_a_busy_stage_are_those_of_the_report(desk):
    from dvsim.table.stages import stages_of

    alone = dvsim.run(desk / "mine.toml", replications=2)
    for stage in stages_of(alone.values):
        assert alone.amount(f"busy_{stage.name}").value == pytest.approx(stage.utilisation)


def test_in_python_a_sweep_is_a_table(desk):
    swept = dvsim.sweep(
        desk / "tcp.toml", {"message_bytes": [8, 64], "system__publisher__processes": "1..2+1"},
        replications=1, where="message_bytes > 8 or processes == 1",
    )  # fmt: skip
    assert by_point(swept)["workload.message_bytes"].tolist() == [8, 64, 64]
    assert swept.folder is None and (by_point(swept)["run"] == "").all()
    assert "<table" in swept._repr_html_()
    assert swept.asked.points == 3


def test_indices_of_a_known_function(sweep):
    """Of y = x1 + 2 x2 the shares of the variance are 1/5 and 4/5, alone as in all."""
    keys = ["system.publisher.publish_scatter=0.0..1.0", "system.broker.scatter=0.0..1.0"]
    found = ranges(None, keys, 0.2)
    points = points_for(found, 256, seed=3)
    assert len(points) == 256 * 4

    values = [[float(value) for _, value in point.values] for point in points]
    one = run(sweep(["workload.messages=500"]), workers=1, out=None, sweeps=None)
    count = range(len(values))
    rows = one.sides["points"].iloc[[0] * len(values)].assign(point=count, **{keys[0]: 0.0})
    told = {"metric": "delivered_rate", "replication": 1, "value": [x + 2 * y for x, y in values]}
    table = one.values.iloc[[0] * len(values)].assign(point=count, **told)
    kept = {"keys": keys[:1], "results": ["delivered_rate"]}
    kept |= {"units": one.asked.units | {keys[0]: ""}}
    manifest = changed(one.manifest, swept=one.asked.model_dump() | kept)
    known = replace(one, values=table, sides={"points": rows}, manifest=manifest)
    first, second = indices(known, found, 256, ["delivered_rate"], seed=1)
    assert (first.key, second.key) == (found[1].key, found[0].key)  # the important one first
    for one, share in ((first, 0.8), (second, 0.2)):
        assert one.first == pytest.approx(share, abs=0.05)
        assert one.total == pytest.approx(share, abs=0.05)
        assert one.first_low < share < one.first_high
    assert indices(known, found, 256, ["delivered_rate"], seed=1) == [first, second]


def test_without_ranges_every_weak_parameter_is_varied(desk):
    scenario = dvsim.load(desk / "tcp.toml")
    found = {one.key: one for one in ranges(scenario, [], 0.2)}
    assert "system.card.rate" in found and "system.broker.scatter" in found
    assert found["system.publisher.publish"].at(0.0) == "36 us"
    assert found["system.publisher.publish"].at(1.0) == "54 us"
    assert "system.publisher.run_spread" not in found  # it is zero
    assert "system.publisher.processes" not in found  # 2 ± 20 % is 2


def test_one_key_alone_has_no_indices():
    with pytest.raises(ScenarioError, match="one key alone explains everything"):
        ranges(None, ["a=1..2"], 0.2)


def test_the_page_in_the_docs_says_what_python_prints():
    page = Path(__file__).parents[2] / "docs/sweep.md"
    found = doctest.testfile(str(page), module_relative=False)
    assert found.attempted > 3 and found.failed == 0
