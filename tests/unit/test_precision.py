"""Do replications go on until what is asked is known well enough, and not longer?"""

import re
from pathlib import Path

import numpy as np
import pytest
from harness.in_process import dvsim
from harness.replies import Told
from scipy.stats import t as student

from dvsim import run as simulate
from dvsim.contract.load import load, load_campaign
from dvsim.errors import ScenarioError
from dvsim.session import run_scenarios
from dvsim.study.precision import MOST, Reached, needed, needs, reached, reached_texts
from dvsim.study.store import contents_of
from dvsim.study.sweep import prepare
from dvsim.study.sweeps.grid import plan
from dvsim.study.whatif import answers
from dvsim.table.estimate import ratio
from dvsim.view.whatif import answer_table

FIVE = {"precision": 0.05}
FEW = ["workload.messages=40000"]
RUN = ["run", "h3/dv-8", "--scale", "0.0005", "--workers", "1"]


@pytest.fixture(autouse=True)
def room(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def one(name, replications, overrides=FEW):
    return run_scenarios([load(name, overrides)], replications=replications, out=None, workers=1)[0]


def test_of_a_run_it_is_the_interval_of_its_rate():
    run = one("h3/fdr-8", 4)
    rates = np.array(list(run.headline().values.values()))
    half = student.ppf(0.975, 3) * rates.std(ddof=1) / 2
    (found,) = reached([run])
    assert (found.what, found.replications) == ("rate", 4)
    assert found.share == pytest.approx(half / rates.mean())
    assert needs([run], 0.05) == [needed(found.share, 0.05)]


def test_of_a_study_it_is_the_point_that_is_known_least():
    study = one("switch/load-latency", 3, ["traffic.slots=50"])
    table = study.table()
    share = (table["± throughput"] / table["throughput"]).max()
    assert share > 0
    assert reached([study])[0][1:] == ("throughput", pytest.approx(share), 3, "")


def test_of_a_question_it_is_the_worst_ratio_for_all_of_it():
    campaign = load_campaign("h3/whatif/bridges", ["workload.messages=2000"])
    runs = run_scenarios(campaign, replications=3, out=None, workers=1)
    found = reached(runs)
    assert {known.what for known in found} == {"widest ratio"}
    (text,) = {known.text(0.5) for known in found}
    assert text.startswith("h3/whatif/bridges: widest ratio ± ")
    (share,) = {known.share for known in found}
    outcomes = [part.outcomes for part in answers(runs)[0].parts]
    half = {
        id(one.run): one.ratio.half / one.ratio.value for (_, *some) in outcomes for one in some
    }
    half |= {id(base.run): max(half[id(one.run)] for one in some) for (base, *some) in outcomes}
    assert max(half.values()) == share
    asked = needs(runs, share / 4)
    assert asked == [needed(half[id(run)], share / 4) for run in runs]
    assert len(set(asked)) > 1


def test_of_a_question_each_variant_has_as_many_replications_as_its_ratio_needs():
    asked = load_campaign("h3/whatif/bridges", ["workload.messages=2000"])
    runs = run_scenarios(asked, precision=0.3, out=None, workers=1)
    assert len({run.replications for run in runs}) > 1
    (answer,) = answers(runs)
    for part in answer.parts:
        base, *variants = part.outcomes
        assert base.run.replications == max(one.run.replications for one in variants)
        for one in variants:
            pair = runs_of_first(one.run.replications, base.run, one.run)
            assert one.ratio == ratio(*pair)
    said = reached_texts(reached(runs), 0.9)
    least, most = answer.replications
    assert len(said) == 1 and f" with {least} to {most} replications" in said[0]
    assert f"Seed 1, {least} to {most} replications" in answer_table(answer).caption


def runs_of_first(times, base, one):
    return [{n: run.headline().values[n] for n in range(1, times + 1)} for run in (one, base)]


def replications_by_a_pilot(scenario, precision):
    """Return what three replications of the pilot's seed ask for."""
    how = {"replications": 3, "seed": 1 ^ 2**63, "out": None, "workers": 1}
    (known,) = reached(run_scenarios([scenario], **how))
    return needed(known.share, precision)


@pytest.mark.parametrize("workers", [1, 2])
def test_the_answer_is_that_of_as_many_replications_for_any_number_of_workers(workers):
    asked = [load("h3/dv-8", FEW), load("h3/fdr-8", FEW)]
    found = run_scenarios(asked, precision=0.1, out=None, workers=workers)
    pilots = [replications_by_a_pilot(item, 0.1) for item in asked]
    assert [result.replications for result in found] == pilots
    for result in found:
        whole = one(result.scenario.name, result.replications)
        assert contents_of(result) == contents_of(whole)


def test_python_asks_for_it_in_the_same_words():
    found = simulate("h3/fdr-8", precision=0.1, messages=40_000)
    assert found.replications == replications_by_a_pilot(load("h3/fdr-8", FEW), 0.1)
    assert "precision=0.1" in found.manifest.command
    with pytest.raises(TypeError, match="says how many replications"):
        simulate("h3/fdr-8", precision=0.1, replications=3)


def test_it_ends_at_the_most_and_says_that_it_did():
    done = dvsim(*RUN, "--precision", "0.1%")
    assert done.returncode == 0
    said = done.stdout.splitlines()[-1]
    pattern = rf"h3/dv-8: rate ± [\d.]+% with {MOST} replications, not within 0.1%.*"
    assert re.fullmatch(pattern, said)


def test_what_was_reached_is_printed_and_in_the_json():
    done = dvsim(*RUN, "--precision", "30%", "--json")
    (known,) = Told(done.stdout).facts["precision"]
    (run,) = Told(done.stdout).facts["results"]
    assert known["share"] <= 0.3 and known["replications"] == run["replications"] < MOST
    again = dvsim(*RUN, "--precision", "0.3").stdout.splitlines()[-1]
    times = run["replications"]
    assert again == f"h3/dv-8: rate ± {100 * known['share']:.2g}% with {times} replications"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--precision", "5"], "--precision: 5 is not a share from 0.001 to 0.5"),
        (["--precision", "5"], "did you mean '5%'?"),
        (["--precision", "wide"], "'wide' is no share, such as 5% or 0.05"),
        (["--precision", "5%", "--replications", "3"], "give it or --replications"),
        (["--precision", "5%", "--quick"], "--quick"),
        (["--precision", "5%", "--backend", "emu"], "--precision is of simulated runs"),
        (["--precision", "5%", "--trace", "t.json"], "--precision is not of a run that is traced"),
    ],
)
def test_what_cannot_be_is_refused(more, said):
    words = [word for word in RUN if "--quick" not in more or word not in ("--scale", "0.0005")]
    try:
        done = dvsim(*words, *more)
    except ScenarioError as error:
        assert said in str(error)
    else:
        assert done.returncode == 2
        assert said in done.stderr


def test_without_replications_a_run_ends_at_five_per_cent_and_says_so():
    asked = {"scale": 0.0005, "out": None, "workers": 1}
    (found,) = run_scenarios([load("h3/fdr-8")], **asked)
    (same,) = run_scenarios([load("h3/fdr-8")], precision=0.05, **asked)
    assert found.replications == same.replications
    assert contents_of(found) == contents_of(same)
    words = [*RUN, "--out", "kept"]
    said, asked_for = dvsim(*words).stdout, dvsim(*words, "--precision", "5%").stdout
    assert said == asked_for and "h3/dv-8: rate ± " in said.splitlines()[-1]
    assert "± " not in dvsim(*words, "--replications", "3").stdout.splitlines()[-1]
    assert "precision" not in Told(dvsim(*words, "--replications", "3", "--json").stdout).facts


def test_a_sweep_goes_by_the_same_precision():
    points = plan(["workload.message_bytes=8,2048"])
    (found, same) = (prepare("h3/fdr-8", points, scale=0.0005, **how) for how in ({}, FIVE))
    assert found.folder(Path("sweeps")) == same.folder(Path("sweeps"))
    assert found.precision == 0.05 and found.how.replications == MOST


def test_a_changed_run_is_set_beside_as_many_replications_of_the_unchanged_one(tmp_path):
    words = ["run", "h3/fdr-8", "--scale", "0.0005", "--workers", "1", "--out", tmp_path]
    least = dvsim(*words, "--precision", "50%", "--json")
    set_ = ["--set", "system.publisher.processes=4"]
    more = dvsim(*words, *set_, "--precision", "0.1%", "--json")
    changed, base = (one["replications"] for one in Told(more.stdout).facts["results"])
    assert changed == MOST
    assert base == Told(least.stdout).facts["results"][0]["replications"]
    assert [row["by"] for row in Told(more.stdout).of("rate")] == ["paired", None]


def test_of_many_results_only_those_that_are_not_within_are_named():
    known = [Reached(f"h3/dv-{n}", "rate", n / 100, n) for n in (3, 4, 5, 8, 12)]
    wide = "h3/dv-12: rate ± 12% with 12 replications, not within 10%; about 18 would be"
    assert reached_texts(known, 0.1) == [wide, "the other 4: within 10% with 3 to 8 replications"]
    assert len(reached_texts(known[:3], 0.1)) == 3
