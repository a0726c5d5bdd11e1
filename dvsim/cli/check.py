"""``dvsim check``: every fault of every file, before anything runs."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dvsim.cli.options import json_option
from dvsim.cli.terminal import say, say_json
from dvsim.errors import ScenarioError

if TYPE_CHECKING:
    from dvsim.errors import Fault


@click.command("check")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@json_option
@click.pass_context
def check(ctx: click.Context, files: tuple[str, ...], as_json: bool) -> None:
    """Check files: scenarios, the parts they extend, campaigns, cards.

    FILE is a path, or the name of a scenario. Each fault is one line, FILE:LINE: KEY: what is
    wrong. A fault of a shared file is reported once. Exits with 2 if there is any.
    """
    results = {file: _faults(file) for file in files}
    if as_json:
        from dvsim.table.reply import Reply

        checked = [{"file": file, "ok": not faults} for file, faults in results.items()]
        told = [
            {"checked": file, **asdict(fault)}
            for file, faults in results.items()
            for fault in faults
        ]
        say_json(Reply.of(files=checked, faults=told))
    else:
        known: set[Fault] = set()
        for file, faults in results.items():
            lines = [str(fault) for fault in faults if fault not in known]
            known.update(faults)
            say("\n".join(lines or [f"{file}: " + ("as above" if faults else "ok")]))
    if any(results.values()):
        ctx.exit(2)


def _faults(file: str) -> list[Fault]:
    from dvsim.contract.load import check_file
    from dvsim.scenario.find import is_file, is_folder, resolve_name

    try:
        path = Path(file)
        return check_file(path if is_file(path) or is_folder(path) else resolve_name(file))
    except ScenarioError as error:
        return list(error.faults)
