"""The ledger of claims, and its tally."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from dvsim.evidence.published.goals import Goals
from dvsim.evidence.verdicts import ClaimVerdict, ClaimWord, Validation

ENOUGH = 55
"""The goal: so many confirmed claims without a parameter of their own."""

WORDS: tuple[ClaimWord, ...] = ("confirmed", "refuted", "not reproduced", "not testable")


HEADLINE = {
    "not fitted": "predictions confirmed",
    "fitted": "fitted claims agree",
    "by definition": "hold by definition",
}
"""What claims of each basis are called, those first that the model could fail."""


def counts_text(verdicts: Iterable[str], what: str = "") -> str:
    """Return how many claims have which verdict.

    >>> counts_text(["refuted", "confirmed", "confirmed"])
    '2 of 3 confirmed, 1 refuted'
    """
    words = Counter(verdicts)
    first = f"{words['confirmed']} of {words.total()}{what} confirmed"
    return ", ".join([first, *(f"{words[word]} {word}" for word in WORDS[1:] if words[word])])


@dataclass(frozen=True)
class Fitted:
    """A number that was fitted to claims.

    Attributes:
        cards, names, value: Where it stands: several cards may share it, and several of their
            parameters.
        claims: The ids of the claims that it was fitted to.
        moves: The ids of those whose value moves with it, see `dvsim.evidence.ledger.influence`.
    """

    cards: tuple[str, ...]
    names: tuple[str, ...]
    value: str
    claims: tuple[str, ...]
    moves: tuple[str, ...]

    @property
    def only(self) -> str | None:
        """The claim that it exists for, if that is a single one."""
        served = set(self.claims) | set(self.moves)
        return next(iter(served)) if len(served) == 1 else None


@dataclass(frozen=True)
class Tally:
    """How many claims have which verdict, and what the confirmed ones are worth.

    Attributes:
        words: By verdict, in the order of `WORDS`.
        bases: Of the confirmed ones, by what their values owe to them.
        asked: Of all of them, by the same.
        own: Confirmed claims with a parameter that exists for them alone.
        edge: Confirmed claims whose interval reaches over an edge of the claimed range.
    """

    words: dict[str, int]
    bases: dict[str, int]
    asked: dict[str, int]
    own: tuple[str, ...]
    edge: tuple[str, ...]

    @property
    def total(self) -> int:
        """All claims."""
        return sum(self.words.values())

    @property
    def counted(self) -> int:
        """Confirmed claims without those that have a parameter of their own."""
        return self.words["confirmed"] - len(self.own)

    def __str__(self) -> str:
        """Return the tally as a sentence without its full stop."""
        return counts_text(Counter(self.words).elements(), " claims")

    @property
    def headline(self) -> str:
        """How many are confirmed, those first that the model could fail."""
        parts = (
            f"{self.bases.get(basis, 0)} of {self.asked[basis]} {called}"
            for basis, called in HEADLINE.items()
            if basis in self.asked
        )
        return "; ".join(parts)


@dataclass(frozen=True)
class Ledger:
    """Every claim with its verdict, and what the verdicts rest on.

    Attributes:
        validation: Claims of all sources, and the published columns beside the simulated ones.
        fitted: The parameters that were fitted to claims.
        goals: What the model of the 2018 study was to reach.
        scale: Of the workloads; 1 is what the scenarios ask for.
    """

    validation: Validation
    fitted: tuple[Fitted, ...]
    goals: Goals
    scale: float = 1.0

    @property
    def claims(self) -> tuple[ClaimVerdict, ...]:
        """Every claim."""
        return self.validation.claims

    @property
    def tally(self) -> Tally:
        """The claims, counted."""
        confirmed = [claim for claim in self.claims if claim.verdict == "confirmed"]
        only = {item.only for item in self.fitted}
        words = Counter(claim.verdict for claim in self.claims)
        return Tally(
            words={word: words[word] for word in WORDS},
            bases=dict(Counter(claim.basis for claim in confirmed)),
            asked=dict(Counter(claim.basis for claim in self.claims)),
            own=tuple(claim.id for claim in confirmed if claim.id in only),
            edge=tuple(claim.id for claim in confirmed if claim.edge),
        )
