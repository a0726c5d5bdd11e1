"""Reports: pages of runs and studies, of results side by side, and in other forms.

A page is a list of sections, a section a list of blocks (`blocks`: paragraphs, a `Table`, a figure
as `drawing` holds it, a recorded run). `html` writes it as HTML, `markdown` as text, `figure_svg`
its figures; `terminal` has sections as lines; `tidy` puts all results into one table. Which page
has which blocks: `result_page` (runs, studies), `comparison`, `sweep_page`, `lab`, `topology`.
`file_formats` chooses the form by the ending of the file.

What the blocks of runs are made from, in the order in which data flows::

    groups                 runs sorted by message size, labelled, coloured, estimated
    series, quantiles      rates over time and quantiles, beside what was published
    scaling, pipeline      rates over the size of a message; where it waits on its way
    run_tables             tables of what came out
    basis                  what it rests on: claims, parameters, cards, where each run came from
    run_sentences          what the numbers show, in words
    whatif                 answers to open questions

and of studies and sweeps::

    axes                          points in order: one key along the axis, a line for every
                                  combination of the others
    metrics                       what they are called, and the levels that were published
    curves, stage_curves, spread  the figures
    recorded                      the recorded run, which player.js draws
    study_tables                  tables of what came out and of what was asked
    saturation, study_sentences   what the numbers show, in words
"""

from dvsim.report.file_formats import (
    FORMATS,
    render_comparison,
    render_report,
    write_comparison,
    write_results,
)

__all__ = ["FORMATS", "render_comparison", "render_report", "write_comparison", "write_results"]
