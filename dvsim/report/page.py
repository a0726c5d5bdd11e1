"""What every page shares: one frame, one style sheet, the figure library, and a whole file."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

from dvsim._version import __version__
from dvsim.errors import OutputError
from dvsim.study.atomic import write_file

MARK = "<!-- figures -->"  # in the frame; no text of a user can hold it, they are escaped
FIGURE = '<div class="figure"'


def render(template: str, **parts: object) -> str:
    """Fill a template of this package, as a page that needs nothing else.

    Parameters
    ----------
    template : str
        Name of a file that extends ``frame.html.jinja``.
    **parts
        What the template places; every text is escaped, a `Drawing` is placed as it is.

    Returns
    -------
    str
        HTML, with the figure library inside if there is a figure: about 5 MB.
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
    environment.filters["glue"] = glue
    page = environment.get_template(template).render(
        **parts,
        version=__version__,
        # ours, not a user's: it must not be escaped
        style=Markup(resource("pipeline.css") + resource("style.css")),
    )
    return page.replace(MARK, figure_scripts() if FIGURE in page else "", 1)


def figure_scripts() -> str:
    """Give the figure library and what draws with it; after all text, which need not wait."""
    import plotly.offline

    library = plotly.offline.get_plotlyjs()
    return f"<script>\n{library}\n</script>\n<script>\n{resource('figure.js')}</script>"


def write(path: Path, page: str) -> None:
    """Write a page to a file, see `write_bytes`."""
    # the name of a file need not be UTF-8, and a command tells it
    write_bytes(path, page.encode(errors="backslashreplace"))


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file, see `dvsim.study.atomic.write_file`.

    Raises
    ------
    OutputError
        If the file cannot be written. What was there before is still there then.
    """
    try:
        write_file(path, data)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from error


def glue(text: str) -> str:
    """Keep a number and its unit on one line.

    Examples
    --------
    >>> glue("0.5× at 2 KiB") == "0.5× at 2\N{NO-BREAK SPACE}KiB"
    True
    """
    return re.sub(r"(?<=\d) (?=(?:[KMG]i)?B\b|%)", "\N{NO-BREAK SPACE}", text)


def resource(name: str) -> str:
    """Read a text file of this package."""
    return (files("dvsim.report") / name).read_text(encoding="utf-8")
