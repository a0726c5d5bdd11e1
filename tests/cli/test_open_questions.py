"""Is each open question answered by one sentence and a table with the figures of its runs?"""

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner
from harness.replies import Told

from dvsim.cli.main import cli
from dvsim.contract.load import load_campaign
from dvsim.session import run_scenarios
from dvsim.study.number_text import times_text
from dvsim.study.whatif import answers, sentence
from dvsim.table.estimate import Change
from dvsim.table.reply import Reply


def call(*args):
    return CliRunner().invoke(cli, [str(arg) for arg in args])


def answer_to(name, memory=None, **how):
    """Run a question in memory and return its answer as --json gives it."""
    scenarios = load_campaign(f"h3/whatif/{name}")
    if memory is not None:
        scenarios = [
            replace(one, system=replace(one.system, broker=one.system.broker.having(memory)))
            for one in scenarios
        ]
    runs = run_scenarios(scenarios, out=None, workers=1, **how)
    made = Reply.of()
    numbers = {id(run): made.result(run) for run in runs}
    (found,) = answers(runs)
    about, told = found.put(made, numbers), Told(made.text())
    outcomes = []
    for point in told.points:
        rows = {row["metric"]: row for row in told.of_point(point["point"], "system")}
        rate = rows["rate.each" if found.whatif.rate == "each" else "rate"]
        ends = {"value": rate["ratio"], "low": rate["change_low"], "high": rate["change_high"]}
        change = {"kind": "ratio", **ends, "by": rate["by"]}
        also = {name: rows[name]["value"] for name in found.whatif.also}
        ratio = None if rate["against"] is None else change
        outcomes.append({**point, "rate": rate, "ratio": ratio, **also})
    return about | {"outcomes": outcomes}


@pytest.fixture(scope="module")
def answered():
    """Return a function that runs a question at a small scale, once, and gives its answer."""
    known = {}

    def answer(name):
        if name not in known:
            known[name] = answer_to(name, replications=2, scale=SCALES[name])
        return known[name]

    return answer


SCALES = {
    "native-amqp": 0.02,
    "bridges": 0.02,
    "memory": 0.02,
    "ports-2048": 0.02,
    "ordered": 0.01,
    "publish-subscribe": 0.05,
    "broker-memory": 0.02,
}


def outcomes(answer, size=None):
    """Return the outcomes of an answer, of one size of messages, by what is different."""
    return {
        one["with"]: one
        for one in answer["outcomes"]
        if size is None or one["member"].startswith(size)
    }


def ratio(answer, size, says):
    return outcomes(answer, size)[says]["ratio"]["value"]


@pytest.mark.parametrize("name", SCALES)
def test_every_figure_of_the_sentence_is_one_of_the_runs(answered, name):
    answer = answered(name)
    told = answer["answer"].lower()
    ratios = {
        times_text(Change(**one["ratio"])).partition(" ±")[0] + f" at {one['member']}".lower()
        for one in answer["outcomes"]
        if one["ratio"] is not None
    }
    shown = re.findall(r"x [\d.]+ at [^,;)]+", told)
    assert set(shown) <= ratios
    variants = {one["with"] for one in answer["outcomes"] if one["ratio"] is not None}
    # the baseline is what the others are held against, and no variant
    assert sum(says.lower() in told for says in variants) >= 1
    assert told.endswith(".")
    assert told.count(".") == len(re.findall(r"\d\.\d", told)) + 1  # one sentence


def test_native_amqp_is_faster_the_more_of_the_push_it_saves(answered):
    answer = answered("native-amqp")
    for size in ("8 B", "8 KiB", "128 KiB"):
        found = outcomes(answer, size)
        rates = [one["rate"]["value"] for one in found.values()]
        # where credits set the rate, saving more of the push is worth nothing, but for scatter
        assert all(more > 0.99 * less for less, more in pairwise(rates))
        assert found["a quarter of the push saved"]["ratio"]["value"] > 1.2
        assert found["the loopback socket"]["limit"] == "AMQP socket"
        assert found["all of the push saved"]["limit"] != "AMQP socket"


def test_bridge_processes_help_until_something_else_limits(answered):
    answer = answered("bridges")
    for size in ("8 B", "8 KiB", "128 KiB"):
        limit = outcomes(answer, size)["two processes"]["limit"]
        if size == "128 KiB":  # a burst of one poll interval at a credit: more than one socket
            assert "waiting for credits" in limit  # takes, less than two
            assert 1.1 < ratio(answer, size, "two processes") < 1.6
        else:
            assert ratio(answer, size, "two processes") == pytest.approx(2, rel=0.1)
        assert ratio(answer, size, "eight processes") < 7
        assert outcomes(answer, size)["eight processes"]["limit"] != "AMQP socket"


def test_memory_alone_carries_no_more_messages(answered):
    answer = answered("memory")
    for size in ("8 KiB", "128 KiB"):
        assert ratio(answer, size, "64 MiB of SRAM") == pytest.approx(1, rel=0.01)
        assert ratio(answer, size, "rings four times as large") == pytest.approx(1, rel=0.1)
        found = outcomes(answer, size)
        base = found["32 MiB of SRAM and two rings as fitted"]
        assert found["rings 16 times as large"]["overruns"] < base["overruns"]


def test_a_thousand_senders_get_what_two_get(answered):
    answer = answered("ports-2048")
    found = outcomes(answer)
    assert found["1,024 senders"]["ratio"]["value"] == pytest.approx(1, rel=0.15)
    assert found["1,024 senders"]["limit"].endswith("AMQP socket")
    assert found["1,024 senders"]["latency"] > 2 * found["8 ports and 2 senders"]["latency"]
    assert found["1,024 senders"]["together"] < found["8 ports and 2 senders"]["together"]


def test_order_costs_memory_in_the_ports_and_one_path_costs_rate(answered):
    answer = answered("ordered")
    for size in ("8 KiB", "128 KiB"):
        assert ratio(answer, size, "order at the ports") == pytest.approx(1, rel=1e-6)
        found = outcomes(answer, size)
        assert found["order at the ports"]["resequencing"] == 0
        assert found["order at 2,048 ports with 64 senders"]["resequencing"] > 100
    assert ratio(answer, "128 KiB", "one plane a flow") < 0.95


def test_cards_reach_more_subscribers_than_queues(answered):
    answer = answered("publish-subscribe")
    for size, faster in (("8 B", 10), ("8 KiB", 2), ("128 KiB", 1.2)):
        assert ratio(answer, size, "16 queues of one broker") < 0.6
        assert ratio(answer, size, "4 cards without a broker") > faster
    found = outcomes(answer, "8 KiB")
    assert found["16 cards without a broker"]["port"] > found["4 cards without a broker"]["port"]


def test_longer_runs_are_slower_only_where_they_page(answered):
    answer = answered("broker-memory")
    # at this scale nothing pages, and then length alone changes nothing much
    assert all(one["paged"] == 0 for one in answer["outcomes"])
    found = outcomes(answer, "128 KiB over the Data Vortex")
    longer, memory = (one["ratio"]["value"] for one in list(found.values())[1:])
    assert longer == memory
    how = {"replications": 1, "scale": SCALES["broker-memory"]}
    answer = answer_to("broker-memory", {"memory": 500_000_000}, **how)
    for size in ("128 KiB over the Data Vortex", "128 KiB over TCP"):
        base, longer, _ = outcomes(answer, size).values()
        assert base["paged"] == 0 < longer["paged"]
        assert longer["ratio"]["value"] < 0.9


def test_the_question_comes_first_then_one_sentence_then_its_table(tmp_path):
    asked = ("run", "h3/whatif/broker-memory", "--scale", 0.005, "--replications", 1)
    result = call(*asked, "--out", tmp_path / "runs", "--report", tmp_path / "page.html")
    assert result.exit_code == 0, result.output
    title, question, *_ = result.stdout.splitlines()
    assert (
        title == "h3/whatif/broker-memory: What if runs of 128 KiB messages were ten times as long?"
    )
    assert question.strip().startswith("Does the rate at 128 KiB flatten")
    told, _, table = result.stdout.split("\n\n")[1].partition("  Seed 1, 1 replication, ")
    said = " ".join(told.split())
    assert re.fullmatch(r"Rate undecided with ten times the messages .*\.", said)
    _, heading, *rows = table.splitlines()
    assert heading.split() == ["variant", "msg/s", "ratio", "paged", "blocked", "limit"]
    assert [row.split()[0] for row in rows[:6:3]] == ["128", "128"]
    assert "\nAssumed\n  - Everything is at a tenth" in result.stdout
    assert "±" not in told + table  # one replication knows no interval
    page = (tmp_path / "page.html").read_text("utf-8")
    shown = " ".join(page.replace("\u00a0", " ").replace("&#39;", "'").split())
    assert shown.index(said) < shown.index("<table") < shown.index("Everything is at a tenth")
    assert "<h1>What if runs of 128 KiB messages were ten times as long?</h1>" in shown


def test_an_answer_can_be_told_from_the_folders_that_were_kept(tmp_path):
    scenarios = load_campaign("h3/whatif/broker-memory")[:2]
    runs = run_scenarios(scenarios, out=tmp_path, scale=0.005, replications=1)
    folders = sorted(tmp_path.rglob("manifest.json"))
    again = call("report", *(file.parent for file in folders), "--report", tmp_path / "page.html")
    assert again.exit_code == 0, again.output
    page = (tmp_path / "page.html").read_text("utf-8").replace("\u00a0", " ")
    assert answers(runs)[0].sentence() in page


@pytest.mark.parametrize("name", SCALES)
def test_the_sentence_on_the_page_is_that_of_the_table_below_it(name):
    page = (Path(__file__).parents[2] / "docs" / "what-if.md").read_text("utf-8")
    shown = page.partition(f"$ dvsim run h3/whatif/{name} --replications 10\n")[2].split("…")[1]
    told, _, table = shown.partition("  Seed 1, 10 replications; ")
    places = [scenario.whatif for scenario in load_campaign(f"h3/whatif/{name}")]
    found, label = [], ""
    _, heading, *rows = filter(str.strip, table.splitlines())
    for row in rows:
        cells = re.split(r" {2,}", row.strip())
        if row[: heading.index("variant")].strip():
            label, *cells = cells
        times = re.search(r"  x ([\d.]+)(?: ± ([\d.]+))?", row)
        if times:
            value, half = float(times[1]), float(times[2] or 0)
            change = Change("ratio", value, value - half, value + half, "paired")
            found.append((label, cells[0], change))
        else:
            assert cells[0] == places[0].says
    assert [says for _, says, _ in found] == [place.says for place in places if place.place]
    assert " ".join(told.split()) == sentence("rate", found)


def test_list_shows_the_questions():
    result = call("list", "scenarios")
    for name in SCALES:
        assert re.search(rf"h3/whatif/{name} +what-if +What if ", result.stdout)
