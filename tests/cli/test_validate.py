"""What `dvsim validate` prints: every statistic, every claim, and as JSON."""

import re

import pandas as pd
import pytest
from click.testing import CliRunner
from harness.replies import Told

from dvsim.cli import validate as module
from dvsim.cli.validate import validate
from dvsim.errors import CriterionFailed, ScenarioError
from dvsim.evidence.verdicts import Validation

SMALL = ["--scale", "0.0005", "--replications", "1", "--workers", "1"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("runs")


def invoke(folder, *arguments):
    return CliRunner().invoke(validate, [*arguments, *SMALL, "--out", str(folder)])


def result_of(folder, *arguments):
    result = invoke(folder, *arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_every_published_statistic_is_printed_beside_the_simulated_one(folder):
    lines = result_of(folder, "h3", "--verbose").splitlines()
    printed = [line for line in lines if " as printed " in line and line.startswith("h3/")]
    assert len(printed) == 210
    table = "\n".join(lines).partition("\nColumns (")[2].partition("\n\n")[0]
    assert len(re.findall(r"^h3/.* (?:fitted|held out) .*×", table, re.MULTILINE)) == 20
    assert [line for line in lines if line.startswith("h3/dv-256 ") and " as messages " in line]


def test_every_claim_is_printed(folder):
    text = result_of(folder, "h3")
    assert all(f"\nH3-{number:02} " in text for number in range(1, 26))
    text = result_of(folder, "h3", "--verbose")
    assert all(f"\nH3-{number:02}    $ dvsim " in text for number in range(1, 26))


def test_the_verdicts_come_first_and_fit_a_screen(folder):
    text = result_of(folder, "h3")
    lines = text.removeprefix("messages scaled by 0.0005: not the published workload\n\n")
    first = lines.splitlines()
    assert re.fullmatch(r"claims:  \d+ of 25 confirmed(, \d+ [a-z ]+)+", first[0])
    columns = r"Data Vortex \d+ of 10, held out \d+ of 7; InfiniBand \d+ of 10, held out \d+ of 7"
    assert re.fullmatch(rf"columns: {columns} within tolerance, as printed", first[1])
    assert re.fullmatch(r"goals:   \d of 8 met", first[2])
    assert first[5].split() == ["goal", "wanted", "got", "floor"]
    assert len(first) < 50
    assert "--verbose" in first[-1]


def test_the_counts_are_those_of_the_json(folder):
    content = Told(result_of(folder, "h3", "--json")).facts
    text = result_of(folder, "h3")
    confirmed = sum(claim["verdict"] == "confirmed" for claim in content["claims"])
    met = sum(goal["met"] for goal in content["goals"])
    assert f"claims:  {confirmed} of 25 confirmed" in text
    assert f"goals:   {met} of {len(content['goals'])} met" in text
    for claim in content["claims"]:
        assert f"{claim['id']}  {claim['verdict']}" in text


def test_scaled_messages_are_said_to_be_scaled(folder):
    assert result_of(folder, "h3/fdr-8").startswith("messages scaled by 0.0005: not the published")


def test_json_is_one_object(folder):
    told = Told(result_of(folder, "h3/fdr-8", "--json"))
    content, judged = told.facts, [row for row in told.rows if row["origin"] == "sim"]
    assert len(judged) == 20
    assert [run["scenario"] for run in content["results"]] == ["h3/fdr-8"]
    for row in judged:
        assert row["verdict"] in ("pass", "fail", "info")
        assert row["other"] == told.one(row["metric"], origin="published",
                                        component=row["component"])["value"]  # fmt: skip
        assert row["ratio"] is None or row["ratio"] == row["value"] / row["other"]
    assert len(content["claims"]) == 25
    assert content["tallies"]


def test_runs_are_kept_and_used_again(folder):
    first = Told(result_of(folder, "h3/fdr-8", "--json")).folders[0]
    before = (folder / first / "manifest.json").stat().st_mtime_ns
    result_of(folder, "h3/fdr-8")
    assert (folder / first / "manifest.json").stat().st_mtime_ns == before
    result_of(folder, "h3/fdr-8", "--force")
    assert (folder / first / "manifest.json").stat().st_mtime_ns > before


def test_the_report_is_one_page(folder, tmp_path):
    page = tmp_path / "v.html"
    assert f"report: {page}" in result_of(folder, "h3/fdr-8", "--report", str(page))
    assert "H3-17" in page.read_text()


def test_a_campaign_without_published_figures_is_a_mistake(folder):
    result = invoke(folder, "h3/memory")
    assert isinstance(result.exception, ScenarioError)
    assert str(result.exception) == (
        "h3/memory: reference: none of its scenarios names published figures to compare with"
    )


def validation_of(*passed):
    columns = [{"transport": "t", "reading": "as printed", "passed": good} for good in passed]
    return Validation(columns=pd.DataFrame(columns))


def test_strict_wants_half_of_the_columns():
    module._require_half(validation_of(True, False))
    with pytest.raises(CriterionFailed, match="fewer than half of the columns pass: t 1 of 3"):
        module._require_half(validation_of(True, False, False))


def test_strict_wants_a_column():
    with pytest.raises(CriterionFailed, match="no column passes: none was compared"):
        module._require_half(validation_of())


def test_strict_fails_if_nothing_was_compared(folder):
    sized = ["--set", "workload.message_bytes=24"]  # a size that was not published
    assert invoke(folder, "h3/fdr-8", *sized).exit_code == 0
    result = invoke(folder, "h3/fdr-8", *sized, "--strict")
    assert isinstance(result.exception, CriterionFailed)
    assert result.exception.exit_code == 3


def test_one_replication_has_no_interval(folder):
    (line,) = [
        line
        for line in result_of(folder, "h3/fdr-8", "--verbose").splitlines()
        if " r1 " in line and " mean " in line
    ]
    assert line.split()[8:10] == ["-", "-"]


def test_only_strict_makes_a_bad_column_an_error(folder, monkeypatch):
    def fail(_):
        raise CriterionFailed("too few")

    monkeypatch.setattr(module, "_require_half", fail)
    assert invoke(folder, "h3/fdr-8").exit_code == 0
    assert isinstance(invoke(folder, "h3/fdr-8", "--strict").exception, CriterionFailed)


def test_replications_go_on_where_verdicts_are_open(folder, tmp_path):
    def asked(*more):
        words = ["h3/*-8", "--scale", "0.0005", "--workers", "1", "--out", str(tmp_path), *more]
        done = CliRunner().invoke(validate, words)
        assert done.exit_code == 0, done.output
        return done

    first = asked()
    said = first.stderr
    assert re.search(r"open verdicts after 3 replications: [12] of 2 scenarios go on\n", said)
    times = [run["replications"] for run in Told(asked("--json").stdout).facts["results"]]
    assert set(times) <= {3, 4, 6, 10} and max(times) > 3
    assert "replications, as many as the verdicts need; --replications 10 runs all" in first.stdout
    again = asked()
    assert (again.stdout, "iterations" in again.stderr) == (first.stdout, False)  # all is kept
    whole = asked("--replications", "10").stdout
    assert "\n10 replications\n" in whole
