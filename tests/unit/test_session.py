"""Is a question answered once, checked before it is run, and asked of Python as of the shell?"""

from dataclasses import replace

import pytest

import dvsim
from dvsim.contract.load import load
from dvsim.core import code
from dvsim.errors import OutputError, RunFailed, ScenarioError
from dvsim.scenario import bounds
from dvsim.session import run_scenarios
from dvsim.study import execute

SMALL = load("h3/fdr-8", ["workload.messages=20_000"])


def ask(*scenarios, **options):
    return run_scenarios(scenarios, **{"out": None, "replications": 1, "workers": 1} | options)


def test_equal_scenarios_are_simulated_once():
    again = load("h3/fdr-8", ["workload.messages=20_000"])
    other = load("h3/fdr-8", ["workload.messages=10_000"])
    first, second, third = ask(SMALL, other, again)
    assert first is third
    assert second.scenario == other


def test_an_edited_run_folder_is_refused_and_force_replaces_it(tmp_path):
    (run,) = ask(SMALL, out=tmp_path)
    text = (run.folder / "scenario.toml").read_text()
    (run.folder / "scenario.toml").write_text(text.replace("20000", "20001"))
    with pytest.raises(RunFailed, match=r"scenario\.toml was changed after the run.*with force"):
        ask(SMALL, out=tmp_path)
    ask(SMALL, out=tmp_path, force=True)
    assert ask(SMALL, out=tmp_path)[0].scenario == SMALL


def test_a_name_that_is_too_long_for_a_folder_is_known_before_the_run(tmp_path, monkeypatch):
    monkeypatch.setattr(execute, "simulate", None)
    with pytest.raises(OutputError, match="File name too long"):
        ask(SMALL, out=tmp_path / ("x" * 300))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"replications": 1.5}, "replications: 1.5 is not a whole number"),
        ({"replications": True}, "replications: True is not a whole number"),
        ({"replications": 10_001}, "replications: 10001 is more than 10000"),
        ({"workers": 0}, "workers: 0 is less than 1"),
        ({"workers": -1}, "workers: -1 is negative"),
        ({"seed": 2**64}, f"seed: {2**64} is more than {2**64 - 1}"),
        ({"scale": float("nan")}, "scale: nan is not above 0 and at most 1000"),
    ],
)
def test_arguments_out_of_range_are_refused(options, message):
    with pytest.raises(ScenarioError) as caught:
        ask(SMALL, **options)
    assert str(caught.value) == message


def test_a_scale_must_not_make_too_much_of_a_scenario():
    many = replace(SMALL, workload=replace(SMALL.workload, messages=bounds.MESSAGES // 100))
    with pytest.raises(ScenarioError, match="messages: must be at most 1000000000000, is 10000000"):
        ask(many, scale=1000)


def test_replications_must_not_make_too_many_iterations():
    many = load("h3/fdr-8", ["workload.iterations=1_000"])
    message = "replications: h3/fdr-8 has 2000000 iterations then, and may have 1000000"
    with pytest.raises(ScenarioError, match=message):
        ask(many, replications=2000)


def test_a_loaded_scenario_takes_no_overrides():
    with pytest.raises(TypeError, match="messages: a loaded scenario takes no overrides"):
        dvsim.run(SMALL, messages=50)


def test_a_path_is_run_as_a_name_is(tmp_path):
    from dvsim.scenario.render import to_toml

    (tmp_path / "mine.toml").write_text(to_toml(SMALL))
    assert dvsim.run(tmp_path / "mine.toml", replications=1).scenario == SMALL


def test_the_manifest_has_the_python_call():
    run = dvsim.run("h3/fdr-8", replications=1, messages=10_000)
    assert run.manifest.command == "dvsim.run('h3/fdr-8', seed=1, replications=1, messages=10000)"
    again = dvsim.run(run.scenario, seed=3, replications=1)
    assert again.manifest.command == "dvsim.run(<scenario h3/fdr-8>, seed=3, replications=1)"


def test_the_card_that_networks_take_is_part_of_the_version(tmp_path, monkeypatch):
    before = code.code_version.__wrapped__()
    other = tmp_path / "card.toml"
    other.write_text("planes = 8")
    monkeypatch.setattr(code, "find_card", lambda name: other)
    assert code.code_version.__wrapped__() != before


def test_a_changed_model_does_not_get_the_answer_of_the_old_one(tmp_path, monkeypatch):
    (before,) = ask(SMALL, out=tmp_path)
    assert before.manifest.version.startswith(f"{dvsim.__version__}+")
    monkeypatch.setattr(execute, "code_version", lambda: "0.1.0+00000000")
    (after,) = ask(SMALL, out=tmp_path)
    assert after.folder != before.folder
