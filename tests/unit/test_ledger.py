"""Are the claims of all sources counted and written as their words say?"""

import re
from dataclasses import replace
from pathlib import Path
from runpy import run_path

import pandas as pd
import pytest
from claim_sources import every_claim
from click.testing import CliRunner
from harness.replies import Told
from run_builder import bursty_vortex, run_of, samples, tcp_scenario, vortex_scenario

from dvsim.cli.main import cli
from dvsim.contract.load import load
from dvsim.evidence.claims import sources
from dvsim.evidence.claims.decide import named_claims
from dvsim.evidence.goals import Goals
from dvsim.evidence.validation import validate
from dvsim.evidence.verdicts import ClaimVerdict, Validation


def claim(id_, verdict="confirmed", **more):
    given = {
        "section": "3.1", "text": "It is so", "condition": "8 B | small", "expected": "yes",
        "simulated": "yes", "note": "a note", "command": "dvsim run h3/dv-8", "campaign": "h3",
        "value": 1.0, "source": "A paper",
    }  # fmt: skip
    return ClaimVerdict(id_, verdict=verdict, **(given | more))


CLAIMS = (
    claim("H3-01", basis="fitted", fitted_to=("column r1 of h3/dv-8",)),
    claim("H3-02", interval="1 to 2 x", edge=True),
    claim("H3-03", "refuted", explanation="the value is 3.0% above the claimed range."),
    claim("H3-24", "not testable", value=None, simulated="-"),
    claim("ZMQ-1", campaign="zeromq", basis="fitted", fitted_to=("link latency",)),
    claim("ZMQ-17", campaign="zeromq", basis="fitted", fitted_to=("client decode",)),
    claim("DV-7", campaign="switch", basis="by definition", interval="exact"),
)
LEDGER = Validation(CLAIMS), Goals(pd.DataFrame(), pd.DataFrame())
page = run_path(str(Path(__file__).parents[2] / "docs" / "claims.py"))["page"]


def test_the_first_line_of_the_page_is_the_tally():
    first = page(*LEDGER).splitlines()[0]
    numbers = [int(number) for number in re.findall(r"\d+", first)]
    assert numbers == [1, 3, 3, 3, 1, 1]  # predictions, fitted, by definition: confirmed of all
    assert first.startswith("# 1 of 3 predictions confirmed")


def test_the_page_of_this_version_tells_predictions_from_what_was_fitted():
    kept = (Path(__file__).parents[2] / "docs" / "claims.md").read_text("utf-8")
    rows = [row.split(" | ") for row in kept.splitlines() if row.startswith("| [")]
    rows = [(row[6], row[7].removesuffix(" |")) for row in rows if len(row) == 8]
    bases = ("not fitted", "fitted", "by definition")
    counted = [
        number
        for basis in bases
        for number in (rows.count(("**confirmed**", basis)), sum(own == basis for _, own in rows))
    ]
    counted[1] += sum(own == "|" or not own.strip("| ") for _, own in rows)  # none was simulated
    assert [int(number) for number in re.findall(r"\d+", kept.splitlines()[0])] == counted
    assert counted[:2] == [34, 38]


def test_every_claim_has_a_row_a_verdict_and_a_command():
    text = page(*LEDGER)
    for one in CLAIMS:
        (row,) = [line for line in text.splitlines() if line.startswith(f"| [{one.id}](")]
        assert f"**{one.verdict}**" in row
        assert row.count(" | ") == 7  # what is in a cell does not end it
        assert f"### {one.id}\n" in text
    assert text.count("- Run: `dvsim run h3/dv-8`") == len(CLAIMS)
    assert "- Why not confirmed: the value is 3.0% above the claimed range." in text
    assert "- Fitted: client decode." in text


def test_what_is_not_confirmed_stands_at_the_top_with_its_reason():
    top = page(*LEDGER).partition("\n## ")[0]
    assert "- [H3-03](#h3-03), It is so: refuted; the value is 3.0% above the claimed range." in top
    assert "[H3-01]" not in top


@pytest.fixture
def gathered(monkeypatch):
    """What was asked of `gather`, which answers with CLAIMS."""
    asked = []
    monkeypatch.setattr(
        "dvsim.evidence.ledger.gather",
        lambda *_, **how: asked.append(how) or ([repeated(tcp_scenario(8), 1.0)], LEDGER[0]),
    )
    return asked


def test_all_prints_every_claim(gathered):
    result = CliRunner().invoke(cli, ["validate", "--all", "--seed", "7"])
    assert result.exit_code == 0, result.output
    assert gathered[0]["seed"] == 7
    lines = result.stdout.splitlines()
    assert lines[0] == "claims:  5 of 7 confirmed, 1 refuted, 1 not testable"
    assert ["ZMQ-1", "confirmed", "yes", "yes", "It", "is", "so"] in [x.split() for x in lines]
    lines = CliRunner().invoke(cli, ["validate", "--all", "--verbose"]).stdout.splitlines()
    assert "ZMQ-1  confirmed, fitted: It is so [section 3.1]; claimed yes, simulated yes" in lines


def test_all_as_json_has_everything(gathered):
    content = Told(CliRunner().invoke(cli, ["validate", "--all", "--json"]).stdout).facts
    assert [one["id"] for one in content["claims"]] == [one.id for one in CLAIMS]
    assert (content["words"]["confirmed"], content["words"]["refuted"]) == (5, 1)


def test_strict_wants_enough(gathered, monkeypatch):
    assert CliRunner().invoke(cli, ["validate", "--all", "--strict"]).exit_code == 3
    monkeypatch.setattr("dvsim.evidence.ledger.ENOUGH", 5)
    assert CliRunner().invoke(cli, ["validate", "--all", "--strict"]).exit_code == 0


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--all", "h3"], "takes no CAMPAIGN"),
        (["--all", "--set", "a=1"], "takes no --set"),
        (["--all", "--report", "x.html"], "takes no --report"),
    ],
)
def test_options_about_one_source_are_refused(gathered, given, said):
    result = CliRunner().invoke(cli, ["validate", *given])
    assert result.exit_code == 2
    assert said in result.stderr
    assert gathered == []


def test_every_row_of_the_file_is_decided_by_some_registry():
    assert {id_ for source in sources() for id_ in source} == set(every_claim())
    assert len(every_claim()) == 76


# --- intervals and bases ---------------------------------------------------------------------


def repeated(scenario, *rates):
    """A TCP run in which each replication has one rate."""
    table = samples(
        {(r, i, 0): [rate] * 4 for r, rate in enumerate(rates, start=1) for i in (1, 2)}
    )
    return run_of(scenario, table)


def test_the_interval_of_a_mean_is_that_of_student():
    run = repeated(tcp_scenario(256), 126_000, 130_000, 134_000)
    (one,) = [found for found in validate([run]).claims if found.id == "H3-03"]
    # t(0.975, 2) = 4.3027, s / sqrt(3) = 2309.4
    assert (one.low, one.high) == (pytest.approx(120_063, abs=1), pytest.approx(139_937, abs=1))
    assert (one.interval, one.edge) == ("120,063 to 139,937 msg/s", False)


def test_an_interval_over_an_edge_is_marked():
    run = repeated(tcp_scenario(256), 120_000, 130_000, 142_000)
    (one,) = [found for found in validate([run]).claims if found.id == "H3-03"]
    assert one.edge


def test_one_replication_has_no_interval():
    run = repeated(tcp_scenario(256), 130_000)
    (one,) = [found for found in validate([run]).claims if found.id == "H3-03"]
    assert (one.low, one.high, one.interval) == (None, None, "-")


def test_a_truth_is_counted_over_replications():
    from harness.built import built, counted

    run = bursty_vortex(vortex_scenario(8192), 10)
    counts = counted(
        (number, 1, "receiver.1", "extra_polls", extra)
        for number, extra in enumerate((5, 0, 2), start=1)
    )
    again = built(run.scenario, run.sides["samples"], counts, run.manifest, replications=3)
    (one,) = [found for found in validate([again]).claims if found.id == "H3-22"]
    assert (one.interval, one.edge) == ("in 2 of 3", True)


def test_what_was_fitted_says_to_what():
    run = repeated(tcp_scenario(8), 150_000, 151_000)
    fitted = replace(run.scenario, reference=replace(run.scenario.reference, fitted=("r1",)))
    found = {one.id: one for one in validate([replace(run, scenario=fitted)]).claims}
    assert (found["H3-17"].basis, found["H3-17"].fitted_to) == (
        "fitted",
        ("column r1 of h3/fdr-8",),
    )
    assert {one.id: one for one in validate([run]).claims}["H3-17"].basis == "not fitted"


def test_claims_that_cards_name_are_claims():
    cards = [
        card for name in ("zeromq/throughput", "amps/queues") for _, card in load(name).used_cards()
    ]
    texts = [one.fitted for card in cards for one in card.parameters.values() if one.fitted]
    named = {id_ for text in texts for id_ in named_claims(text)}
    assert {"ZMQ-12", "AMPS-2"} <= named <= set(every_claim())
