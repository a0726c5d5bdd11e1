"""Reports: one offline HTML page for runs, for runs side by side, or for studies.

`write_results` (runs or studies to a file, in any of `FORMATS`), `render_report` (runs to a page as
text), `render_study_report` (studies), `write_comparison` and `render_comparison` (runs or studies
side by side: beside.py, beside_studies.py, forest.py, compare.html.jinja) are the whole public
surface. Inside, in the order in which data flows, for runs::

    prepare              runs sorted by message size, labelled, coloured, estimated
    series, axes         samples as lines on a screen
    figures, quantiles   the figures, as `drawing` holds them; figure.js draws them when looked at
    qq, scaling          the same against what was published, and over the size of a message
    lanes, pipeline      the way of a message, and the picture of where it waits
    rates, compare       tables of what came out, as `table` holds them
    stages, evidence     tables of why, and of what it rests on;
    parameters           first the numbers that nobody measured
    verdict              what the numbers show, in words
    write                all of it on one page (page.html.jinja)

and for studies::

    sweep                points in order: one key along the axis, a line for every other combination
    metrics              what they are called, and the levels that were published
    curves, spread       the figures; stage_curves and flow_metrics those of messaging over hosts
    recorded, timeline   the recorded run, which player.js draws
    study_tables         tables of what came out and of what was asked
    answers              what the numbers show, in words
    studies              all of it on one page (studies.html.jinja)

Both share `page` (frame.html.jinja, parts.html.jinja, style.css), `table` and `evidence`. The other
forms are made of the same parts: `markdown`, `paper` (SVG of the figures), `tidy` (one table of all
results); `formats` chooses.
"""

from dvsim.report.beside import render_comparison, write_comparison
from dvsim.report.formats import FORMATS, write_results
from dvsim.report.studies import render_study_report
from dvsim.report.write import render_report

__all__ = [
    "FORMATS",
    "render_comparison",
    "render_report",
    "render_study_report",
    "write_comparison",
    "write_results",
]
