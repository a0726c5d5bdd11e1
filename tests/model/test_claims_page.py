"""Does docs/claims.md still say what the model gives? README.md and h3-model.md quote its goals,
messaging-models.md and rabbitmq-model.md their claims.

The runs are short ones, and give the same page but for the last digits of what was measured: each
verdict, tally, goal and word must be the same, and each number near. `make claims` runs every
published experiment in full and compares the page byte for byte.
"""

import re
from dataclasses import replace
from pathlib import Path
from runpy import run_path

import claim_runs
import pytest

from dvsim.evidence.claims import sources
from dvsim.evidence.ledger import ENOUGH, ready

ROOT = Path(__file__).parents[2]
SCRIPT = run_path(str(ROOT / "docs" / "claims.py"))
COMMAND, page = SCRIPT["COMMAND"], SCRIPT["page"]
PAGE = (ROOT / "docs" / "claims.md").read_text(encoding="utf-8")
ROWS = {
    cells[1][1:].partition("]")[0]: cells
    for cells in ([cell.strip() for cell in line.split("|")] for line in PAGE.splitlines())
    if len(cells) == 10 and cells[1].startswith("[")
}
CLAIMS = {id_: claim for source in sources() for id_, claim in source.claims.items()}
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?%?")
DECIMAL = re.compile(r"[-+]?\d+\.\d+")
ALL = re.compile(r"in (\d+) of \1")
NEAR = 0.08
"""Of a value, from that of the page."""

ABSOLUTE = {"ZMQ-15": 0.01}
"""Of a value that is a small difference."""

NOTED = 0.25
"""Of what a value rests on, and of intervals, from that of the page."""

COUNTS = ("H3-22", "H3-23", "DV-7", "DV-8")
"""Their notes count what a shorter run has less of, or name one of two equals."""

pytestmark = pytest.mark.skipif(
    not ready(), reason="H3-24 needs RabbitMQ and librabbitmq: see tests/install-packages"
)


def number(text):
    """The number that a text begins with; yes is 1."""
    found = NUMBER.match(text)
    return float(text == "yes") if found is None else float(found[0].replace(",", "").strip("%"))


def near(found, kept, share):
    """Whether two texts are the same but for numbers, and those near; percents by points."""
    found, kept = (re.sub(r"± \S*\d", "±", text) for text in (found, kept))
    if NUMBER.split(found) != NUMBER.split(kept):
        return False
    for a, b in zip(NUMBER.findall(found), NUMBER.findall(kept), strict=True):
        room = 100 * NEAR if b.endswith("%") else share * abs(number(b))
        if abs(number(a) - number(b)) > room:
            return False
    return True


def edges(id_):
    """The interval of a claim on the page; None where it has no ends."""
    text = ROWS[id_][6]
    ends = [number(end) for end in text.split(" to ") if NUMBER.match(end)]
    return (ends[0], ends[-1]) if ends else None


@pytest.mark.parametrize("campaign", claim_runs.CAMPAIGNS)
def test_values_of_a_source_are_those_of_the_page(campaign):
    claims = claim_runs.claims_of(claim_runs.runs_of(campaign))
    assert claims
    far = {}
    for id_, claim in claims.items():
        if id_ == "H3-24":  # needs what is sent
            continue
        kept, interval, ends = ROWS[id_][5], ROWS[id_][6], edges(id_)
        if claim.value is None or kept == "-":  # nothing that a run can say
            if (claim.simulated, claim.interval) != (kept, interval):
                far[id_] = (claim.simulated, claim.interval), (kept, interval)
            continue
        room = ABSOLUTE.get(id_, NEAR * abs(claim.value))
        good = abs(claim.value - number(kept)) <= room
        if ends is not None:
            good &= ends[0] - room <= claim.value <= ends[1] + room
        elif ALL.fullmatch(interval):
            good &= claim.simulated == kept and ALL.fullmatch(claim.interval) is not None
        elif interval == "exact":
            good &= claim.simulated == kept and claim.interval == interval
        else:
            good &= claim.simulated == kept and interval == "same in all"
        if not good:
            far[id_] = (claim.simulated, claim.interval), (kept, interval)
    assert far == {}


def test_what_is_sent_arrives():
    assert len(claim_runs.sent_short()) == 15


@pytest.fixture(scope="module")
def ledger():
    """Of short runs; whether an interval reaches over an edge is asked of those of the page."""
    short, reached = claim_runs.ledger()
    claims = tuple(replace(claim, edge=over_an_edge(claim)) for claim in short.claims)
    return replace(short, claims=claims), reached


@pytest.fixture(scope="module")
def claims(ledger):
    return ledger[0].claims


def over_an_edge(claim):
    """Whether the interval that the page has reaches over an edge of the claimed range."""
    ends, holds = edges(claim.id), CLAIMS[claim.id].holds
    return ends is not None and any(holds(end) != holds(claim.value) for end in ends)


def test_the_page_is_what_the_command_writes(ledger):
    found, kept = page(*ledger).splitlines(), PAGE.splitlines()
    assert len(found) == len(kept), f"write it again: {COMMAND}"
    differ, claim = [], ""
    for now, before in zip(found, kept, strict=True):
        claim = before.removeprefix("### ") if before.startswith("### ") else claim
        if not same(now, before, claim):
            differ.append((before, now))
    assert differ == [], f"write it again: {COMMAND}"


def same(now, before, claim):
    """Whether a line is that of the page, as far as short runs can tell."""
    if before.startswith(("- Why not confirmed", "- [", "- Rests on")):
        words = NUMBER.split(now) == NUMBER.split(before)
        noted = NOTED if before.startswith("- Rests on") else 0
        return words if noted and claim in COUNTS else near(now, before, noted)
    if before.startswith("| ["):  # its value and interval: a test above
        cells = [line.split("|") for line in (now, before)]
        return all(a == b for n, (a, b) in enumerate(zip(*cells, strict=True)) if n not in (5, 6))
    if "held-out statistics" in before:
        (missed, floor), (kept_missed, kept_floor) = missing(now), missing(before)
        return abs(missed - kept_missed) <= 2 and floor == kept_floor
    if before.startswith("| ") and ("held-out means" in before or "empty intervals" in before):
        return DECIMAL.split(now) == DECIMAL.split(before) and all(
            abs(float(a) - float(b)) <= NEAR
            for a, b in zip(DECIMAL.findall(now), DECIMAL.findall(before), strict=True)
        )
    return now == before


def missing(line):
    """How many statistics of a goal are not near, in the model and between the paper's two runs.

    Numbers of samples are among them, but not of short runs. The word follows from the numbers.
    """
    _, what, wanted, got, floor, word, _ = (cell.strip() for cell in line.split("|"))
    good, total = map(int, re.search(r"\((\d+) of (\d+)\)", got).groups())
    assert (word == "met") == (good >= number(wanted.removeprefix("at least ")) / 100 * total), what
    return total - good, round(total * (1 - number(floor) / 100))


def test_a_page_that_says_otherwise_is_noticed():
    (line,) = (line for line in PAGE.splitlines() if line.startswith("| [H3-10]"))
    assert same(line, line, "")
    assert not same(line.replace("confirmed", "refuted"), line, "")
    assert not same(line.replace("fitted", "not fitted"), line, "")
    assert not same(line.replace("at least 10 x", "at least 11 x"), line, "")
    assert same(line.replace("13.1", "12.9"), line, "")
    assert not near("a 5 b 110", "a 5 b 100", NEAR) and near("a 5 b 105", "a 5 b 100", NEAR)
    assert not near("a 10.0% c", "b 10.0% c", NEAR)
    (line,) = (line for line in PAGE.splitlines() if "Data Vortex: held-out means" in line)
    assert same(line.replace("-0.168", "-0.150"), line, "")
    assert not same(line.replace("5 of 7", "6 of 7"), line, "")
    (line,) = (line for line in PAGE.splitlines() if "InfiniBand: held-out statistics" in line)
    assert same(line.replace("61 of 70", "60 of 70"), line, "")
    assert not same(line.replace("61 of 70", "66 of 70"), line, "")


def test_every_claim_has_a_verdict_from_a_run(claims):
    assert {claim.id for claim in claims} == set(CLAIMS) == set(ROWS)
    assert [claim.id for claim in claims if "not run" in claim.note] == []
    assert [claim.id for claim in claims if claim.value is None] == ["RMQ-11"]  # no p95


def test_each_claim_that_is_not_confirmed_is_explained(claims):
    silent = [
        claim.id for claim in claims if (claim.verdict != "confirmed") != bool(claim.explanation)
    ]
    assert silent == []


def test_enough_are_confirmed(claims):
    assert sum(claim.verdict == "confirmed" for claim in claims) >= ENOUGH
