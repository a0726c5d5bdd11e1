"""The answer of runs first: sentences made from the numbers, which say nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dvsim.study.emulated_text import made_text
from dvsim.study.number_text import joined, number_text, ratio_text
from dvsim.study.transports import contest_text, contests
from dvsim.table.stages import SATURATED, busiest
from dvsim.view.basis import claims_untold
from dvsim.view.groups import Entry, Group, paths_of, size_text
from dvsim.view.run_tables import Contest, contests_as_printed

if TYPE_CHECKING:
    from dvsim.evidence.verdicts import Validation

MOST_SIZES = 6  # of which each has its ratio in a sentence; the table has all
SHORT = 0.5  # share of the published samples below which that is said
INTERCONNECT = ("fabric", "card", "link")


def sentences(groups: Sequence[Group], validation: Validation | None) -> list[str]:
    """Say what the page shows, most important first.

    Args:
        groups: The runs.
        validation: The comparison with what was published, if there is one.

    Returns:
        list of str: The first one is the answer; none is empty.
    """
    rivals = contests([entry.run for group in groups for entry in group.entries])
    printed = contests_as_printed(groups)
    compared = validation is not None and validation.judged
    return [
        *([contest_text(rivals)] if rivals else single_sentences(groups)),
        *(printed_sentences(printed, groups) if printed else pieces_sentences(groups)),
        *verdict_sentences(validation),
        *claims_sentences(validation),
        *bottleneck_sentences(groups),
        *emulated_sentences([entry for group in groups for entry in group.entries]),
        *([] if compared else ["Nothing was compared with published data."]),
    ]


def verdict_sentences(validation: Validation | None) -> list[str]:
    """Count the columns that pass, fitted and held out apart."""
    if validation is None or not validation.judged:
        return []
    columns = validation.printed()
    passed = columns["passed"].sum()
    parts = []
    for split, text in (("fitted", "fitted to"), ("held out", "held out")):
        chosen = columns["passed"][columns["split"] == split]
        if len(chosen):
            parts.append(f"{chosen.sum()} of the {len(chosen)} {text}")
    fit = " Where a fitted column passes, that is a fit, not a prediction."
    return [
        f"{passed} of {len(columns)} published columns are reproduced within the tolerances "
        f"declared beforehand: {' and '.join(parts)}."
        + fit
        * bool((columns["split"] == "fitted").any()),
        *shortened_sentences(validation),
    ]


def shortened_sentences(validation: Validation) -> list[str]:
    """Say so if the runs are much shorter than what they are compared with."""
    rows = validation.rows
    counts = rows[(rows["statistic"] == "count") & (rows["reading"] == "as printed")]
    counts = counts[counts["published"] > 0]
    share = (counts["simulated"] / counts["published"]).max() if len(counts) else 1.0
    if share >= SHORT:
        return []
    part = "less than 1 %" if share < 0.01 else f"{100 * share:.0f} %"
    return [
        f"These runs are short: they have {part} of the published samples, so maxima and tails "
        "come out smaller, and chance has more room."
    ]


def claims_sentences(validation: Validation | None) -> list[str]:
    """Count the claims by verdict."""
    if validation is None or not validation.claims:
        return []
    untold = set(claims_untold(validation))
    verdicts = [claim.verdict for claim in validation.claims if claim.id not in untold]
    rest = f" {len(untold)} more speak about what was not run here." if untold else ""
    if not verdicts:
        return [f"None of the {len(untold)} claims of the source speaks about these runs."]
    tally = {word: verdicts.count(word) for word in ("confirmed", "refuted", "not reproduced")}
    if "not testable" in verdicts:
        tally["not testable"] = verdicts.count("not testable")
    listed = joined([f"{count} {word}" for word, count in tally.items()])
    defined = sum(
        claim.by_definition and claim.verdict == "confirmed" for claim in validation.claims
    )
    more = f" {defined} of those confirmed {'is' if defined == 1 else 'are'} so by definition."
    return [f"Of {len(verdicts)} claims of the source, {listed}.{more if defined else ''}{rest}"]


def printed_sentences(contests: Sequence[Contest], groups: Sequence[Group]) -> list[str]:
    """Set Data Vortex against TCP as the paper printed them, and say what that counts."""
    printed = ratios_text(contests)
    ends = [contests[0]] if len(contests) == 1 else [contests[0], contests[-1]]
    examples = joined(
        [
            f"{number_text(item.vortex)} pieces/s against "
            f"{number_text(item.tcp)} messages/s at {item.size}"
            for item in ends
        ]
    )
    return [
        f"As printed, the mean Data Vortex rate is {printed} that of TCP ({examples}); such a rate "
        f"counts {piece_text(groups)} at one receiver, not messages."
    ]


def ratios_text(contests: Sequence[Contest]) -> str:
    """Write a ratio for each size, or the least and the most where there are many."""
    texts = {item: f"{ratio_text(item.ratio)} at {item.size}" for item in contests}
    known = [(item.ratio, item) for item in contests if item.ratio is not None]
    if len(contests) <= MOST_SIZES or not known:
        return joined([*texts.values()])
    low, high = (texts[end(known, key=lambda measured: measured[0])[1]] for end in (min, max))
    return f"{low} at least and {high} at most"


def single_sentences(groups: Sequence[Group]) -> list[str]:
    """Give rate and limit of runs that have nothing to be set against, of the first few."""
    every = [(group, entry) for group in groups for entry in group.entries]
    if len(every) == 1:
        return [f"{every[0][1].run.answer}."]
    answers = [
        f"{entry.label} at {size_text(group.message_bytes)}: {entry.run.answer}."
        for group, entry in every[:MOST_SIZES]
    ]
    more = len(every) - len(answers)
    return [*answers, f"{more} more runs are in the table."] if more > 0 else answers


def pieces_sentences(groups: Sequence[Group]) -> list[str]:
    """Say what a rate as printed counts, where there is one over the Data Vortex."""
    if not any(entry.reading == "pieces" for group in groups for entry in group.entries):
        return []
    counted = f"counts {piece_text(groups)} at one receiver, not messages"
    return [f"A Data Vortex rate as printed {counted}."]


def piece_text(groups: Sequence[Group]) -> str:
    """Say what a piece is, by the cards in use."""
    words = {
        int(entry.run.scenario.system.cards["card"]["piece_words"])
        for group in groups
        for entry in group.entries
        if entry.reading == "pieces"
    }
    return f"pieces of at most {joined([str(count) for count in sorted(words)], 'or')} words"


def bottleneck_sentences(groups: Sequence[Group]) -> list[str]:
    """Name the stage that limits each transport, and say where the interconnect does."""
    busy = [
        (entry, stage)
        for group in groups
        for entry in group.entries
        if (stage := busiest(entry.run.values)) is not None
    ]
    if not busy:
        return []
    parts = []
    for path in paths_of(groups):
        stages: dict[str, list[float]] = {}
        for entry, stage in busy:
            if entry.path == path:
                stages.setdefault(stage.text, []).append(stage.utilisation)
        total = sum(map(len, stages.values()))
        for stage_text, shares in stages.items():
            runs = "" if len(shares) == total else f" in {len(shares)} of {total} runs"
            ends = dict.fromkeys(f"{share:.0%}" for share in (min(shares), max(shares)))
            parts.append(f"the {stage_text} on {path.label}{runs} (busy {' to '.join(ends)})")
    times = sum(stage.name in INTERCONNECT and stage.utilisation >= SATURATED for _, stage in busy)
    some = f"the bottleneck in {times or 'none'} of {len(busy)} runs"
    network = some if len(busy) > 1 else "the bottleneck" if times else "not the bottleneck"
    return [f"The busiest stage is {joined(parts)}. The interconnect is {network}."]


def emulated_sentences(entries: Sequence[Entry]) -> list[str]:
    """Say of emulated runs what they are, and what they are not."""
    made = [made_text(known) for entry in entries if (known := entry.run.manifest.emulated)]
    if not made:
        return []
    return [
        f"{'; '.join(dict.fromkeys(text[0].upper() + text[1:] for text in made))}. "
        "Such rates are those of the machine that they were measured on; nothing in them is "
        "scaled to the hardware of the source."
    ]
