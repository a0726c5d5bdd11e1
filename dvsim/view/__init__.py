"""Pages of runs and studies, of results side by side, of topologies, and their other forms.

A page is a list of sections, a section a list of blocks (`blocks`: paragraphs, a `Table`, a
`Figure`, a recorded run). `html` writes it as HTML, `markdown` as text, `terminal` as lines; `tidy`
puts all results into one table. Which page has which blocks: `result_page` (runs, studies),
`comparison`, `sweep_page`, `lab`, `topology`. `file_formats` chooses the form by the ending.

A figure (`figure`) is a frame of numbers and a chart of it, which Altair describes; the page shows
it with Vega, vl-convert writes it as SVG, PNG and PDF. How to read each stands in captions.toml.
The views are `curves`, `spread`, `run_figures`, `pipeline`, `overlaid`, `lab`,
`sensitivity`, `whatif`, `topology`; what they are drawn from is put in order by `groups` (runs) and
`axes` (points).
"""

from dvsim.view.file_formats import (
    FORMATS,
    render_comparison,
    render_report,
    write_comparison,
    write_results,
)

__all__ = ["FORMATS", "render_comparison", "render_report", "write_comparison", "write_results"]
