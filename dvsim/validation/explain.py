"""Why a claim is not confirmed, in one sentence that fits its verdict.

What is said of a verdict follows from how it is reached; what is known of a claim beyond that
stands here by its id, and holds whatever the value is.
"""

from __future__ import annotations

from dvsim.validation.claims import Claim, Finding, number_text
from dvsim.validation.types import ClaimWord

_BURSTS = (
    "the sentence is about polls that find something, and of how many they are and how much they "
    "scatter the paper prints bounds only"
)
KNOWN = {
    "H3-01": _BURSTS,
    "H3-02": _BURSTS,
    "H3-04": _BURSTS,
    "H3-05": _BURSTS,
    "H3-07": _BURSTS,
    "H3-09": "the printed means give 1.59 x; the push was fitted to 2 KiB and 128 KiB of run 1, "
    "which are slow where its 8 KiB is fast, so that a law through them gives 8 KiB too long a "
    "time",
    "H3-13": "the claimed range is what the quantiles of two held-out columns leave; it depends on "
    "the lengths of bursts, which nobody has published",
    "H3-18": "the record is that of other machines, and the paper names neither their publishers "
    "nor the size of their messages; a card fitted to the figure (pivotal/sizes) gives it, and "
    "would confirm nothing",
    "H3-24": "it needs rabbitmq-server, librabbitmq-dev, pkg-config and a C compiler",
}


def explanation(claim: Claim, finding: Finding, verdict: ClaimWord, passed: int, total: int) -> str:
    """Return the sentence; empty for what is confirmed.

    Parameters
    ----------
    claim, finding, verdict
        What was decided.
    passed, total
        How many published columns of its runs are reproduced, and of how many.
    """
    if verdict == "confirmed":
        return ""
    parts = [_reason(claim, finding, verdict, passed, total)]
    if claim.id in KNOWN and finding.note != "not run":
        parts.append(KNOWN[claim.id])
    return f"{'; '.join(parts)}."


def _reason(claim: Claim, finding: Finding, verdict: ClaimWord, passed: int, total: int) -> str:
    if finding.value is None:
        return "no run can tell" if verdict == "not testable" else finding.note
    if claim.holds(finding.value):
        return "the value agrees, but none of the published columns that it speaks of is reproduced"
    if claim.op == "true":
        found = "what is claimed does not happen in the model"
    else:
        found = f"the simulated value is {_distance(claim, finding.value)}"
    if verdict == "refuted":
        return f"{found}, although all {total} published columns of its runs are reproduced"
    return f"{found}, with {passed} of {total} published columns reproduced" if total else found


def _distance(claim: Claim, value: float) -> str:
    """Say how far a value is from the nearer edge of the claimed range."""
    edges = [edge for edge in (claim.low, claim.high) if edge is not None]
    nearest = min(edges, key=lambda edge: abs(value - edge))
    side = "above" if value > nearest else "below"
    if claim.unit == "fraction" or nearest == 0:
        return f"{number_text(abs(value - nearest))} {side} the claimed range"
    return f"{abs(value / nearest - 1):.1%} {side} the claimed range"
