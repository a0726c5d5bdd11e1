"""The claims of all sources: run, decided, counted, written as the page docs/claims.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from os.path import commonprefix
from pathlib import Path
from typing import Any

from dvsim.atomic import write_output
from dvsim.contract.find import kind_of
from dvsim.contract.load import load, load_campaign
from dvsim.emulation.settings import Emulation
from dvsim.errors import DvsimError
from dvsim.evidence.claims.source import sources
from dvsim.evidence.goals import Goals, goals
from dvsim.evidence.undecided import STEPS, open_verdicts
from dvsim.evidence.validation import validate
from dvsim.evidence.verdicts import ClaimVerdict, ClaimWord, Validation
from dvsim.study.number_text import joined
from dvsim.table.result import Result

COMMAND = "dvsim validate --all --ledger docs/claims.md"
ENOUGH = 55  # confirmed claims were the goal
WORDS: tuple[ClaimWord, ...] = ("confirmed", "refuted", "not reproduced", "not testable")
HEADLINE = {
    "not fitted": "predictions confirmed",
    "fitted": "fitted claims agree",
    "by definition": "hold by definition",
}  # those first that the model could fail

_HOW = f"""
This page has every sentence of the sources that a run can decide, with the value that the run
gives and the verdict. A command writes it:

<!-- session: tested by tests/model/test_claims_page.py -->
    $ {COMMAND}

Intervals are 95 % over replications, by the jackknife. For what is true or false, the interval
says in how many single replications it is true.

- **confirmed**: the value is in the claimed range, and the model reproduces at least one of the
  published columns that the sentence speaks of, if there are any.
- **refuted**: it is outside, the model reproduces all of those columns, and they leave no value
  possible that is inside.
- **not reproduced**: neither, so the model says nothing for or against the sentence.
- **not testable**: no run here can decide it.

The last column says whether the value is a prediction:

- **fitted**: a parameter, or a column that the sentence speaks of, was chosen to agree with the
  sentence. The value shows that model and source can agree, and is no prediction.
- **not fitted**: nothing was chosen in this way. The value may still rest on assumed numbers.
- **by definition**: it follows from the structure, the workload or a number that the source itself
  states, whatever the model does.
"""


Runner = Callable[..., Sequence[Result]]
"""Scenarios in, a result for each: `dvsim.session.run_scenarios`, or what takes its arguments."""

MESSAGES = 200  # of an iteration, over both receivers
SHORT = f"workload.messages={MESSAGES}"


def counts_text(verdicts: Iterable[str], what: str = "") -> str:
    """Return how many claims have which verdict.

    >>> counts_text(["refuted", "confirmed", "confirmed"])
    '2 of 3 confirmed, 1 refuted'
    """
    words = Counter(verdicts)
    first = f"{words['confirmed']} of {words.total()}{what} confirmed"
    return ", ".join([first, *(f"{words[word]} {word}" for word in WORDS[1:] if words[word])])


@dataclass(frozen=True)
class Ledger:
    """Every claim with its verdict, and the goals; `scale` is that of the workloads."""

    validation: Validation
    goals: Goals
    scale: float = 1.0

    @property
    def claims(self) -> tuple[ClaimVerdict, ...]:
        """Every claim."""
        return self.validation.claims

    @property
    def words(self) -> dict[str, int]:
        """How many claims have which verdict."""
        words = Counter(claim.verdict for claim in self.claims)
        return {word: words[word] for word in WORDS}

    @property
    def bases(self) -> dict[str, int]:
        """Of the confirmed claims: how many are fitted, not fitted, or hold by definition."""
        return dict(Counter(one.basis for one in self.claims if one.verdict == "confirmed"))

    @property
    def edge(self) -> list[str]:
        """Confirmed claims whose interval reaches over an edge of the claimed range."""
        return [one.id for one in self.claims if one.verdict == "confirmed" and one.edge]

    def __str__(self) -> str:
        """Return how many claims have which verdict, without the full stop."""
        return counts_text((claim.verdict for claim in self.claims), " claims")

    @property
    def headline(self) -> str:
        """How many are confirmed, those first that the model could fail."""
        asked: Counter[str] = Counter(claim.basis for claim in self.claims)
        return "; ".join(
            f"{self.bases.get(basis, 0)} of {asked[basis]} {called}"
            for basis, called in HEADLINE.items()
            if basis in asked
        )

    @property
    def weighed(self) -> list[str]:
        """What the confirmed claims are worth, in sentences."""
        bases = ", ".join(f"{count} {basis}" for basis, count in sorted(self.bases.items()))
        text = [f"Of the confirmed claims, {bases}", f"The goal was at least {ENOUGH} confirmed"]
        if self.edge:
            reach = "reaches" if len(self.edge) == 1 else "reach"
            text += [
                f"The interval of {joined(self.edge)} {reach} over an edge of the claimed range"
            ]
        return text


def gather(
    run: Runner,
    *,
    enough: Runner | None = None,
    seed: int = 1,
    replications: int | None = None,
    out: Path | None = Path("runs"),
    force: bool = False,
    scale: float | None = None,
    workers: int | None = None,
    progress: bool = False,
    command: str | Sequence[str] = "dvsim.evidence.ledger.gather(...)",
) -> Ledger:
    """Return every claim, decided by runs of all that they speak about.

    Args:
        run: Runs scenarios.
        enough: Runs them with as many replications as the verdicts need, unless `replications` are
            given.
        seed, replications, out, force, workers, progress, command: See
            `dvsim.session.run_scenarios`. The emulated runs are always the same short ones.
        scale: Multiplies the messages of the scenarios of a system; the others are short as they
            are.
    """
    asked = [one for source in sources() for one in load_campaign(f"{source.name}/validation")]
    how: dict[str, Any] = {"seed": seed, "out": out, "force": force, "workers": workers}
    how |= {"progress": progress, "command": command}
    times = STEPS[-1] if replications is None else replications
    run_all = partial(run, replications=times, **how)
    if enough is not None and replications is None:
        run_all = partial(enough, more=open_verdicts, steps=STEPS, **how)
    runs = [*run_all([item for item in asked if kind_of(item).sampled], scale=scale)]
    runs += run_all([item for item in asked if not kind_of(item).sampled])
    emulated = emulated_runs(run, out, seed=seed, force=force, progress=progress)
    validation = validate(runs, emulated, command_of())
    return Ledger(
        validation=validation,
        goals=goals(validation, [item.scenario for item in runs]),
        scale=1.0 if scale is None else scale,
    )


def names() -> list[str]:
    """Return the scenarios of which any claim needs emulated runs."""
    entries = [entry for source in sources() for entry in source.values()]
    return list(dict.fromkeys(name for entry in entries for name in entry.emulated))


def command_of() -> str:
    """Return the command that makes the same runs."""
    beginning = commonprefix(names())  # noqa: RUF071 - of names, which are no paths
    return f"dvsim run '{beginning}*' --backend emu --clusters 1 --nodes 1 --set {SHORT} --scale 1"


def emulated_runs(
    run: Runner, out: Path | None, *, seed: int, force: bool, progress: bool
) -> Sequence[Result]:
    """Return an emulated run of each size; none if what they need is not installed.

    Raises:
        RunFailed: If a message was lost or changed, or a program fails.
    """
    if not ready():
        return []
    return run(
        [load(name, [SHORT]) for name in names()],
        seed=seed,
        out=out,
        force=force,
        scale=1,
        backend=Emulation(clusters=1, nodes=1),
        progress=progress,
        command=command_of(),
    )


def ready() -> bool:
    """Return whether there are a RabbitMQ and a bridge to it, which is compiled if it has to be."""
    from dvsim.broker.compile_bridge import vicbridge
    from dvsim.broker.install import find

    try:
        find()
        vicbridge()
    except DvsimError:
        return False
    return True


def page(ledger: Ledger) -> str:
    """Return the page in Markdown; its first line is the tally."""
    return "\n".join(_lines(ledger)) + "\n"


def write_page(ledger: Ledger, path: Path) -> None:
    """Write the page, see `dvsim.atomic.write_output`."""
    write_output(path, page(ledger).encode())


def _lines(ledger: Ledger) -> Iterator[str]:
    yield from (f"# {ledger.headline}", "", f"{ledger}. {'. '.join(ledger.weighed)}.")
    if ledger.scale != 1:
        yield from ("", f"**Messages scaled by {ledger.scale:g}: not the published workload.**")
    yield from _open(ledger.claims)
    yield from _HOW.splitlines()
    titles = {source.name: source.title for source in sources()}
    for campaign, claims in groupby(ledger.claims, key=lambda claim: claim.campaign):
        yield from _source(titles[campaign], list(claims))
    yield from _goals(ledger)


def _open(claims: Iterable[ClaimVerdict]) -> Iterator[str]:
    results = [claim for claim in claims if claim.verdict != "confirmed"]
    yield from ("", "Not confirmed:", "") if results else ()
    for claim in results:
        link = f"[{claim.id}](#{claim.id.lower()})"
        yield f"- {link}, {claim.text}: {claim.verdict}; {claim.explanation}"


def _source(source: str, claims: Sequence[ClaimVerdict]) -> Iterator[str]:
    confirmed = sum(claim.verdict == "confirmed" for claim in claims)
    yield from ("", f"## {source}", "", f"{confirmed} of {len(claims)} confirmed.", "")
    head = ("", "what is claimed", "condition", "claimed", "simulated", "interval", "verdict", "")
    rows = (
        (f"[{claim.id}](#{claim.id.lower()})", claim.text, claim.condition, claim.expected,
         claim.simulated, claim.interval, f"**{claim.verdict}**",
         claim.basis if claim.value is not None else "")
        for claim in claims
    )  # fmt: skip
    yield from table(head, rows)
    for claim in claims:
        yield from _note(claim)


def _note(claim: ClaimVerdict) -> Iterator[str]:
    where = f"section {claim.section}" if claim.section[:1].isdigit() else claim.section
    said_by = ", ".join(part for part in (claim.source, where) if part)
    yield from ("", f"### {claim.id}", "", f"{claim.text}: **{claim.verdict}** ({said_by}).", "")
    if claim.explanation:
        yield f"- Why not confirmed: {claim.explanation}"
    if claim.note:
        yield f"- Rests on: {claim.note}."
    if claim.fitted_to:
        yield f"- Fitted: {', '.join(claim.fitted_to)}."
    yield f"- Run: `{claim.command}`"


def _goals(ledger: Ledger) -> Iterator[str]:
    if ledger.goals.table.empty:
        return
    yield from ("", "## What the model of the 2018 study was to reach", "")
    yield (
        "Of the columns that no parameter was fitted to; the floor is how far the two runs of the "
        "paper lie apart. A line for each statistic is in `dvsim validate h3 --verbose`."
    )
    yield ""
    rows = (
        (*texts, "met" if met else "**missed**")
        for *texts, met in ledger.goals.table.to_numpy().tolist()
    )
    yield from table(("goal", "wanted", "got", "floor", ""), rows)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield a table of Markdown.

    >>> list(table(("a", "b"), [("1", "2")]))
    ['| a | b |', '|---|---|', '| 1 | 2 |']
    """
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"
