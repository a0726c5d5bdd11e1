"""Does a study hold what `Switch.run` gives, and is it kept and found again, whole?"""

import dataclasses
import json
import multiprocessing
import time

import numpy as np
import pandas as pd
import pytest
from harness.processes import until
from switch_desk import small

import dvsim
from dvsim.contract.load import load
from dvsim.errors import OutputError, RunFailed
from dvsim.fabric.switch import Switch, replication_seed
from dvsim.fabric.switch.butterfly import analytic_acceptance
from dvsim.fabric.switch.meanfield import carried, mean_hops, saturation, zero_load_hops
from dvsim.kinds import study as studies
from dvsim.kinds.switch.metrics import METRICS, SIDES
from dvsim.kinds.switch.text import study_lines
from dvsim.session import run_scenarios
from dvsim.study import folder
from dvsim.study.store import load_result
from dvsim.table.result import flow_text
from dvsim.view import write_results
from dvsim.view.axes import Sweep
from dvsim.view.result_page import study_answer as answer
from dvsim.view.study_tables import points_table

SWEEP = "[[vary]]\nheight = [4, 8]\n[[vary]]\nload = [0.1, 0.9]\n"


def ask(*scenarios, **options):
    return run_scenarios(scenarios, **{"out": None, "replications": 2, "workers": 1} | options)


@pytest.fixture
def sweep(tmp_path):
    return load(small(tmp_path, SWEEP))


def test_each_row_is_a_run_of_its_own(sweep):
    (study,) = ask(sweep, replications=3, seed=7)
    assert study.wide[["point", "replication"]].to_numpy().tolist() == [
        [point, replication] for point in range(4) for replication in (1, 2, 3)
    ]
    for row in study.wide.itertuples():
        point = sweep.points[row.point]
        seed = replication_seed(7, row.replication - 1)
        run = Switch(point["height"], 3).run(point["load"], 400, 50, seed)
        assert (row.offered, row.accepted, row.delivered) == (
            run.offered,
            run.accepted,
            run.delivered,
        )
        assert (row.throughput, row.mean_hops) == (run.throughput, run.mean_hops)
        assert (row.p50, row.p99) == (run.quantile(0.5), run.quantile(0.99))
        assert row.max == np.flatnonzero(run.latency)[-1]
        assert row.blocked == run.blocked.mean()


def test_histograms_and_cylinders_are_those_of_all_replications(sweep):
    (study,) = ask(sweep)
    runs = [Switch(8, 3).run(0.9, 400, 50, replication_seed(1, number)) for number in (0, 1)]
    table = study.tables["histograms"]
    table = table[table["point"] == 3]
    hops = table[table["kind"] == "hops"].set_index("value")["packets"]
    summed = sum(np.pad(run.hops, (0, 99 - run.hops.size)) for run in runs)
    assert hops.to_dict() == {n: packets for n, packets in enumerate(summed) if packets}
    rows = study.tables["cylinders"]
    rows = rows[rows["point"] == 3]
    assert rows["blocked"].to_numpy()[:-1] == pytest.approx(
        np.mean([run.blocked for run in runs], axis=0)
    )
    assert np.isnan(rows["blocked"].to_numpy()[-1])
    assert rows["occupancy"].to_numpy() == pytest.approx(
        np.mean([run.occupancy for run in runs], axis=0)
    )


def test_an_estimate_is_a_mean_with_a_student_interval(sweep):
    (study,) = ask(sweep, replications=3)
    row = study.estimates().set_index(["point", "metric"]).loc[(2, "throughput")]
    values = study.wide[study.wide["point"] == 2]["throughput"]
    assert row["value"] == pytest.approx(values.mean())
    assert row["high"] - row["value"] == pytest.approx(4.302653 * values.std() / 3**0.5)
    assert (row["height"], row["load"]) == (8, 0.1)
    assert study.table().loc[2, "± throughput"] == pytest.approx(row["high"] - row["value"])


def test_one_replication_has_no_interval(sweep):
    estimates = ask(sweep, replications=1)[0].estimates()
    assert (estimates["low"] == estimates["value"]).all()


def test_nothing_offered_is_not_a_number(tmp_path):
    (study,) = ask(load(small(tmp_path), ["traffic.load=0"]))
    values = study.estimates().set_index("metric")["value"]
    assert np.isnan(values[["acceptance", "mean_latency", "p99"]]).all()
    assert values["throughput"] == 0


def test_the_bytes_are_the_same_for_any_number_of_workers(sweep, tmp_path, monkeypatch):
    monkeypatch.setattr(studies, "SMALL_S", 6e-5)  # replications of a point in different tasks
    kept_as = []
    for workers in (1, 2):
        (study,) = ask(sweep, replications=3, workers=workers, out=tmp_path / str(workers))
        kept_as.append({f: (study.folder / f).read_bytes() for f in study.manifest.files})
    assert set(kept_as[0]) == {"scenario.toml", *(f"{name}.parquet" for name in ("values", *SIDES))}
    assert kept_as[0] == kept_as[1]


def test_theory_stands_beside(tmp_path):
    more = '[compare]\nwith = ["mean-field", "zero-load"]\n[[vary]]\nload = [0.2, 1.0]\n'
    theory = ask(load(small(tmp_path, more)))[0].beside.set_index(["point", "name", "metric"])
    value = theory["value"].to_dict()
    throughput = carried(4, 3, 0.2)
    assert value[0, "mean-field", "throughput"] == throughput
    assert value[0, "mean-field", "acceptance"] == throughput / 0.2
    assert value[0, "mean-field", "mean_hops"] == mean_hops(4, 3, throughput)
    assert value[1, "mean-field", "throughput"] == saturation(4, 3)
    assert value[0, "zero-load", "mean_hops"] == value[0, "zero-load", "p50"] == 5
    assert value[0, "zero-load", "p99"] == value[0, "zero-load", "max"] == 7  # one in twelve
    law = zero_load_hops(4, 3)
    assert {metric: v for (p, _, metric), v in value.items() if p == 0 and "hops:" in metric} == {
        f"hops:{n}": law[n] for n in range(3, 8)
    }


def test_with_queues_the_mean_field_carries_the_load_up_to_saturation(tmp_path):
    more = '[compare]\nwith = ["mean-field"]\n[[vary]]\nload = [0.2, 0.5]\n'
    (study,) = ask(load(small(tmp_path, more), ["traffic.injection=queue"]))
    rows = study.beside[study.beside["metric"] == "throughput"]
    assert rows["value"].tolist() == [0.2, saturation(4, 3)]
    assert list(study.notes()) == [1]
    assert "queues grew" in study.notes()[1]
    assert "(in 2 of 2 replications)" in study.notes()[1]


def test_the_butterfly_has_as_many_ports(tmp_path):
    more = '[compare]\nwith = ["butterfly"]\n'
    (study,) = ask(load(small(tmp_path, more), ["switch.angles=4"]))
    value = study.beside.set_index("metric")["value"]
    assert value["acceptance"] == analytic_acceptance(16, 0.3)
    assert value["throughput"] == 0.3 * analytic_acceptance(16, 0.3)


def test_a_recording_is_the_beginning_of_the_first_run(tmp_path):
    more = "[record]\npackets = 20\nslots = 30\n[[vary]]\nload = [0.5, 0.1]\n"
    (study,) = ask(load(small(tmp_path, more), ["traffic.injection=queue"]))
    run = Switch(4, 3).start(0.5, injection="queue", watch=20)
    run.run(30)
    result = run.result()
    steps = [
        (step.slot, path.packet, step.event, step.cylinder, step.angle, step.height)
        for path in result.paths
        for step in path.steps
    ]
    columns = ["slot", "packet", "kind", "cylinder", "angle", "height"]
    assert sorted(study.sides["events"][columns].itertuples(index=False, name=None)) == sorted(
        steps
    )
    assert len(study.sides["queues"]) == 30
    last = study.sides["queues"].iloc[-1]
    assert (last["waiting"], last["in_flight"]) == (result.waiting, result.in_flight)
    assert study.sides["queues"]["deflected"].sum() == result.deflections.sum()
    deflected = study.sides["events"][study.sides["events"]["kind"] == "deflect"]
    assert (deflected["by"] >= -1).all()
    assert len(deflected)


def test_a_network_is_studied_alike(tmp_path):
    text = small(tmp_path).read_text().split("[switch]")[0]
    text += (
        '[network]\npreset = "dv203"\nplanes = 2\n[traffic]\nload = 0.4\nslots = 200\nwarmup = 50\n'
    )
    (study,) = ask(load(small(tmp_path, text=text)))
    run = dvsim.Network("dv203", planes=2).run(0.4, 200, 50, replication_seed(1, 1))
    row = study.wide.iloc[1]
    assert (row["delivered"], row["throughput"]) == (run.delivered, run.throughput)
    assert row["mean_latency"] == run.mean_latency
    assert study.slot_ps == dvsim.Network("dv203", planes=2).slot_ps
    assert study.sides["cylinders"]["level"].unique().tolist() == [0]


def test_flow_fidelity_says_so_with_its_error(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    text = small(tmp_path).read_text().split("[switch]")[0]
    text += '[network]\npreset = "dv202"\nplanes = 1\n[traffic]\nload = 0.4\nslots = 200\n'
    text += '[[vary]]\nfidelity = ["cycle", "flow"]\n'
    (study,) = ask(load(small(tmp_path, text=text)))
    assert study.sides["runs"]["fidelity"].tolist() == ["cycle", "cycle", "flow", "flow"]
    ((point, errors),) = study.flow_errors().items()
    assert point == 1
    assert all(0 <= error < 0.1 for error in errors)
    assert study.sides["runs"]["latency_error"].isna().tolist() == [True, True, False, False]
    said = flow_text(study.flow_errors(), 2)
    assert said.startswith("flow fidelity at 1 of 2 points: against the cycle level, mean latency")
    told = study_lines(study)
    lines = [text for one in told for text in ([one] if isinstance(one, str) else one.lines())]
    assert [line.split()[2] == "-" for line in lines[3:5]] == [False, True]  # no interval
    assert lines[-1] == f"  {said}"
    told = answer(Sweep(study))
    assert told[-1] == f"F{said[1:]}. Replications are equal there and give no interval."
    last = points_table(study, Sweep(study), "points").rows[1]
    assert last[-1].startswith("settled; flow: mean latency within ")
    assert last[2:-1:2] == ["–"] * (len(last[2:-1]) // 2 + 1)


def test_a_scale_multiplies_the_slots_that_count(tmp_path):
    scenario = load(small(tmp_path, "[[vary]]\nslots = [100, 400]\n"))
    half = scenario.scaled(0.5)
    assert [half.at(point).traffic.slots for point in (0, 1)] == [50, 200]
    assert half.at(0).traffic.warmup == 50


def test_a_switch_that_does_not_fit_in_memory_is_told_by_name(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise MemoryError("the switch needs 9 B of memory, 8 B are available")

    monkeypatch.setattr(Switch, "run", refuse)
    with pytest.raises(RunFailed, match="small: the switch needs 9 B"):
        ask(load(small(tmp_path)))


def test_python_runs_a_study():
    study = dvsim.run("switch/zero-load", replications=2, traffic__slots=2_000)
    assert repr(study) == "Result('switch/zero-load', seed=1, replications=2, points=1)"
    assert set(study.estimates()["metric"]) == set(METRICS)
    assert study.manifest.command == (
        "dvsim.run('switch/zero-load', seed=1, replications=2, traffic__slots=2000)"
    )


def test_a_question_is_answered_once(sweep, tmp_path, monkeypatch):
    (first,) = ask(sweep, out=tmp_path)
    monkeypatch.setattr(studies, "run_task", None)
    (again,) = ask(sweep, out=tmp_path)
    assert again.folder == first.folder
    assert first.sides.keys() == again.sides.keys() == set(SIDES)
    for one, other in [
        (again.values, first.values),
        *((again.sides[n], first.sides[n]) for n in SIDES),
    ]:
        pd.testing.assert_frame_equal(one, other, check_dtype=False)
    assert again.scenario == sweep
    assert again.manifest == load_result(first.folder).manifest


@pytest.mark.parametrize("change", ["seed", "scenario"])
def test_another_question_is_another_folder(sweep, tmp_path, change):
    (first,) = ask(sweep, out=tmp_path)
    asked = sweep if change != "scenario" else sweep.fixed("load", 0.2)
    options = {} if change == "scenario" else {change: 3}
    (other,) = ask(asked, out=tmp_path, **options)
    assert other.folder != first.folder


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda f: (f / "values.parquet").unlink(), "values.parquet is missing"),
        (lambda f: (f / "queues.parquet").write_bytes(b""), "queues.parquet is truncated"),
        (lambda f: (f / "manifest.json").unlink(), "manifest.json is missing"),
        (
            lambda f: (f / "scenario.toml").write_text(
                (f / "scenario.toml").read_text().replace("0.9", "0.8")
            ),
            "scenario.toml was changed after the run",
        ),
    ],
)
def test_a_damaged_folder_is_refused_until_forced(sweep, tmp_path, damage, message):
    (study,) = ask(sweep, out=tmp_path)
    damage(study.folder)
    with pytest.raises(RunFailed, match=message):
        ask(sweep, out=tmp_path)
    ask(sweep, out=tmp_path, force=True)
    assert ask(sweep, out=tmp_path)[0].scenario == sweep


def full(path, data):
    raise OSError(28, "No space left on device")


def test_a_full_disk_leaves_nothing(sweep, tmp_path, monkeypatch):
    monkeypatch.setattr(folder, "write_bytes", full)
    with pytest.raises(OutputError, match="No space left on device"):
        ask(sweep, out=tmp_path / "runs")
    assert list(tmp_path.iterdir()) == [tmp_path / "small.toml"]


def test_a_failed_run_leaves_the_folders_that_were_there(sweep, tmp_path, monkeypatch):
    (first,) = ask(sweep, out=tmp_path / "runs")
    (tmp_path / "empty").mkdir()
    monkeypatch.setattr(folder, "write_bytes", full)
    for out in ("runs", "empty"):
        with pytest.raises(OutputError):
            ask(sweep, out=tmp_path / out, replications=3)
    assert first.folder.is_dir()
    assert list((tmp_path / "empty").iterdir()) == []


def test_an_interrupted_run_leaves_nothing_and_no_process(sweep, tmp_path, monkeypatch):
    def interrupt(*_):
        deadline = time.monotonic() + 60
        while not multiprocessing.active_children():  # which are to end
            assert time.monotonic() < deadline
            time.sleep(0.01)
        raise KeyboardInterrupt

    monkeypatch.setattr(studies.Progress, "done", interrupt)
    with pytest.raises(KeyboardInterrupt):
        ask(sweep, out=tmp_path / "runs", workers=2)
    assert not (tmp_path / "runs").exists()
    until(lambda: not multiprocessing.active_children(), "the end of the processes")


def test_a_worker_that_dies_fails_the_run(sweep, monkeypatch):

    def kill_one(*_):
        for child in multiprocessing.active_children()[:1]:  # as soon as there is one
            child.kill()

    monkeypatch.setattr(studies.Progress, "done", kill_one)
    monkeypatch.setattr(studies, "SMALL_S", 0)
    with pytest.raises(RunFailed, match="a worker process died"):  # with much still to be done
        ask(sweep.fixed("slots", 1_000_000), replications=20, workers=2)


def test_the_folder_of_a_run_is_told_from_that_of_a_study(sweep, tmp_path):
    (study,) = ask(sweep, out=tmp_path)
    manifest = json.loads((study.folder / "manifest.json").read_text())
    assert manifest["backend"] == "switch"
    assert manifest["counts"]["node_updates"] == 450 * 2 * 2 * 3 * (4 * 3 + 8 * 4)
    manifest["backend"] = "sim"
    (study.folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(RunFailed, match="is not what was asked"):
        load_result(study.folder)
    renamed = study.folder.rename(tmp_path / "renamed")  # whose name says nothing
    with pytest.raises(RunFailed, match="scenario is not of the kind rabbitmq"):
        load_result(renamed)


def test_a_study_has_a_page_of_its_own(sweep, tmp_path):
    (study,) = ask(sweep, out=tmp_path)
    write_results(study.folder / "report.html", [study], None)
    assert "<title>" in (study.folder / "report.html").read_text()
    assert not dataclasses.replace(study, folder=None).folder
