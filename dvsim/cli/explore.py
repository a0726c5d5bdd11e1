"""``dvsim explore``: a page with sliders for the keys that the answer depends on most."""

from __future__ import annotations

import math
import time
import tomllib
import webbrowser
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dvsim.cli.names import complete_scenarios
from dvsim.cli.options import (
    check_free,
    folder_option,
    out_option,
    page_option,
    scale_option,
    seed_option,
    set_option,
    workers_option,
)
from dvsim.cli.terminal import complain, say, typed
from dvsim.errors import Argument, PointsFailed, ScenarioError

if TYPE_CHECKING:
    from dvsim.contract.load import Template
    from dvsim.scenario.spec import Spec
    from dvsim.study.sweeps.grid import Point
    from dvsim.table.result import Result

FACTORS = (1.0, 0.25, 4.0, 0.5, 2.0)
"""Of the value that a key has: the coarsest grid has the first three."""
MOST_KEYS = 3
FIRST = 12  # keys that are tried however short the budget is
PASSES = ((3, 1), (5, 1), (5, 3))
"""Values of each key and replications, finer as long as the budget lasts."""
SAMPLE = "sobol:64"  # of keys with ranges
SLOWER = 1.5
"""A point of the grid, where several keys are large, beside those where one is."""
LEAST = 0.05
"""A change of the first result, of its logarithm, that is worth a slider."""
SCREENED = 1 / 3
"""Of the budget, the share for a look at each key alone."""
NAMES = {"name", "kind", "title", "notes", "question", "source", "confidence", "fitted"}


@click.command("explore")
@click.argument("scenario", shell_complete=complete_scenarios)
@click.option(
    "--key",
    "vary",
    multiple=True,
    metavar="KEY=VALUES",
    help="A key and its values, as with sweep --vary. Repeatable.  [default: those that the answer "
    "depends on most, from a quarter to four times their values]",
)
@click.option(
    "--budget",
    type=click.FloatRange(1, 86_400),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="About how long this may take.",
)
@set_option
@seed_option
@scale_option("0.01")
@workers_option
@out_option
@folder_option(
    "--sweeps", "sweeps", "sweeps", "Where the folder of the table goes; made if missing."
)
@page_option("The page: FILE.html.  [default: explore-SCENARIO.html]")
@click.option("--no-open", "closed", is_flag=True, help="Do not open the page in a browser.")
def explore(scenario: str, **given: Any) -> None:  # noqa: ANN401 - as in click
    """Run a scenario around its values, and open a page with a slider for each key.

    Without --key each number of the scenario and its cards is changed alone, to a quarter and to
    four times its value. The keys that change the first result most make a grid, as fine as the
    budget allows.

    Example: dvsim explore h3/dv-2048 --budget 30
    """
    from dvsim.contract.load import template
    from dvsim.pool import default_workers
    from dvsim.scenario.document import dotted
    from dvsim.scenario.override import Setting
    from dvsim.study.sweep import prepare, run
    from dvsim.study.sweeps.grid import parse_axis, plan
    from dvsim.view.html import write
    from dvsim.view.sweep_page import swept_page

    base = template(scenario)
    page = given["report"] or Path(f"explore-{Path(scenario).stem}.html")
    check_free(page, "html")
    how = {
        "overrides": given["overrides"],
        "seed": given["seed"],
        "scale": 0.01 if given["scale"] is None else given["scale"],
        "replications": 1,
    }
    began = time.monotonic()
    vary, workers = list(given["vary"]), given["workers"] or default_workers()
    order: list[str] = []
    done = 0
    if not vary:
        keys = dict(_candidates(base.resolved(given["overrides"]).scenario))
        for own in base.lengthened(given["overrides"]):
            keys.pop(dotted(own.path) if isinstance(own, Setting) else "", None)
        if not keys:
            raise ScenarioError.at(Argument("vary"), f"{scenario} has no number; give --key")
        at = {key: texts[0] for key, texts in keys.items()}
        for _ in range(2):  # the first loads what the kind needs
            since = time.monotonic()
            first = run(prepare(base, [_point(at)], **how), out=None, sweeps=None, workers=1)
        each = (time.monotonic() - since) / workers
        tried = list(keys)[: max(FIRST, int(SCREENED * given["budget"] / each / 2))]
        keys |= {key: _possible(base, key, keys[key]) for key in tried}
        alone = [(key, text) for key in tried for text in keys[key][1:3]]
        if not alone:
            message = "no number here can have another value; give --key"
            raise ScenarioError.at(Argument("vary"), message)
        ready = prepare(base, [_point(at | {k: v}) for k, v in alone], progress=True, **how)
        since = time.monotonic()
        screened = run(ready, out=None, sweeps=None, workers=workers, progress=True)
        each = max(each, (time.monotonic() - since) / len(alone)) * SLOWER
        effects = dict.fromkeys(tried, 0.0)
        for (key, text), effect in zip(alone, _effects(first, screened, len(alone)), strict=True):
            effects[key] = max(effects[key], effect or 0.0)
            if effect is None:
                keys[key].remove(text)
        effects = dict(sorted(effects.items(), key=lambda item: -item[1]))
        for key in list(effects)[:MOST_KEYS]:
            complain(f"{key} changes {first.drawn[0]} by up to {math.exp(effects[key]):.3g} times")
        if len(tried) < len(keys):
            complain(f"{len(keys) - len(tried)} more keys were not tried; --budget gives more time")
        order = [key for key in effects if effects[key] > LEAST and len(keys[key]) > 1][:MOST_KEYS]
        while len(order) > 1 and 3 ** len(order) * each > given["budget"]:
            order.pop()
        if not order:
            message = "no number here changes the first result; give --key"
            raise ScenarioError.at(Argument("vary"), message)
    keep = {name: given[name] for name in ("out", "sweeps")}
    for fine, how["replications"] in PASSES if order else PASSES[-1:]:
        asked = vary or [_values(key, keys[key][:fine]) for key in order]
        between = any(parse_axis(text).between for text in asked)
        points = plan(asked, base, sample=SAMPLE if between else None, seed=given["seed"])
        ready = prepare(base, points, progress=True, **how)
        work = len(ready.points) * how["replications"]
        if done and (work - done) * each > given["budget"] - (time.monotonic() - began):
            break
        since = time.monotonic()
        swept = run(ready, progress=True, command=typed(), workers=workers, **keep)
        each, done = (time.monotonic() - since) / (work - done), work
    write(page, swept_page(swept))
    say(f"{scenario}: {len(swept.sides['points'])} points of {', '.join(swept.asked.keys)}")
    say(f"report: {page}")
    if not given["closed"]:
        webbrowser.open(page.resolve().as_uri())
    if len(swept.failed) == len(swept.sides["points"]):
        raise PointsFailed(f"all points failed: {swept.failed['error'].iloc[0]}")


def _candidates(scenario: Spec) -> Iterator[tuple[str, list[str]]]:
    """Yield the keys that are numbers, with the texts of their values times `FACTORS`."""
    from dvsim.scenario.render import to_toml
    from dvsim.study.sweeps.grid import number_of, text_of

    known, lengths = set(scenario.every_key()), scenario.lengths()
    for path, value in _leaves(tomllib.loads(to_toml(scenario))):
        whole = isinstance(value, int)
        number = number_of(str(value)) if isinstance(value, int | float | str) else None
        if number is None or not number.value or path[-1] in lengths:
            continue
        times = (number._replace(value=number.value * Fraction(factor)) for factor in FACTORS)
        texts = dict.fromkeys(text_of(one, whole=whole) for one in times)
        texts.pop("0", None)
        key = ".".join(part for part in path if part != "value")
        if len(texts) >= 3 and key in known:
            yield key, list(texts)


def _leaves(table: Mapping[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[Any, Any]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _leaves(value, (*above, name))
        elif name not in NAMES and not isinstance(value, bool):
            yield (*above, name), value


def _possible(base: Template, key: str, texts: Sequence[str]) -> list[str]:
    from dvsim.study.sweeps.grid import setting_of

    return [text for text in texts if not base.wrong([setting_of(key, text)])]


def _point(values: Mapping[str, str]) -> Point:
    from dvsim.study.sweeps.grid import Point

    return Point(tuple(values.items()))


def _effects(first: Result, screened: Result, points: int) -> Iterator[float | None]:
    """Yield by how much each point changes the logarithm of the first result; None if it failed.

    Of each there are as many rows as of `first`, which has all values as they are (a scenario may
    vary keys itself), and one if it failed.
    """
    import numpy as np

    base, values = (
        one.estimates().set_index(["metric", "point"])["value"].loc[first.drawn[0]]
        for one in (first, screened)
    )
    own, begun = len(first.sides["points"]), 0
    for _ in range(points):
        if screened.sides["points"]["error"].iloc[begun]:
            begun += 1
            yield None
            continue
        changed = values.reindex(range(begun, begun + own)).to_numpy()
        begun += own
        with np.errstate(all="ignore"):
            ratio = np.abs(np.log(changed / base.reindex(range(own)).to_numpy()))
        yield float(ratio[np.isfinite(ratio)].mean()) if np.isfinite(ratio).any() else 0.0


def _values(key: str, texts: Sequence[str]) -> str:
    from dvsim.study.sweeps.grid import number_of

    numbers = {text: number_of(text) for text in texts}
    return f"{key}={','.join(sorted(texts, key=lambda text: numbers[text] or 0))}"
