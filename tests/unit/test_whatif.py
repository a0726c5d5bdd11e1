"""Do open questions become scenarios that differ in what they ask, and nothing else?"""

import math
import re
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from run_builder import samples, vortex_scenario

from dvsim.contract.load import check_file, load, load_campaign
from dvsim.errors import ScenarioError
from dvsim.scenario import find
from dvsim.scenario.render import to_toml
from dvsim.session import run_scenarios
from dvsim.study.table import plain_lines
from dvsim.study.whatif import answers, sentence
from dvsim.table.estimate import Change, estimate, ratio
from dvsim.view.blocks import Section
from dvsim.view.markdown import markdown
from dvsim.view.result_page import report_page
from dvsim.view.terminal import lines
from dvsim.view.whatif import answer_blocks

QUESTION = """\
title = "What if?"
question = "does it help?"
source = "section 9"
assumed = ["nothing else changes"]
baseline = "what is there"
also = ["overruns"]
campaign = ["mine"]

[times]
"workload.messages" = 0.5

[[variant]]
name = "faster"
says = "half the push"
times = { "system.bridge.push" = 0.5, "system.card.sram" = 2 }

[[variant]]
name = "alone"
says = "one receiver"

[variant.system]
receivers = 1
"""


@pytest.fixture
def asked(desk):
    (desk / "asked.toml").write_text(QUESTION, "utf-8")
    return desk


@pytest.mark.parametrize(
    "name", [entry.name for entry in find.list_scenarios() if entry.kind == "what-if"]
)
def test_every_packaged_question_says_what_it_asks_and_against_what(name):
    scenarios = load_campaign(name)
    told = [scenario.whatif for scenario in scenarios]
    assert {place.name for place in told} == {name}
    assert all(place.question.endswith("?") and place.assumed for place in told)
    baselines = {place.member for place in told if place.place == 0}
    assert baselines == {place.member for place in told if place.place > 0}
    assert all("Kolster & Quick 2018, section" in scenario.source for scenario in scenarios)
    assert len({scenario.name for scenario in scenarios}) == len(scenarios)
    assert all(scenario.reference is None for scenario in scenarios)


def test_the_campaign_has_every_question_of_its_folder():
    names = {
        entry.name
        for entry in find.list_scenarios()
        if entry.name.startswith("h3/whatif/") and entry.kind == "what-if"
    }
    assert len(names) == 7
    assert {scenario.whatif.name for scenario in load_campaign("h3/whatif/all")} == names


def test_the_baseline_has_what_the_question_changes_in_all(asked):
    base, *_ = load_campaign(asked / "asked.toml")
    mine = load(asked / "mine.toml")
    assert base.workload.messages == mine.workload.messages / 2
    assert base.system == mine.system
    assert base.name == "asked/baseline/mine"
    assert (base.whatif.says, base.whatif.place) == ("what is there", 0)


def test_a_variant_multiplies_what_the_card_has_and_says_so(asked):
    base, faster, _ = load_campaign(asked / "asked.toml")
    was, now = (one.system.bridge.parameters["push"] for one in (base, faster))
    assert (now.value.fixed_ps, now.value.per_byte_fs) == (
        was.value.fixed_ps / 2,
        was.value.per_byte_fs / 2,
    )
    assert now.confidence == "assumed"
    assert now.source == f"what if: 0.5 times {was.text}, which is {was.confidence}"
    assert faster.system.card["sram"] == 2 * base.system.card["sram"]
    assert faster.system.broker == base.system.broker
    assert faster.workload == base.workload


def test_a_variant_sets_what_a_scenario_can(asked):
    *_, alone = load_campaign(asked / "asked.toml")
    assert alone.system.receivers == 1
    assert list(alone.probe.columns) == ["r1"]  # those of the member are of two receivers


def test_an_option_changes_the_baseline_and_all_variants(asked):
    found = load_campaign(asked / "asked.toml", ["system.bridge.convert=7 us"])
    assert {one.system.bridge["convert"].fixed_ps for one in found} == {7_000_000}


def test_what_a_variant_changes_is_set_for_none(asked):
    with pytest.raises(ScenarioError) as refused:
        load_campaign(asked / "asked.toml", ["push=7 us"])
    assert [fault.key for fault in refused.value.faults] == ["system.bridge.push"]


def test_the_text_of_a_variant_stands_alone(asked):
    for scenario in load_campaign(asked / "asked.toml"):
        file = asked / "resolved.toml"
        file.write_text(to_toml(scenario), "utf-8")
        assert load(file) == scenario


def test_a_campaign_may_have_questions_and_scenarios(asked):
    (asked / "both.toml").write_text(
        'title = "both"\nquestion = "?"\ncampaign = ["asked", "mine"]\n', "utf-8"
    )
    names = [scenario.name for scenario in load_campaign(asked / "both.toml")]
    assert names[0] == "asked/baseline/mine"
    assert names[-1] == "mine"
    assert len(names) == 4


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            '"system.bridge.push" = 0.5',
            '"system.bridge.pusch" = 0.5',
            "15: variant.0.times.system.bridge.pusch: 'mine' has no such number to multiply; did",
        ),
        ('name = "alone"', 'name = "faster"', "variant: two are called 'faster'"),
        ("receivers = 1", "receivers = 0", "22: variant.1.system.receivers: must be at least 1"),
        ('baseline = "what is there"', "", "baseline: missing"),
        ('assumed = ["nothing else changes"]', "assumed = []", "4: assumed: must not be empty"),
        ('also = ["overruns"]', 'also = ["overrun"]', "did you mean 'overruns'?"),
        ('name = "faster"', 'name = "a/b"', "variant.0.name: must be without '/'"),
        ('["mine"]', '["mien"]', "7: campaign: no scenario 'mien'; did you mean 'mine'?"),
        (
            '"system.card.sram" = 2',
            '"system.card.sram" = 1e9',
            "15: variant.0.times.system.card.sram: must be at most",
        ),
        ('times = { "system.bridge.push" = 0.5, "system.card.sram" = 2 }', "", "changes nothing"),
    ],
)
def test_what_is_wrong_with_a_question_is_said_with_its_line(asked, old, new, message):
    asked.edit("asked.toml", old, new)
    faults = "\n".join(map(str, check_file(asked / "asked.toml")))
    assert message in faults


SWITCHED = """\
title = "What if?"
question = "does it help?"
source = "section 9"
assumed = ["nothing else changes"]
baseline = "what is there"
also = ["mean_hops"]
campaign = ["switch"]

[[variant]]
name = "more"
says = "twice the load"
times = { "traffic.load" = 2 }

[[variant]]
name = "wide"
says = "five angles"
switch = { angles = 5 }
"""


def test_a_switch_can_be_varied_like_a_system(asked):
    (asked / "switch.toml").write_text(
        'kind = "switch"\ntitle = "s"\nquestion = "?"\nsource = "x"\n'
        "[switch]\nheight = 4\nangles = 3\n[traffic]\nload = 0.1\nslots = 2000\n",
        "utf-8",
    )
    (asked / "asked.toml").write_text(SWITCHED, "utf-8")
    base, more, wide = load_campaign(asked / "asked.toml")
    assert (base.get("load"), more.get("load"), wide.get("angles")) == (0.1, 0.2, 5)
    results = run_scenarios([base, more, wide], out=None, workers=1, replications=5)
    (answer,) = answers(results)
    (part,) = answer.parts
    assert [outcome.says for outcome in part.outcomes] == [
        "what is there",
        "twice the load",
        "five angles",
    ]
    first, second, _ = part.outcomes
    pairs = zip(results[1].wide[answer.what], results[0].wide[answer.what], strict=True)
    assert second.ratio.value == pytest.approx(np.exp(np.mean([np.log(a / b) for a, b in pairs])))
    assert first.also("mean_hops") == pytest.approx(results[0].wide["mean_hops"].mean())
    assert second.verdict == "rises" and "twice the load (x 1.78" in answer.sentence()
    text = "\n".join(answer_lines(answer))
    assert re.search(r"twice the load +\S+ ± \S+ +x 1\.78", text), text
    assert answer.sentence() in markdown(report_page(results))


def test_a_campaign_cannot_be_varied(asked):
    (asked / "all.toml").write_text('title = "a"\nquestion = "?"\ncampaign = ["mine"]\n')
    asked.edit("asked.toml", '["mine"]', '["all"]')
    with pytest.raises(
        ScenarioError, match="'all' is a campaign, and only scenarios can be varied"
    ):
        load_campaign(asked / "asked.toml")


def answer_lines(answer):
    """Return what a terminal shows of an answer."""
    return list(plain_lines(lines([Section("answer", "", answer_blocks(answer))])))


def runs_of(asked, counts):
    """Return runs of the question's scenarios with so many messages in each second."""
    from run_builder import run_of

    found = []
    for scenario, per_second in zip(load_campaign(asked / "asked.toml"), counts, strict=True):
        table = samples({(n + 1, 1, 1): [rate] for n, rate in enumerate(per_second)})
        kept = replace(scenario, probe=vortex_scenario().probe)
        found.append(run_of(kept, table))
    return found


def test_the_table_has_rates_and_ratios_of_replications_and_the_sentence_what_they_say(asked):
    (answer,) = answers(runs_of(asked, [(100, 200), (300, 600), (100, 200)]))
    rows = [line.split("  ") for line in answer_lines(answer)]
    told = [[cell.strip() for cell in row if cell.strip()] for row in rows]
    assert ["variant", "msg/s", "ratio", "overruns", "limit"] in told
    assert ["2 KiB", "what is there", "150 (0 to 785)", "–", "not counted"] in told
    assert ["half the push", "450 (0 to 2,360)", "x 3.00", "–", "not counted"] in told
    assert ["one receiver", "150 (0 to 785)", "x 1.00", "–", "not counted"] in told
    assert verdicts_of(answer) == ["", "rises", "equal"]
    assert "half the push (x 3.00 at 2 KiB)" in answer.sentence()
    assert [answer.sentence()] in told


def test_the_answer_is_not_told_without_the_baseline(asked):
    runs = runs_of(asked, [(100,), (300,), (100,)])
    assert answers(runs[1:]) == []
    assert answers(runs[:1]) == []
    assert len(answers(runs[:2])) == 1


def test_runs_of_different_seeds_are_not_held_against_each_other(asked):
    base, other, _ = runs_of(asked, [(100,), (300,), (100,)])
    assert answers([base, replace(other, seed=2)]) == []


def test_a_change_that_nobody_would_notice_is_none(asked):
    (answer,) = answers(runs_of(asked, [(1000, 1000), (1004, 1006), (1000, 1000)]))
    assert verdicts_of(answer) == ["", "stays", "equal"]


def verdicts_of(answer):
    return [outcome.verdict for part in answer.parts for outcome in part.outcomes]


def test_the_sentence_names_each_variant_once_where_it_gives_most():
    found = [
        (where, says, Change("ratio", value, value - half, value + half, "paired"))
        for where, says, value, half in (
            ("8 B", "two", 3.5, 0.7),
            ("8 B", "pages", 0.5, 0.1),
            ("8 B", "maybe", 1.3, 0.4),
            ("8 B", "small", 1.008, 0.005),
            ("8 B", "none", 1, 0),
            ("1 KiB", "two", 4, 0.2),
            ("1 KiB", "pages", 0.3, 0.1),
        )
    ]
    told = sentence("rate", found)
    assert re.findall(r"(\w+) \(x ([\d.]+) at ([^)]+)\)", told) == [
        ("two", "4.00", "1 KiB"),
        ("pages", "0.30", "1 KiB"),
        ("small", "1.008", "8 B"),
        ("none", "1.00", "8 B"),
        ("maybe", "1.30", "8 B"),
    ]
    assert sentence("rate", []) == "Nothing was delivered."


def test_receivers_are_added_up_or_averaged(asked):
    from run_builder import run_of

    runs = runs_of(asked, [(1,), (1,), (1,)])
    table = samples({(1, 1, 1): [10, 30], (1, 1, 2): [20, 20]})
    runs = [run_of(run.scenario, table) for run in runs]
    assert runs[0].headline().values == {1: 40.0}
    receivers = runs[0].scenario.system.receivers
    for rate, wanted in ("all", 40.0), ("each", 40.0 / receivers):
        told = [
            replace(
                run, scenario=replace(run.scenario, whatif=replace(run.scenario.whatif, rate=rate))
            )
            for run in runs
        ]
        (answer,) = answers(told)
        assert answer.parts[0].outcomes[0].rate.value == wanted


def test_a_ratio_needs_something_to_divide_by(asked):
    zero, some, _ = (run.headline().values for run in runs_of(asked, [(0, 1), (2, 2), (1, 1)]))
    assert ratio(some, zero) is None
    assert ratio(zero, some) is None
    assert ratio(some, {1: some[1]}) == ("ratio", 1.0, None, None, "")
    assert estimate(some.values()) == (2.0, 2.0, 2.0)


def test_a_ratio_that_hardly_varies_is_not_taken_for_certain():
    """As in `dvsim compare`: the rare pair that is not like the others may be missing."""
    base = np.array([90.0, 100.0, 110.0])
    values = base * [2.0, 2.0, 2.002]
    numbered = partial(zip, (1, 2, 3))
    pair = dict(numbered(values)), dict(numbered(base))
    of_pairs, apart = ratio(*pair), ratio(*pair, common=False)
    assert of_pairs.value == apart.value == pytest.approx(2, rel=1e-3)
    assert of_pairs.half > 4 * 2 * estimate(np.log(values / base)).half
    widths = [math.log(known.high / known.value) for known in (apart, of_pairs)]
    assert widths[0] == pytest.approx(5 * widths[1])
    assert ratio(dict(numbered(base * 2)), pair[1]).half == 0  # each of them twice
    assert ratio({1: 2.0}, {1: 1.0}) == ("ratio", 2.0, None, None, "")
