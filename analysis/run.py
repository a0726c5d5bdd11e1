"""Execute notebooks and write them as pages: ``python analysis/run.py [NAME…]``.

A notebook is a Python file in the "percent" form of jupytext, which Jupyter (with jupytext), VS
Code, PyCharm and Spyder open as it is. Its cells are executed here in one plain Python process,
without a kernel. For each one, ``build/analysis`` gets NAME.md with its figures NAME-1.svg …, for
the docs, and NAME.ipynb with the same outputs. The same numbers give the same bytes.

A cell asserts what it found. Exit code 3: a finding does not hold any more; 1: a cell failed.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import os
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import pandas as pd

from dvsim.study.number_text import four_digits

HERE = Path(__file__).parent
NAMES = (
    "h3",
    "h3-table2",
    "why-128k",
    "why-128k-simulated",
    "switch",
    "osu-qpid",
    "amps",
    "zeromq",
    "pivotal",
)
MARKDOWN, PLAIN, SVG = "text/markdown", "text/plain", "image/svg+xml"


@dataclass
class Cell:
    """A cell, where its text begins, and what came out: pairs of a MIME type and a text."""

    kind: str  # "markdown" or "code"
    line: int
    source: str
    outputs: list[tuple[str, str]] = field(default_factory=list)


def cells_of(text: str) -> list[Cell]:
    """Return the cells of a notebook in the percent form; the comments of the head are none."""
    cells: list[Cell] = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("# %%"):
            cells.append(Cell("markdown" if "[markdown]" in line else "code", number + 1, ""))
        elif cells:
            cells[-1].source += line + "\n"
    for cell in cells:
        if cell.kind == "markdown":
            lines = cell.source.splitlines()
            cell.source = "\n".join(line.removeprefix("#").removeprefix(" ") for line in lines)
        cell.source = cell.source.strip("\n")
    return [cell for cell in cells if cell.source]


def execute(path: Path) -> list[Cell]:
    """Execute a notebook and return its cells with their outputs; what a cell raises comes out."""
    cells = cells_of(path.read_text(encoding="utf-8"))
    names: dict[str, Any] = {"__name__": "__main__"}  # as in Jupyter
    for cell in cells:
        if cell.kind == "code":
            cell.outputs = list(_outputs(cell, path, names))
    return cells


def _outputs(cell: Cell, path: Path, names: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Execute a cell; yield what it printed, the value of its last expression, and its figures."""
    tree = ast.increment_lineno(ast.parse(cell.source), cell.line - 1)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    value = None
    with redirect_stdout(io.StringIO()) as printed:
        exec(compile(tree, str(path), "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), str(path), "eval"), names)
    if printed.getvalue():
        yield PLAIN, printed.getvalue()
    if value is not None:
        yield _shown(value)
    for number in plt.get_fignums():
        page = io.StringIO()
        figure = plt.figure(number)
        figure.savefig(page, format="svg", metadata={"Date": None, "Title": _label(figure)})
        plt.close(figure)
        yield SVG, "\n".join(line.rstrip() for line in page.getvalue().splitlines()) + "\n"


def _shown(value: object) -> tuple[str, str]:
    if hasattr(value, "_repr_markdown_"):
        return MARKDOWN, str(value._repr_markdown_())
    if isinstance(value, pd.DataFrame):
        return MARKDOWN, _table(value)
    return PLAIN, f"{value!r}\n"


def _table(table: Any) -> str:  # noqa: ANN401 - a DataFrame
    """Return a table in Markdown, with its index if that says something."""
    if not (isinstance(table.index, pd.RangeIndex) and table.index.name is None):
        table = table.reset_index()
    rows = [[str(name) for name in table.columns], ["---"] * table.shape[1]]
    for row in table.itertuples(index=False):
        rows.append(
            [
                "" if cell is None or cell != cell else  # not a number  # noqa: PLR0124
                four_digits(cell) if isinstance(cell, float) else
                f"{cell:,}" if isinstance(cell, int) and not isinstance(cell, bool) else
                str(cell).replace("|", "\\|")
                for cell in row
            ]
        )  # fmt: skip
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _label(figure: Any) -> str:  # noqa: ANN401 - a matplotlib figure
    titles = [figure.get_suptitle(), *(axes.get_title(loc="left") for axes in figure.axes)]
    return "; ".join(dict.fromkeys(title for title in titles if title))


def write_page(cells: Sequence[Cell], name: str, out: Path) -> None:
    """Write NAME.md and its figures: code folded away, outputs where they belong."""
    parts, figures = [], 0
    for cell in cells:
        if cell.kind == "markdown":
            parts.append(cell.source)
            continue
        code = f"```python\n{cell.source}\n```"
        parts.append(f'<details markdown="1"><summary>code</summary>\n\n{code}\n\n</details>')
        for kind, text in cell.outputs:
            if kind == SVG:
                figures += 1
                (out / f"{name}-{figures}.svg").write_text(text, encoding="utf-8")
                label = text.partition("<dc:title>")[2].partition("</dc:title>")[0]
                parts.append(f"![{label or 'figure'}]({name}-{figures}.svg)")
            else:
                parts.append(text if kind == MARKDOWN else f"```text\n{text.rstrip()}\n```")
    (out / f"{name}.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def write_ipynb(cells: Sequence[Cell], name: str, out: Path) -> None:
    """Write NAME.ipynb, nbformat 4.5, with the outputs."""

    def one(number: int, cell: Cell) -> dict[str, Any]:
        entry: dict[str, Any] = {"cell_type": cell.kind, "id": f"cell-{number}", "metadata": {},
                                 "source": cell.source}  # fmt: skip
        if cell.kind == "code":
            data = [{kind: text} | ({PLAIN: ""} if kind != PLAIN else {})
                    for kind, text in cell.outputs]  # fmt: skip
            entry["execution_count"] = None
            entry["outputs"] = [
                {"output_type": "display_data", "metadata": {}, "data": bundle} for bundle in data
            ]
        return entry

    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    book = {"cells": [one(number, cell) for number, cell in enumerate(cells)], "metadata": kernel,
            "nbformat": 4, "nbformat_minor": 5}  # fmt: skip
    text = json.dumps(book, indent=1, ensure_ascii=False, sort_keys=True)
    (out / f"{name}.ipynb").write_text(text + "\n", encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    parser = argparse.ArgumentParser(description="Execute notebooks and write them as pages.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}; or files")
    parser.add_argument("--scale", type=float, default=1.0, help="of the messages of h3 runs")
    parser.add_argument("--out", type=Path, default=HERE.parent / "build" / "analysis")
    asked = parser.parse_args(arguments)
    paths = [HERE / f"{name}.py" if name in NAMES else Path(name) for name in asked.names or NAMES]
    for path in paths:
        if not path.is_file():
            parser.error(f"no notebook {path}; there are {', '.join(NAMES)}")
    matplotlib.use("agg")
    matplotlib.rcParams["svg.hashsalt"] = "dvsim"  # equal figures, equal bytes
    os.environ["DVSIM_ANALYSIS_SCALE"] = str(asked.scale)  # read by house.py
    sys.path.insert(0, str(HERE))
    asked.out.mkdir(parents=True, exist_ok=True)
    for path in paths:
        begin = time.monotonic()
        try:
            cells = execute(path)
        except Exception as error:
            traceback.print_exc()
            broken = isinstance(error, AssertionError)
            print(f"{path}: {'a finding does not hold' if broken else 'failed'}", file=sys.stderr)
            return 3 if broken else 1
        write_page(cells, path.stem, asked.out)
        write_ipynb(cells, path.stem, asked.out)
        print(f"{asked.out / path.stem}.md  {time.monotonic() - begin:.1f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
