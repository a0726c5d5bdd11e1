"""``--watch``: emulated cards while they work, from the lines of ``vicrun --stats-fd``.

On a terminal a table that is drawn in place; elsewhere a line each second.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from typing import Any, NamedTuple

from dvsim.cli.terminal import complain, is_fancy
from dvsim.results.lines import Table

NS_PER_S = 10**9
LINE_NS = NS_PER_S  # between two lines where there is no terminal
HEAD = ("card", "state", "words/s", "calls/s", "waiting", "FIFO", "FIFO peak", "words", "lost")
AT_WORK = "open"


class Rates(NamedTuple):
    """What a card did in the last interval: words and calls per second, share of it waited."""

    words: float
    calls: float
    waiting: float


class CardView:
    """Takes lines of JSON, one of each card for each moment, and shows what they say.

    A line that is missing leaves a card as it was; one that is none is passed over.
    """

    def __init__(self) -> None:
        self._cards: dict[int, dict[str, Any]] = {}
        self._rates: dict[int, Rates] = {}
        self._due_ns = 0
        self._terminal = is_fancy(sys.stderr)

    def take(self, line: str) -> None:
        """Take a line; show all cards when the last of a moment has come."""
        try:
            new = json.loads(line)
            card = int(new["card"])
        except (ValueError, KeyError, TypeError):
            return
        before = self._cards.get(card)
        if before is not None and new["at_ns"] < before["at_ns"]:  # another job: an iteration more
            self._cards, self._rates, self._due_ns, before = {}, {}, 0, None
        self._rates[card] = _rates(before, new)
        self._cards[card] = new
        if card == new["cards"] - 1:
            self._show(int(new["at_ns"]))

    def table(self) -> Table:
        """Return all cards as a table, and their sum if there are several."""
        rows = [self._row(card) for card in sorted(self._cards)]
        if len(rows) > 1:
            rows.append(self._sum())
        return Table(HEAD, rows, right=range(2, len(HEAD)), keys=2)

    def line(self) -> str:
        """Return all cards as one line."""
        states = Counter(str(card["state"]) for card in self._cards.values())
        told = ", ".join(f"{count} {state}" for state, count in sorted(states.items()))
        deepest = max(int(card["fifo"]) for card in self._cards.values())
        words = sum(rates.words for rates in self._rates.values())
        calls = sum(rates.calls for rates in self._rates.values())
        lost = sum(int(card["lost"]) for card in self._cards.values())
        more = f", {lost:,} words lost" if lost else ""
        return (
            f"cards: {told}; {words:,.0f} words/s, {calls:,.0f} calls/s, "
            f"deepest FIFO {deepest:,} words{more}"
        )

    def end(self) -> None:
        """Leave what was shown last."""
        if self._terminal and self._cards:
            from dvsim.cli.screen import the_screen

            the_screen().close()

    def _show(self, now_ns: int) -> None:
        seconds = now_ns / NS_PER_S
        if self._terminal:
            from dvsim.cli.screen import the_screen

            the_screen().show(self.table(), f"cards at work for {seconds:,.1f} s")
        elif now_ns >= self._due_ns or self._over():
            self._due_ns = now_ns + LINE_NS
            complain(f"{seconds:8,.1f} s  {self.line()}")

    def _over(self) -> bool:
        """Return whether no card works any more."""
        return not any(card["state"] in ("starting", AT_WORK) for card in self._cards.values())

    def _row(self, number: int) -> tuple[str, ...]:
        card, rates = self._cards[number], self._rates[number]
        return (
            str(number),
            str(card["state"]),
            f"{rates.words:,.0f}",
            f"{rates.calls:,.0f}",
            f"{rates.waiting:.0%}",
            *(f"{card[name]:,}" for name in ("fifo", "fifo_peak", "words", "lost")),
        )

    def _sum(self) -> tuple[str, ...]:
        cards, rates = self._cards.values(), self._rates.values()
        return (
            "all",
            "",
            f"{sum(one.words for one in rates):,.0f}",
            f"{sum(one.calls for one in rates):,.0f}",
            "",
            f"{sum(card['fifo'] for card in cards):,}",
            "",
            *(f"{sum(card[name] for card in cards):,}" for name in ("words", "lost")),
        )


def _rates(before: dict[str, Any] | None, new: dict[str, Any]) -> Rates:
    """Return the rates since the line before, or since the start of the job."""
    seconds = (new["at_ns"] - (before["at_ns"] if before else 0)) / NS_PER_S

    def since(name: str) -> float:
        grown = new[name] - (before[name] if before else 0)
        return float(grown) / seconds if seconds > 0 else 0.0

    return Rates(since("words"), since("calls"), min(1.0, since("wait_ns") / NS_PER_S))
