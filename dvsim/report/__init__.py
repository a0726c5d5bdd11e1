"""Reports: one offline HTML page for one run or many.

`write_report` (to a file) and `render_report` (to text) are the whole public surface. Inside, in
the order in which data flows::

    prepare              runs sorted by message size, labelled, coloured, estimated
    series, axes         samples as lines on a screen
    figures, quantiles   the figures, as `drawing` holds them
    rates, compare       tables of what came out, as `table` holds them
    stages, evidence     tables of why, and of what it rests on
    verdict              what the numbers show, in words
    write                all of it on one page (page.html.jinja, style.css)
"""

from dvsim.report.write import render_report, write_report

__all__ = ["render_report", "write_report"]
