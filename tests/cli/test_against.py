"""Is a file of measurements compared from the command line, with the verdict first?"""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from harness.replies import Told

from dvsim.cli.validate import validate
from dvsim.errors import CriterionFailed, ScenarioError

SMALL = ["--scale", "0.02", "--replications", "2", "--workers", "1"]
FILES = Path(__file__).parents[1] / "unit" / "lab_files"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("runs")


def invoke(folder, *arguments):
    return CliRunner().invoke(validate, [*arguments, *SMALL, "--out", str(folder)])


def result_of(folder, *arguments):
    result = invoke(folder, *arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_a_published_table_is_compared_by_what_its_scenarios_say_of_it(folder):
    text = result_of(folder, "h3/fdr-8", "--against", "h3_message_rates.csv")
    head, *rest = text.splitlines()[2:]
    assert re.fullmatch(
        r"against h3_message_rates.csv: (PASS|FAIL), \d+ of \d+ criteria hold", head
    )
    assert any("each: batch 10,000" in line and "Fitted." in line for line in rest)
    assert any("each: batch 10,000" in line and "Held out." in line for line in rest)
    source = "source Kolster & Quick 2018, Vortex-topology Messaging"
    assert any(" ".join(line.split()) == source for line in rest)


def test_only_what_was_measured_is_run(folder, tmp_path):
    (tmp_path / "mine.csv").write_text("message_bytes,mean (msg/s),95% (msg/s)\n8,150000,180000\n")
    (tmp_path / "mine.toml").write_text('[lab]\nsample = "batch 10000"\n')
    told = result_of(folder, "h3/fdr-*", "--against", str(tmp_path / "mine.csv"), "--json")
    content = Told(told)
    assert [run["scenario"] for run in content.facts["results"]] == ["h3/fdr-8"]
    assert content.one("mean", origin="lab")["value"] == 150_000
    assert content.one("mean", origin="sim")["other"] == 150_000


def test_strict_ends_in_3_and_a_failure_alone_in_0(folder, tmp_path):
    (tmp_path / "far.csv").write_text("size,mean (msg/s),count\n8,1,5\n")
    far = ["h3/fdr-8", "--against", str(tmp_path / "far.csv")]
    assert "FAIL" in result_of(folder, *far)
    error = invoke(folder, *far, "--strict").exception
    assert isinstance(error, CriterionFailed)
    assert str(error) == "against far.csv: FAIL, 0 of 1 criteria hold"


def test_a_log_of_perftest_is_compared_in_its_own_seconds(folder):
    log = str(FILES / "perftest.log")
    text = result_of(folder, "h3/fdr-8192", "--against", log)
    assert "were counted again in intervals of 1 s" in text
    assert "Not compared: latency, size not stated: h3/fdr-8192 has rates" in text


def test_a_log_without_a_size_is_not_compared_with_every_size(folder):
    error = invoke(folder, "h3/fdr-*", "--against", str(FILES / "perftest.log")).exception
    assert isinstance(error, ScenarioError)
    assert "size not stated: these scenarios have 15 sizes; take one of them" in str(error)


def test_a_column_of_sizes_with_another_name_is_asked_about(folder, tmp_path):
    (tmp_path / "mine.csv").write_text("msg_size,mean (us)\n1,32.1\n64,33.3\n")
    asked = ["zeromq/latency", "--set", "client=zeromq-0.2", "--against"]
    error = invoke(folder, *asked, str(tmp_path / "mine.csv")).exception
    assert "; is 'msg_size' meant as 'message_bytes'? give the data a column" in str(error)


def test_a_file_that_cannot_be_is_refused_before_anything_runs(folder, tmp_path):
    (tmp_path / "bad.csv").write_text("size,rate (msg/s)\n8,x\n")
    error = invoke(folder / "none", "h3/fdr-8", "--against", str(tmp_path / "bad.csv")).exception
    assert isinstance(error, ScenarioError)
    assert "bad.csv:2: rate (msg/s): 'x' is not a number" in str(error)
    assert not (folder / "none").exists()


def test_the_report_is_a_page(folder):
    error = invoke(folder, "h3/fdr-8", "--against", "h3_message_rates.csv", "--report", "a.md")
    assert "--report: with --against the report is a page" in str(error.exception)


def test_what_is_said_of_data_needs_data(folder):
    result = invoke(folder, "h3/fdr-8", "--as", "mean")
    assert result.exit_code == 2
    assert "--as is for --against" in result.output


def test_the_page_has_the_verdict_first_and_a_figure_for_each_case(folder, tmp_path):
    page = tmp_path / "lab.html"
    arguments = [
        "h3/fdr-8",
        "--against",
        "h3_message_rates.csv",
        "--report",
        str(page),
        "--overwrite",
    ]
    pages = []
    for _ in range(2):
        result_of(folder, *arguments)
        pages.append(page.read_text("utf-8"))
    assert pages[0] == pages[1]
    body = pages[0].split("<main>")[1]
    order = ["The verdict", "The measurement", "Case by case", "cannot show", "comes from"]
    places = [body.index(words) for words in order]
    assert places == sorted(places)
    assert body.count('class="figure"') == 2  # Q-Q of two columns
