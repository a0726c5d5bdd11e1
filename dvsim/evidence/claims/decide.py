"""From the values of the runs to verdicts, with intervals.

confirmed
    The simulated value is in the claimed range, and the model reproduces, within the declared
    tolerance, at least one published column of the scenarios that the sentence speaks about, or
    nothing was published of them. A value that agrees while no column does may agree by chance.
refuted
    It is outside, although the model reproduces every one of those columns, and they leave no
    value possible that is inside. So it is the source's own statistics that speak against the
    sentence.
not reproduced
    Neither: the model does not fit the columns (or, for a value outside, there are none that
    decide it), so nothing can be said for the sentence or against it. Also if the run is missing.
not testable
    The runs are there, and cannot speak about it.

Where a value depends on what is counted, the verdict is for the numbers *as printed*, and the
note gives the value *as messages* with a word of its own.

Why a claim is not confirmed, in one sentence that fits its verdict.

What is said of a verdict follows from how it is reached; what is known of a claim beyond that
stands here by its id, and holds whatever the value is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from dvsim.evidence.claims.figures import Evidence, Missing
from dvsim.evidence.claims.jackknife import Spread, spread
from dvsim.evidence.claims.source import Claim, Entry, Finding, Source
from dvsim.evidence.verdicts import Basis, ClaimVerdict, ClaimWord
from dvsim.study.number_text import four_digits

_NAMED = re.compile(r"\b[A-Z][A-Z0-9]+-\d+\b")


def decide(source: Source, evidence: Evidence) -> tuple[ClaimVerdict, ...]:
    """Return a verdict on every claim of a source, in the order of its ``claims.csv``."""
    return tuple(
        _decide(claim, source[id_], evidence, source)
        for id_, claim in source.claims.items()
        if id_ in source
    )


def word(*, holds: bool, passed: int, total: int, excluded: bool = True) -> ClaimWord:
    """Return the verdict on a value.

    Args:
        holds: Whether the value is in the claimed range.
        passed, total: How many published columns of the scenarios are reproduced, and of how many.
        excluded: Whether those columns leave no value possible that is in the range.

    >>> word(holds=True, passed=1, total=2), word(holds=False, passed=2, total=2)
    ('confirmed', 'refuted')
    >>> word(holds=True, passed=0, total=2), word(holds=False, passed=1, total=2)
    ('not reproduced', 'not reproduced')
    """
    if holds and (passed or not total):
        return "confirmed"
    if not holds and excluded and 0 < total == passed:
        return "refuted"
    return "not reproduced"


def named_claims(fitted: str) -> tuple[str, ...]:
    """Return the ids of the claims that a text about what was fitted names.

    >>> named_claims("ZMQ-12: 300 ns for small messages; ZMQ-9: 3 Gb/s at 64 kB")
    ('ZMQ-12', 'ZMQ-9')
    """
    return tuple(dict.fromkeys(_NAMED.findall(fitted)))


def _decide(claim: Claim, entry: Entry, evidence: Evidence, source: Source) -> ClaimVerdict:
    absent = [name for name in entry.scenarios if not evidence.has(name)]
    result = Spread()
    verdict: ClaimWord = "not reproduced"
    passed = total = 0
    if absent:
        which = "" if len(entry.scenarios) == 1 else f": {', '.join(absent)}"
        finding = Finding(None, f"not run{which}")
    else:
        passed, total = evidence.fit(entry.scenarios)
        try:
            finding = entry.evaluate(evidence)
            verdict = "not testable"
        except Missing as error:
            finding = Finding(None, f"not simulated: {error}")
        if finding.by_definition:
            passed = total = 0
    notes = [finding.note] if finding.note else []
    if finding.value is not None:
        holds = claim.holds(finding.value)
        excluded = finding.allowed is None or not claim.overlaps(finding.allowed)
        verdict = word(holds=holds, passed=passed, total=total, excluded=excluded)
        notes += _more_notes(claim, finding, verdict, passed, total)
        result = spread(claim, entry, evidence, finding.value)
        if finding.by_definition and result.low == result.high:
            result = Spread(interval="exact")
    basis, fitted_to = _basis(claim, entry, finding, evidence)
    known = source.known.get(claim.id, "")
    return ClaimVerdict(
        id=claim.id,
        section=claim.section,
        text=entry.text,
        condition=claim.condition,
        expected=claim.expected,
        simulated=claim.text_of(finding.value),
        verdict=verdict,
        note="; ".join(notes),
        command=_command(entry, source.name, evidence),
        source=claim.source,
        campaign=source.name,
        scenarios=entry.scenarios,
        value=finding.value,
        **result._asdict(),
        basis=basis,
        fitted_to=fitted_to,
        explanation=explanation(claim, finding, verdict, passed, total, known),
    )


def _more_notes(
    claim: Claim, finding: Finding, verdict: ClaimWord, passed: int, total: int
) -> Iterable[str]:
    if finding.as_messages is not None:
        holds = claim.holds(finding.as_messages)
        other = word(holds=holds, passed=passed, total=total)
        yield f"as messages {claim.text_of(finding.as_messages)}: {other}"
    if finding.allowed is not None:
        low, high = (claim.text_of(value) for value in finding.allowed)
        yield f"the published statistics leave {low} to {high} possible"
    if total:
        yield f"{passed} of {total} published columns reproduced"
    if finding.value is not None and claim.holds(finding.value) and verdict == "not reproduced":
        yield "the value agrees although the columns do not"


def _basis(
    claim: Claim, entry: Entry, finding: Finding, evidence: Evidence
) -> tuple[Basis, tuple[str, ...]]:
    if finding.by_definition:
        return "by definition", ()
    parameters = [
        f"{card.name} {parameter.name}"
        for card in evidence.cards(entry.scenarios)
        for parameter in card.parameters.values()
        if claim.id in named_claims(parameter.fitted or "")
    ]
    columns = evidence.fitted_columns(entry.scenarios) if entry.of_columns else ()
    fitted_to = (*dict.fromkeys(parameters), *columns)
    return ("fitted" if fitted_to else "not fitted"), fitted_to


def _command(entry: Entry, campaign: str, evidence: Evidence) -> str:
    if entry.emulated:
        return evidence.emulated_by or f"dvsim validate {campaign}"
    if not 1 <= len(entry.scenarios) <= 2:
        return f"dvsim validate {campaign}"
    return " && ".join(f"dvsim run {name}" for name in entry.scenarios)


def explanation(
    claim: Claim, finding: Finding, verdict: ClaimWord, passed: int, total: int, known: str = ""
) -> str:
    """Return the sentence; empty for what is confirmed.

    Args:
        claim, finding, verdict: What was decided.
        passed, total: How many published columns of its runs are reproduced, and of how many.
        known: What the source's `claims.py` knows beyond that.
    """
    if verdict == "confirmed":
        return ""
    parts = [_reason(claim, finding, verdict, passed, total)]
    if known and finding.note != "not run":
        parts.append(known)
    return f"{'; '.join(parts)}."


def _reason(claim: Claim, finding: Finding, verdict: ClaimWord, passed: int, total: int) -> str:
    if finding.value is None:
        return "no run can tell" if verdict == "not testable" else finding.note
    if claim.holds(finding.value):
        return "the value agrees, but none of the published columns that it speaks of is reproduced"
    if claim.op == "true":
        result = "what is claimed does not happen in the model"
    else:
        result = f"the simulated value is {_distance(claim, finding.value)}"
    if verdict == "refuted":
        return f"{result}, although all {total} published columns of its runs are reproduced"
    return f"{result}, with {passed} of {total} published columns reproduced" if total else result


def _distance(claim: Claim, value: float) -> str:
    edges = [edge for edge in (claim.low, claim.high) if edge is not None]
    nearest = min(edges, key=lambda edge: abs(value - edge))
    side = "above" if value > nearest else "below"
    if claim.unit == "fraction" or nearest == 0:
        return f"{four_digits(abs(value - nearest))} {side} the claimed range"
    return f"{abs(value / nearest - 1):.1%} {side} the claimed range"
