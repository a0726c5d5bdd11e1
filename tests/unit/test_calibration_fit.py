"""Does a fit find what data were made with, and judge itself by what it has not seen?

At full length that is in docs/calibration.md.
"""

import csv
import hashlib
import math
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

from dvsim.cli.calibrate import calibrate
from dvsim.contract.load import load, load_card
from dvsim.errors import ScenarioError
from dvsim.evidence.calibration.knobs import knobs_of, with_values
from dvsim.evidence.calibration.rows import distances, naive_error, simulated_rows, trials_of
from dvsim.evidence.calibration.search import known, search
from dvsim.evidence.calibration.target import Data, target_of
from dvsim.scenario.reference import published
from dvsim.session import run_scenarios
from dvsim.study.design import Variants
from dvsim.study.execute import Runs, execute

DATA = "h3_message_rates.csv"


def bowl(at):
    """A loss whose least is at (1, 2); it hardly knows its third argument."""
    return 0.1 + abs(at[0] - 1) + 0.5 * abs(at[1] - 2) + 1e-6 * abs(at[2])


def test_a_search_finds_the_least_from_every_start_and_knows_what_it_knows():
    box = {"start": [0, 0, 0], "low": [-3] * 3, "high": [3] * 3}
    found = search(bowl, **box, starts=3, budget=900, seed=1)
    assert found.best.at[:2] == pytest.approx([1, 2], abs=0.05)
    assert len(found.ends) == 3
    assert found.evaluations <= 900
    first, second, third = known(bowl, found)
    assert first.ratio is not None
    assert not first.weak
    assert not second.weak
    assert third.weak


def test_one_start_does_not_say_how_far_others_end():
    box = {"start": [0, 0, 0], "low": [-3] * 3, "high": [3] * 3}
    found = search(bowl, **box, starts=1, budget=200, seed=1)
    assert [one.ratio for one in known(bowl, found)] == [None] * 3


def test_a_search_stays_within_its_bounds_and_its_budget():
    seen = []

    def loss(at):
        seen.append(np.array(at))
        return float(at[0])

    found = search(loss, [0.0], [-1.0], [1.0], starts=2, budget=40, seed=1)
    assert found.best.at[0] == pytest.approx(-1, abs=0.02)
    assert min(at[0] for at in seen) >= -1
    assert len(seen) == found.evaluations <= 40


def test_the_knobs_of_a_card_are_what_it_calls_calibrated():
    card = load_card("h3-bridge")
    names = [knob.name for knob in knobs_of(card)]
    assert "push.fixed" in names
    assert "push.per_byte" in names
    assert "convert.fixed" not in names  # assumed
    assert [knob.name for knob in knobs_of(card, ["convert.per_byte"])] == ["convert.per_byte"]
    with pytest.raises(ScenarioError, match=r"no parameter 'relase'; did you mean 'release'"):
        knobs_of(card, ["relase"])
    with pytest.raises(ScenarioError, match=r"no parameter 'pusch'; did you mean 'push'"):
        knobs_of(card, ["pusch"])
    with pytest.raises(ScenarioError, match=r"no parameter 'xyz'; there are .*, push, "):
        knobs_of(card, ["xyz"])


def test_a_turned_card_says_that_it_was_fitted():
    card = load_card("h3-bridge")
    knobs = knobs_of(card, ["push", "threads"])
    new = with_values(card, knobs, [50e6, 2e6, 7.4], "r1:8", "a search")
    assert (new["push"].fixed_ps, new["push"].per_byte_fs) == (50_000_000, 2_000_000)
    assert new["threads"] == 7
    assert new.parameters["push"].confidence == "calibrated"
    assert new.parameters["push"].fitted == "r1:8"
    assert new.parameters["convert"] == card.parameters["convert"]
    far = with_values(card, knobs, [1e30, 2e6, 0], "", "")
    assert far["push"].fixed_ps == pytest.approx(16 * card["push"].fixed_ps, rel=1e-4)
    assert far["threads"] >= 1


def test_what_is_fitted_is_not_held_out():
    target = target_of(load_card("h3-bridge"), Data((DATA,)), "r1:8,2048,131072")
    assert target.role == "bridge"
    assert {target.cases[at].key for at in target.fit} == {"r1:8", "r1:2048", "r1:131072"}
    assert target.names(target.fit) == "r1:8,2048,131072"
    assert not target.fit & target.held_out
    assert "r2:8" in {target.cases[at].key for at in target.held_out}
    assert {target.cases[at].scenario.name for at in target.fit} == {
        "h3/dv-8",
        "h3/dv-2048",
        "h3/dv-131072",
    }
    assert all(one.scenario.system.transport == "data-vortex" for one in target.cases)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            ("h3-bridge", DATA, "r1:8,9", "rest"),
            "fit: nothing was measured at r1:9; there are r1:8",
        ),
        (("h3-bridge", DATA, "r1:8193", "rest"), "; did you mean 'r1:8192'?"),
        (("h3-bridge", DATA, "r1", "rest"), "'r1' is not of the form r1:8,2048"),
        (("h3-bridge", DATA, "r1:8", "r1:8"), "hold_out: r1:8 is fitted"),
        (("h3-bridge", "h3_message_rate.csv", "8", "rest"), "did you mean 'h3_message_rates.csv'"),
        (
            ("zeromq-0.2", DATA, "8", "rest"),
            "none of its cases can be simulated with zeromq-0.2; rate, 8 B",
        ),
    ],
)
def test_a_target_that_cannot_be_is_told(given, message):
    with pytest.raises(ScenarioError) as caught:
        card, data, *keys = given
        target_of(load_card(card), Data((data,)), *keys)
    assert message in str(caught.value)


def test_zero_is_no_small_number():
    found = distances([2.0, 0.0, 0.0, 5.0], [1.0, 0.0, 5.0, 0.0])
    assert found == pytest.approx([math.log(2), 0.0, 1.0, 1.0])


def test_the_naive_rival_is_exact_where_it_is_right():
    card = load_card("h3-bridge")
    target = target_of(card, Data((DATA,)), "r1:8,131072")
    how = {"scale": 0.0005, "replications": 1}
    trials = trials_of(target, target.fit, card, card, **how)
    results = execute(Variants(trials), Runs(1, None, workers=1))
    fit = simulated_rows(target, target.fit, results)
    means = fit[fit["statistic"] == "mean"]
    assert len(means) == 2
    assert naive_error(fit, means, target.cases) == pytest.approx(0, abs=1e-3)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A table of columns that the model itself gives, with another cost of publishing."""
    path = tmp_path_factory.mktemp("made") / "made.csv"
    rows = []
    for size in (8, 256, 2048):
        sets = ["system.publisher.publish=90 us", "workload.messages=400_000"]
        scenario = load(f"h3/fdr-{size}", sets)
        (run,) = run_scenarios([scenario], out=None, replications=4, workers=1)
        table = run.estimates()
        table = table[table["component"] == "r1"].set_index("metric")["value"]
        for statistic in published(scenario, "r1"):
            value = float(table[f"messages.{statistic}"])
            rows.append(["fdr-ipoib", size, 1, f"{size}B_r1", statistic, value])
    with path.open("w", encoding="utf-8", newline="") as file:
        head = ["transport", "message_bytes", "run", "published_column", "statistic", "value"]
        csv.writer(file).writerows([head, *rows])
    path.with_suffix(".toml").write_text(
        '[lab]\nunit = "msg/s"\nsample = "batch 10000"\n', encoding="utf-8"
    )
    return path


def test_a_fit_finds_what_the_data_were_made_with(made, tmp_path):
    words = f"python-multiprocessing --against {made} --fit r1:8,2048 --hold-out rest"
    words += " --parameter publish.fixed --budget 24 --starts 2 --scale 0.02 --name mine"
    words += f" --out {tmp_path}"
    result = CliRunner().invoke(calibrate, words.split(), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    path = tmp_path / "mine-publisher.toml"
    card = load_card(path)
    assert card["publish"].fixed_ps == pytest.approx(90e6, rel=0.1)
    statement = card.parameters["publish"]
    assert statement.confidence == "calibrated"
    digest = hashlib.sha256(made.read_bytes()).hexdigest()[:16]
    assert statement.fitted == f"made.csv (sha256 {digest}): r1:8,2048 B"
    assert f"wrote {path}" in result.stdout
    assert "held out" in result.stdout
    assert "means_naive" in result.stdout
    given = load("h3/fdr-8", [f"system.publisher={path}"]).system.publisher
    assert replace(given, title="") == replace(card, title="")


def test_a_budget_that_cannot_move_is_refused(tmp_path):
    words = f"h3-bridge --against {DATA} --fit r1:8 --parameter push --budget 5 --name a"
    with pytest.raises(ScenarioError, match="budget: is 5; 3 starts with 2 parameters need 12"):
        calibrate.main([*words.split(), "--out", str(tmp_path)], standalone_mode=False)


@pytest.mark.parametrize("seed", [-1, 2**64 - 1])
def test_a_seed_that_no_run_can_have_is_refused_before_the_search(tmp_path, seed):
    words = f"h3-bridge --against {DATA} --fit r1:8 --parameter push --seed {seed} --name a"
    with pytest.raises(ScenarioError, match=f"seed: is {seed}; from 0 to {2**64 - 2}"):
        calibrate.main([*words.split(), "--out", str(tmp_path)], standalone_mode=False)


@pytest.mark.parametrize(
    "words",
    [
        "--name a",
        "h3-bridge --name a",
        "h3-bridge --from runs/a --name a",
        "--from runs/a --name a --budget 3",
    ],
)
def test_half_a_question_is_refused(words):
    assert CliRunner().invoke(calibrate, words.split()).exit_code == 2
