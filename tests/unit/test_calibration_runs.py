"""Are runs refused that say nothing of one machine, each with the reason?"""

from dataclasses import replace

import pytest
from calibration_runs import HOST, QUESTION, emulated
from click.testing import CliRunner
from manifests import changed
from study_runs import scenario_of

from dvsim.cli.calibrate import calibrate
from dvsim.contract.load import load_card
from dvsim.errors import RunFailed, ScenarioError
from dvsim.kinds.rabbitmq.calibration.measured import load_runs
from dvsim.scenario.find import cards_root
from dvsim.session import run_scenarios
from dvsim.study.store import write_result

FEW = {"messages": 2_000, "replications": 1}


@pytest.fixture(scope="module")
def run():
    return emulated("dv", 8, **FEW)


@pytest.fixture(scope="module")
def large():
    return emulated("dv", 8192, **FEW)


def kept(tmp_path, name, run):
    write_result(run, tmp_path / name)
    return tmp_path / name


def refused(*folders):
    with pytest.raises(ScenarioError) as caught:
        load_runs(folders)
    return str(caught.value)


def other(run, **changes):
    return replace(run, manifest=changed(run.manifest, **changes))


def test_runs_that_belong_together_are_taken_each_once(run, large, tmp_path):
    one, two = kept(tmp_path, "a", run), kept(tmp_path, "b", large)
    assert list(load_runs([one, two, one])) == [one, two]


def test_a_simulated_run_has_measured_nothing(run, tmp_path):
    simulated = replace(run, manifest=changed(run.manifest, backend="sim"))
    folder = kept(tmp_path, "a", simulated)
    assert refused(folder) == (
        f"{folder}: is a run of backend sim, which has measured nothing; "
        "run its scenario with backend emu"
    )


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"host": HOST | {"cpu": "Other"}}, "host cpu is 'Other', and 'Some CPU' in"),
        ({"host": HOST | {"cores": 64}}, "host cores is '64', and '4' in"),
        ({"host": HOST | {"packages": {"a": "2"}}}, "host packages is a 2, and a 1 in"),
        ({"version": "9.9"}, "version of dvsim and its programs is '9.9'"),
        (
            {"emulated": {"question": QUESTION | {"clusters": 2}, "brokers": []}},
            "clusters is '2', and '1' in",
        ),
        (
            {"emulated": {"question": QUESTION | {"promise": "at most once"}, "brokers": []}},
            "promise is 'at most once', and 'at least once' in",
        ),
    ],
)
def test_runs_of_other_machines_versions_and_settings_are_refused(
    run, large, tmp_path, changes, reason
):
    one, two = kept(tmp_path, "a", run), kept(tmp_path, "b", other(large, **changes))
    text = refused(one, two)
    assert f"{two}: {reason}" in text
    assert "measure both again, or calibrate them apart" in text


def test_runs_with_other_cards_are_refused(run, tmp_path):
    more = emulated("dv", 2048, ["system.bridge.sockets=4"], **FEW)
    one, two = kept(tmp_path, "a", run), kept(tmp_path, "b", more)
    assert f"{two}: system.bridge.sockets is '4', and '1' in {one}" in refused(one, two)


def test_runs_with_other_receivers_are_refused(run, tmp_path):
    one = kept(tmp_path, "a", run)
    two = kept(tmp_path, "b", emulated("dv", 2048, ["system.receivers=4"], **FEW))
    assert f"{two}: receivers is '4', and '2' in {one}" in refused(one, two)


def test_both_paths_end_in_the_same_broker(run, tmp_path):
    text = (cards_root() / "rabbitmq-2018.toml").read_text("utf-8")
    card = tmp_path / "mine.toml"
    card.write_text(text.replace('"rabbitmq-2018"', '"mine"', 1), "utf-8")
    one = kept(tmp_path, "a", run)
    two = kept(tmp_path, "b", emulated("fdr", 8, [f"system.broker={card}"], **FEW))
    said = f"{two}: system.broker is 'mine', and 'rabbitmq-2018' in {one}"
    assert said in refused(one, two)


def test_a_study_says_nothing_of_this_machine(tmp_path):
    asked = scenario_of("small")
    (study,) = run_scenarios([asked], replications=1, out=tmp_path, workers=1)
    assert "is no run of a system; cards are measured by runs of h3/" in refused(study.folder)


def test_an_offered_load_is_no_limit(tmp_path):
    open_loop = ["loop=open", "workload.messages_per_second=5000"]
    folder = kept(tmp_path, "a", emulated("dv", 8, open_loop, **FEW))
    assert "was offered 5,000 messages/s" in refused(folder)


def test_a_folder_that_is_no_run_is_told(tmp_path):
    with pytest.raises(RunFailed, match=r"is not a run: it has no manifest\.json"):
        load_runs([tmp_path])


def test_the_verb_writes_the_cards_and_says_how_to_use_them(run, large, tmp_path):
    one, two = kept(tmp_path, "a", run), kept(tmp_path, "b", large)
    words = ["--from", one, "--from", two, "--name", "here", "--out", tmp_path / "cards"]
    result = CliRunner().invoke(calibrate, [str(word) for word in words], catch_exceptions=False)
    assert result.exit_code == 0
    path = tmp_path / "cards" / "here-bridge.toml"
    assert f"wrote {path}" in result.stdout
    assert f"use: dvsim run SCENARIO --set system.bridge={path}" in result.stdout
    assert load_card(path)["push"].per_byte_fs > 0


def test_a_name_that_would_lead_elsewhere_is_refused(run, tmp_path):
    folder = kept(tmp_path, "a", run)
    with pytest.raises(ScenarioError, match=r"--name: '\.\./x' must consist of"):
        calibrate.main(["--from", str(folder), "--name", "../x"], standalone_mode=False)
