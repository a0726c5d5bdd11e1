"""How large is a page of 44 runs, how long is it made, and how long does a browser draw it?

The 30 scenarios of Table 1 and 14 of them again with another seed, shortened to a tenth: enough
samples that every line of the page is as dense as it gets. Drawing is timed by the browser itself:
from the start of the navigation until the figures in view are there, which is what a reader waits
for, and then for every figure at once, which only a printer needs. The limit beside it is the same
browser with the figure library alone on an empty page.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from rows import row, seconds

from dvsim.contract.load import load_campaign
from dvsim.evidence.validation import validate
from dvsim.session import run_scenarios
from dvsim.view import render_report
from dvsim.view.html import figure_scripts

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "browser"))
from chromium import Chromium, found

TIMES = 5
SCALE = 0.1
MARKS = "performance.getEntriesByType('mark').map((mark) => mark.startTime)"


def shown(browser: Chromium, path: Path) -> tuple[float, float, int, int]:
    """Return ms until what is in view is drawn, ms for the rest, and how many figures each."""
    page = browser.page(path, width=1200, height=900)
    # two frames: what comes into view is told after layout, and drawn before the next frame
    frames = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
    page.run(frames)
    loaded = page.run("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd")
    marks = page.run(MARKS)
    begun = page.run("performance.now()")
    page.run("window.dvsim && dvsim.drawAll()")
    rest = page.run("performance.now()") - begun
    result = max([loaded, *marks]), rest, len(marks), len(page.run(MARKS))
    page.close()
    return result


def main() -> None:
    """Make the pages, show each some times, print the best."""
    program = found()
    if program is None:
        sys.exit("no Chromium: tests/install-packages installs it")
    scenarios = load_campaign("h3/table1")
    runs = run_scenarios(scenarios, replications=2, scale=SCALE, out=None)
    runs += run_scenarios(scenarios[:14], replications=2, scale=SCALE, out=None, seed=2)
    validation = validate(runs)
    made: list[str] = []
    took = seconds(lambda: made.append(render_report(runs, validation)))
    page = made[0].encode()
    print(f"{len(runs)} runs: {len(page) / 1e6:.2f} MB, made in {took:.1f} s")
    with tempfile.TemporaryDirectory() as folder:
        path, bare = Path(folder, "report.html"), Path(folder, "bare.html")
        path.write_bytes(page)
        bare.write_text(f"<!DOCTYPE html><title>bare</title>{figure_scripts()}", encoding="utf-8")
        browser = Chromium(program, Path(folder, "profile"))
        try:
            both = [(shown(browser, bare)[0], shown(browser, path)) for _ in range(TIMES)]
        finally:
            browser.close()
    limits, times = zip(*both, strict=True)
    first, _, seen, every = min(times)
    rest = min(time[1] for time in times)
    print(f"drawn in view: {first / 1e3:.2f} s with {seen} figures")
    print(f"all {every} figures: {rest / 1e3:.2f} s more; best of {TIMES}")
    pairs = [time[0] / limit for limit, time in both]
    against = "the figure library on an empty page"
    row("page of 44 runs, drawn in view, time", against, first / min(limits), "less", pairs)


if __name__ == "__main__":
    main()
