"""Is a source of one scenario and one claim validated without an edit of the package?"""

import pytest
from click.testing import CliRunner
from harness.replies import Told

from dvsim.cli.validate import validate
from dvsim.errors import ScenarioError

SCENARIO = """
title = "A switch of 16 ports at a low load"
question = "How many packets are accepted?"
source = "A paper of ours"
kind = "switch"
[switch]
height = 16
angles = 1
[traffic]
pattern = "uniform"
load = 0.05
slots = 200
warmup = 20
"""
HEAD = "id,source,section,metric,condition,op,low,high,unit\n"
ROWS = HEAD + "MINE-1,A paper of ours,2.1,acceptance,a low load,{op},{low},{high},fraction\n"
CODE = """
from dvsim.evidence.claims import Evidence, Finding, Source

SOURCE = Source(__file__, "A paper of ours")


@SOURCE.claim("MINE-1", "Nearly all packets are accepted at a low load", ["quarter"])
def _(evidence: Evidence) -> Finding:
    found = evidence.point("quarter", "acceptance")
    return Finding(found.value, "of all that were offered")
"""


@pytest.fixture
def source(tmp_path):
    (tmp_path / "quarter.toml").write_text(SCENARIO)
    (tmp_path / "claims.csv").write_text(ROWS.format(op="about", low=0.9, high=1))
    (tmp_path / "claims.py").write_text(CODE)
    return tmp_path


def invoke(folder, *arguments):
    scenario = str(folder / "quarter.toml")
    how = ["--replications", "2", "--out", str(folder / "runs"), "--claims", str(folder)]
    return CliRunner().invoke(validate, [scenario, *how, *arguments])


def test_a_claim_of_a_source_in_any_folder_is_decided(source):
    done = invoke(source, "--json")
    assert done.exit_code == 0, done.output
    (claim,) = Told(done.stdout).facts["claims"]
    assert (claim["id"], claim["verdict"], claim["campaign"]) == (
        "MINE-1",
        "confirmed",
        source.name,
    )
    assert claim["source"] == "A paper of ours"
    assert claim["value"] > 0.9


def test_a_range_that_the_run_does_not_reach_is_not_confirmed(source):
    (source / "claims.csv").write_text(ROWS.format(op="lt", low="", high=0.01))
    text = invoke(source, "--verbose").stdout
    assert "MINE-1  not reproduced: Nearly all packets are accepted at a low load" in text
    assert "claimed below 0.01" in text


def test_code_is_not_run_because_it_lies_beside_a_scenario(source):
    """Files of others are data: only the folder that is named is code to be run."""
    (source / "claims.py").write_text("raise SystemExit('it was run')")
    done = CliRunner().invoke(validate, [str(source / "quarter.toml")])
    assert isinstance(done.exception, ScenarioError)
    assert "none of its scenarios names published figures" in str(done.exception)


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("claims.py", None, "claims.py: no such file"),
        ("claims.py", "1 / 0", "claims.py: cannot be run: ZeroDivisionError: division by zero"),
        ("claims.py", "SOURCE = 1", "claims.py: SOURCE: must be a Source"),
        ("claims.csv", None, "claims.csv: cannot read the reference data"),
        ("claims.csv", "id\nMINE-1\n", "claims.csv: is not a table of claims: 'source'"),
        ("claims.csv", ROWS.replace("MINE-1", "MINE-2"), "did you mean 'MINE-2'?"),
    ],
)
def test_a_source_that_cannot_be_is_refused_by_name(source, file, text, message):
    (source / file).unlink()
    if text is not None:
        (source / file).write_text(text.format(op="eq", low=1, high=1))
    error = invoke(source).exception
    assert isinstance(error, ScenarioError)
    assert message in str(error)


def test_claims_and_measurements_are_not_mixed(source):
    done = invoke(source, "--against", "lab.csv")
    assert done.exit_code == 2
    assert "--claims are decided by runs alone" in done.output
