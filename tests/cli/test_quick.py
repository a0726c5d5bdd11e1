"""Is `--quick` the same as the options that it stands for, in every verb that has them?"""

import pytest
from harness.in_process import dvsim
from harness.replies import Told

from dvsim.cli.main import cli
from dvsim.cli.options import QUICK

MEANT = ["--scale", "0.01", "--replications", "3"]
RUN = ["run", "h3/fdr-8", "--workers", "1", "--json"]
SWEEP = ["sweep", "switch/zero-load", "--vary", "switch.height=16", "--dry-run", "--json"]
LIMIT = ["limit", "switch/zero-load", "--until", "acceptance >= 0.5", "--vary", "load",
         "--between", "0.1", "0.2", "--tolerance", "0.1", "--workers", "1", "--json"]  # fmt: skip


@pytest.fixture(autouse=True)
def room(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def printed(*words):
    done = dvsim(*words)
    assert done.returncode == 0, done.stderr
    return Told(done.stdout)


def test_a_quick_run_is_the_one_that_the_options_ask_for():
    quick, meant = (printed(*RUN, *how) for how in (["--quick"], MEANT))
    assert quick.rows == meant.rows
    assert quick.folders == meant.folders  # it was kept
    assert {row["n"] for row in quick.of("rate")} == {QUICK["replications"]}


@pytest.mark.parametrize("words", [SWEEP, LIMIT])
def test_other_verbs_take_it_for_the_same(words):
    quick, meant = (printed(*words, *how) for how in (["--quick"], MEANT))
    assert (quick.points, quick.values) == (meant.points, meant.values)
    assert quick.facts | {"command": ""} == meant.facts | {"command": ""}


@pytest.mark.parametrize("option", [["--scale", "0.1"], ["--replications", "2"]])
@pytest.mark.parametrize("verb", [RUN, SWEEP, LIMIT, ["validate", "h3"]])
def test_it_is_not_given_together_with_one_of_them(verb, option):
    done = dvsim(*verb, "--quick", *option)
    assert done.returncode == 2
    said = f"--quick is --scale 0.01 --replications 3; give it or {option[0]}"
    assert said in done.stderr


def test_every_verb_that_has_both_options_has_it():
    verbs = {name: cli.get_command(None, name) for name in cli.list_commands(None)}
    names = {verb: {option.name for option in one.params} for verb, one in verbs.items()}
    both = {verb for verb, options in names.items() if options >= set(QUICK)}
    assert both >= {"run", "validate", "sweep", "limit", "calibrate"}
    assert {verb for verb, options in names.items() if "quick" in options} == both


def test_cards_that_are_measured_have_no_trials_to_shorten(tmp_path):
    done = dvsim("calibrate", "--from", str(tmp_path), "--quick")
    assert done.returncode == 2
    assert "--quick is for --against" in done.stderr
