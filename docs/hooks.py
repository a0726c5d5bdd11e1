"""What the site shows beside the pages of this folder: files of the repository, and a table.

Pages link to the source as on a forge, ``../models/vortex/carried.h``. On the site such a file is
there too, under its own path. ``<!-- table of assumed parameters -->`` in a page becomes that table
of the packaged cards, so that it cannot grow stale. ``<!-- file: models/x.toml -->`` becomes that
file; in a clone the link beside it leads there. What stands in ``<!-- on the site: … -->`` is for
the site alone: it makes pages of docstrings and options, and means nothing to a reader of the file.
"""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent
PAGES = ("CHANGELOG.md", "CONTRIBUTING.md", "scenarios/reference/README.md")
OUTSIDE = re.compile(r"\]\(((?:\.\./)+)([^)#]+)")
FILE = re.compile(r"^<!-- file: (\S+) -->$", re.MULTILINE)
ON_THE_SITE = re.compile(r"^<!-- on the site:\n(.*?)^-->$", re.MULTILINE | re.DOTALL)
LANGUAGES = {".toml": "toml", ".h": "c", ".py": "python"}
MARKER = "<!-- table of assumed parameters -->"
NOTEBOOKS = ROOT / "build" / "analysis"  # written by analysis/run.py


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Show the notebooks that have been executed."""
    pages = [f"analysis/{path.name}" for path in sorted(NOTEBOOKS.glob("*.md"))]
    if pages and config.nav is not None:
        config.nav.append({"Notebooks": pages})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that live elsewhere, and every file that a page links to."""
    wanted = set(PAGES)
    for page in sorted(Path(config.docs_dir).rglob("*.md")):
        for dots, name in OUTSIDE.findall(page.read_text(encoding="utf-8")):
            target = (page.parent / dots / name).resolve()
            if target.is_file() and not target.is_relative_to(config.docs_dir):
                wanted.add(target.relative_to(ROOT).as_posix())
    for name in sorted(wanted):
        files.append(File.generated(config, name, abs_src_path=str(ROOT / name)))
    for path in sorted([*NOTEBOOKS.glob("*.md"), *NOTEBOOKS.glob("*.svg")]):
        files.append(File.generated(config, f"analysis/{path.name}", abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page, config: MkDocsConfig, files: Files) -> str:  # noqa: ANN001
    """Turn links that leave docs/ into links to the same files on the site; fill in tables."""
    here = Path(page.file.src_uri)
    if page.file.src_uri in PAGES:  # written for its own folder: links into docs/ lose that part
        markdown = markdown.replace("](docs/", "](")
    depth = len(here.parts)  # of docs/tutorials/x.md: ../../ is the repository, on the site ../
    markdown = OUTSIDE.sub(
        lambda link: f"]({link[1][3:] if len(link[1]) == 3 * depth else link[1]}{link[2]}", markdown
    )
    markdown = ON_THE_SITE.sub(lambda block: block[1], FILE.sub(whole, markdown))
    return markdown.replace(MARKER, assumed()) if MARKER in markdown else markdown


def whole(place: re.Match[str]) -> str:
    """Return a file of the repository as a block of code."""
    path = ROOT / place[1]
    return f"```{LANGUAGES[path.suffix]}\n{path.read_text(encoding='utf-8').rstrip()}\n```"


def assumed() -> str:
    """Return a table of every number of the packaged cards that no source gives."""
    from dvsim.contract.load import load_card
    from dvsim.scenario.find import card_names, find_card
    from dvsim.scenario.units import format_value

    lines = ["| card | parameter | value | confidence | why |", "|---|---|---|---|---|"]
    for name in card_names():
        path = find_card(name)
        assert path is not None
        for key, item in load_card(path).parameters.items():
            if item.confidence in ("assumed", "unverified"):
                value = format_value(item.value, item.dimension)
                source = item.source.replace("|", "\\|")
                lines.append(f"| {name} | {key} | {value} | {item.confidence} | {source} |")
    return "\n".join(lines)
