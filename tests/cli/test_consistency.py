"""Does ``dvsim consistency`` print findings, exit as it says, and print what its page shows?"""

import math
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from harness.replies import Told

from dvsim.cli.consistency import consistency
from dvsim.consistency import Finding
from dvsim.errors import CriterionFailed, ScenarioError
from dvsim.scenario.find import reference_root

DOCS = Path(__file__).parents[2] / "docs" / "consistency.md"
RATES = str(reference_root() / "h3_message_rates.csv")


def invoke(*arguments):
    return CliRunner().invoke(consistency, arguments)


@pytest.fixture(scope="module")
def printed():
    result = invoke()
    assert result.exit_code == 0, result.output
    return result.stdout


def test_without_data_it_examines_the_published_data(printed):
    assert printed.endswith("\n10 findings\n")
    for text in ("199.96", "multiples of 63", "131 words", "94.2 times", "rabbit_avg"):
        assert text in printed


def test_each_finding_has_what_evidence_chance_and_meaning(printed):
    blocks = re.split(r"\n(?=\S)", printed)[:-1]
    assert len(blocks) == 10
    for block in blocks:
        head, *rest = block.splitlines()
        assert head.split(":")[0] in {"certain", "overwhelming", "good", "weak"}
        starts = [line.split(":")[0].strip() for line in rest]
        assert starts == ["evidence", "chance of an accident", "it would mean"]


def test_the_page_shows_what_the_command_prints(printed):
    (shown,) = re.findall(
        r"```console\n\$ dvsim consistency\n(.*?)```", DOCS.read_text(), re.DOTALL
    )
    assert shown == printed


def test_the_page_tells_every_kind_of_finding():
    kinds = re.search(r"Which test: (.*?)\.\n", Finding.__doc__, re.DOTALL)[1]
    assert len(re.findall("``(.*?)``", kinds)) == 14
    text = DOCS.read_text()
    assert [kind for kind in re.findall("``(.*?)``", kinds) if f"`{kind}`" not in text] == []


def test_json_is_one_object():
    content = Told(invoke("--json").stdout).facts
    assert len(content["findings"]) == 10
    first = content["findings"][0]
    assert set(first) == {*Finding.__dataclass_fields__, "strength"}
    assert first["strength"] == "certain"
    assert first["log10_odds"] is None
    assert all(math.isfinite(one["log10_odds"]) for one in content["findings"][1:])


def test_a_finding_is_an_error_only_if_that_is_asked_for(tmp_path):
    result = invoke(RATES, "--strict")
    assert isinstance(result.exception, CriterionFailed)
    assert str(result.exception).startswith("2 findings, the strongest: ")
    clean = tmp_path / "clean.csv"
    clean.write_text("size,rate\n8,10.13\n8,27.91\n256,31.77\n", "utf-8")  # sizes are not looked at
    result = invoke(str(clean), "--strict")
    assert result.exit_code == 0
    assert result.stdout == (
        "0 findings in 1 column with 3 numbers\n"
        "  looked for: a grid of values; common factors of counts\n"
        "  not looked for: pieces and batches of messages (needs what was sent); rates above a "
        "limit (needs a limit); quantiles against mean and spread (needs a summary); averages, "
        "differences, ratios and copies in a table (needs a table of several numbers side by "
        "side)\n"
    )
    content = Told(invoke(str(clean), "--json").stdout).facts
    assert content["checks"] == ["a grid of values", "common factors of counts"]
    assert (content["columns"], content["numbers"], len(content["left_out"])) == (1, 3, 4)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("notes.md", "# Notes\n\nRates, as measured, follow.\n", "is no table: its lines have"),
        ("two.csv", "rate\n1.5\n2.5\n", "nothing to examine: no column has three"),
        ("zero.csv", "rate\n0\n0\n0\n0\n", "nothing to examine"),
        ("one.csv", "column,statistic,value\na,mean,3\n", "nothing to examine"),
    ],
)
def test_what_is_no_data_is_refused(tmp_path, name, text, message):
    path = tmp_path / name
    path.write_text(text, "utf-8")
    error = invoke(str(path)).exception
    assert isinstance(error, ScenarioError)
    (fault,) = error.faults
    assert fault.file == str(path)
    assert message in fault.message


@pytest.mark.parametrize("limit", ["4.4 GB/s", "data-vortex-8"])
def test_a_limit_is_a_rate_or_the_port_of_a_card(limit):
    assert "limit of 4.4 GB/s" in invoke(RATES, "--limit", limit).stdout


def test_a_limit_that_is_neither_is_refused():
    result = invoke(RATES, "--limit", "data-vortx-8")
    assert isinstance(result.exception, ScenarioError)
    assert str(result.exception).endswith("did you mean 'data-vortex-8'?")


def test_messages_of_a_file_are_used():
    sent = str(reference_root() / "h3_run_configuration.csv")
    assert "131 words" in invoke(RATES, "--messages", sent).stdout
