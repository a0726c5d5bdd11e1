"""A page as one HTML file that needs nothing else: template, style sheets, figure library."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote

from dvsim._version import __version__
from dvsim.atomic import write_output
from dvsim.report.blocks import Page
from dvsim.study.table import Table


def html(page: Page) -> str:
    """Return a page as HTML: about 5 MB with figures, since their library is inside.

    Equal pages give equal text. Every text is escaped; figures are placed as they are.
    """
    import jinja2
    from markupsafe import Markup

    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=jinja2.FunctionLoader(resource),
    )
    environment.filters |= {"glue": glue, "csv_uri": csv_uri}
    scripts = figure_scripts() if any(not drawing.svg for drawing in page.drawings) else ""
    if any(block.form == "recording" for block in page.blocks):
        scripts += f"\n<script>\n{resource('player.js')}\n</script>"
    text = environment.get_template("page.html.jinja").render(
        page=page,
        version=__version__,
        # these are ours, not a user's: they must not be escaped
        style=Markup(resource("pipeline.css") + resource("style.css")),
        scripts=Markup(scripts),
    )
    return text.lstrip()


def figure_scripts() -> str:
    """Return the figure library and what draws with it; after all text, which need not wait."""
    import plotly.offline

    library = plotly.offline.get_plotlyjs()
    return f"<script>\n{library}\n</script>\n<script>\n{resource('figure.js')}</script>"


def write(path: Path, page: Page | str) -> None:
    """Write a page or a text to a file, see `dvsim.atomic.write_output`."""
    # the name of a file need not be UTF-8, and a command tells it
    text = page if isinstance(page, str) else html(page)
    write_output(path, text.encode(errors="backslashreplace"))


def glue(text: str) -> str:
    """Keep a number and its unit on one line.

    >>> glue("0.5× at 2 KiB") == "0.5× at 2\N{NO-BREAK SPACE}KiB"
    True
    """
    return re.sub(r"(?<=\d) (?=(?:[KMG]i)?B\b|%)", "\N{NO-BREAK SPACE}", text)


def csv_uri(table: Table) -> str:
    """Return a table as a ``data:`` address: a page carries its own downloads."""
    return "data:text/csv;charset=utf-8," + quote(table.csv)


def resource(name: str) -> str:
    """Read a text file of this package."""
    return (files("dvsim.report") / name).read_text(encoding="utf-8")
