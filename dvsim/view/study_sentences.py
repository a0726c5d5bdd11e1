"""The answer of a study first: its question, what came out, and whether the figures can stand."""

from __future__ import annotations

from dvsim.study.number_text import counted, joined, number_text
from dvsim.table.result import Result, flow_text
from dvsim.view.axes import Group, Mark, Sweep
from dvsim.view.curves import bottlenecks_text
from dvsim.view.metrics import metric_text, name_of
from dvsim.view.saturation import sentence

MOST_LINES = 4  # whose figures are said; the table has all
MOST_VALUES = 6  # of a key without numbers
MOST_NOTES = 3


def answer(sweep: Sweep) -> list[str]:
    """Say what a study found, most important first; every number is in its tables too."""
    if "stages" in sweep.tables:
        return [*found_sentences(sweep), bottlenecks_text(sweep)]
    return [
        *filter(None, [saturation_sentence(sweep)]),
        *found_sentences(sweep),
        settled_sentence(sweep),
        *flow_sentences(sweep),
    ]


def saturation_sentence(sweep: Sweep) -> str:
    """Say which line saturates last; nothing where no load was varied, or none saturates."""
    return sentence([*sweep.offered.values()], lambda point: sweep.study.each(point, "throughput"))


def found_sentences(sweep: Sweep) -> list[str]:
    """Say what came out along each line, a sentence for each."""
    chosen = sweep.groups[:MOST_LINES]
    sentences = [
        f"{text[0].upper()}{text[1:]}." for group in chosen if (text := line_text(sweep, group))
    ]
    more = len(sweep.groups) - len(chosen)
    rest = f"{more} more line{'s are' if more > 1 else ' is'} in the figures and the table."
    return [*sentences, rest] if more else sentences


def line_text(sweep: Sweep, group: Group) -> str:
    """Say what came out along one line: its ends, or its values where they are no numbers."""
    parts = []
    for metric in sweep.study.drawn[:3]:
        marks = sweep.marks(group, metric)
        if not marks:
            continue
        if len(marks) == 1:
            text = said(sweep.study, metric, marks[0]) + theory_text(sweep, metric, marks[0])
            parts.append(f"{name_of(sweep.study, metric)} {text}")
        elif sweep.numeric:
            parts.append(f"{name_of(sweep.study, metric)} {ends_text(sweep, metric, marks)}")
        elif not parts:
            parts.append(f"{name_of(sweep.study, metric)} {values_text(sweep, metric, marks)}")
    text = "; ".join(parts)
    return f"{group.name}: {text}" if group.name and text else text


def ends_text(sweep: Sweep, metric: str, marks: list[Mark]) -> str:
    """Say where a line begins and where it ends: at the last point that has settled."""
    settled = [mark for mark in marks if mark.settled] or marks
    first, last = settled[0], settled[-1]
    if first is last:
        return f"{said(sweep.study, metric, first)} at {sweep.value_text(first.point)}"
    return (
        f"{said(sweep.study, metric, first)} at {sweep.value_text(first.point)} and "
        f"{said(sweep.study, metric, last)} at {sweep.value_text(last.point)}"
        + theory_text(sweep, metric, last)
    )


def values_text(sweep: Sweep, metric: str, marks: list[Mark]) -> str:
    """Say the value at each of the first few places."""
    texts = [
        f"{said(sweep.study, metric, mark)} with {sweep.value_text(mark.point)}"
        for mark in marks[:MOST_VALUES]
    ]
    return joined(texts) + (" (the first of more)" if len(marks) > MOST_VALUES else "")


def theory_text(sweep: Sweep, metric: str, mark: Mark) -> str:
    """Say what theory gives at a point."""
    rows = sweep.study.beside
    rows = rows[(rows["point"] == mark.point) & (rows["metric"] == metric) & rows["value"].notna()]
    if sweep.count > 1:
        rows = rows[rows["name"] != "zero-load"]  # a floor, not what is to be expected under load
    texts = [
        f"{name.replace('-', ' ')} {number_text(value)}"
        for name, value in zip(rows["name"], rows["value"], strict=True)
    ]
    return f" ({', '.join(texts)})" if texts else ""


def said(study: Result, metric: str, mark: Mark) -> str:
    """Write a value with its interval."""
    return metric_text(study, metric, mark.value, mark.half)


def flow_sentences(sweep: Sweep) -> list[str]:
    """Say what the points at flow fidelity are worth; nothing if there are none."""
    errors = sweep.study.flow_errors()
    if not errors:
        return []
    text = flow_text(errors, sweep.count)
    return [f"{text[0].upper()}{text[1:]}. Replications are equal there and give no interval."]


def settled_sentence(sweep: Sweep) -> str:
    """Say how many points have settled, and what is wrong with the others."""
    total, notes = sweep.count, sweep.notes
    over = counted(sweep.study.replications)
    if not notes:
        everything = "The run has" if total == 1 else f"All {total} points have"
        return f"{everything} settled, over {over}."
    texts = list(notes.values())
    more = f"; and {len(texts) - MOST_NOTES} more" if len(texts) > MOST_NOTES else ""
    if total == 1:
        start = "The run has"
    else:
        start = f"{len(notes)} of {total} points {'has' if len(notes) == 1 else 'have'}"
        texts = [f"{sweep.name_of(point)} ({note})" for point, note in notes.items()]
    return (
        f"{start} not settled over {over}, and figures there depend on the length of the run: "
        f"{'; '.join(texts[:MOST_NOTES])}{more}."
    )
