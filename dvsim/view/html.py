"""A page as one HTML file that needs nothing else: template, style sheets, figure library."""

from __future__ import annotations

import base64
import gzip
import re
from functools import cache
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote

from dvsim._version import __version__
from dvsim.atomic import write_output
from dvsim.study.table import Table
from dvsim.view.blocks import Page


def html(page: Page) -> str:
    """Return a page as HTML: about half a megabyte with figures, since Vega is inside.

    Equal pages give equal text, and every text is escaped.
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
    forms = {block.form for block in page.blocks}
    scripts = figure_scripts() if {"figure", "explorer"} & forms else ""
    for form, script in (("recording", "player.js"), ("explorer", "explore.js")):
        if form in forms:
            scripts += f"\n<script>\n{resource(script)}\n</script>"
    text = environment.get_template("page.html.jinja").render(
        page=page,
        version=__version__,
        # these are ours, not a user's: they must not be escaped
        style=Markup(resource("style.css")),
        scripts=Markup(scripts),
    )
    return text.lstrip()


@cache
def figure_scripts() -> str:
    """Return Vega, packed, and what draws with it; after all text, which need not wait."""
    import vl_convert

    library = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    packed = base64.b64encode(gzip.compress(library.encode(), mtime=0)).decode()
    return (
        f'<script type="text/plain" id="vega">{packed}</script>\n'
        f"<script>\n{resource('figure.js')}</script>"
    )


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
    return (files("dvsim.view") / name).read_text(encoding="utf-8")
