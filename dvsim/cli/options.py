"""Options that several verbs share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click


def run_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say how a scenario is run."""
    for option in reversed(
        (
            click.option(
                "--set",
                "overrides",
                multiple=True,
                metavar="KEY=VALUE",
                help='Override a value: --set system.card.sram="64 MiB". Repeatable.',
            ),
            click.option("--replications", default=10, show_default=True, help="Independent runs."),
            click.option("--seed", default=1, show_default=True, help="Seed of all streams."),
            click.option(
                "--scale", default=1.0, show_default=True, help="Multiply the number of messages."
            ),
            click.option(
                "--out",
                type=click.Path(path_type=Path),
                default=Path("runs"),
                show_default=True,
                help="Where run folders go.",
            ),
            click.option("--force", is_flag=True, help="Run again, even if the answer is kept."),
            click.option(
                "--workers", type=click.IntRange(min=1), help="Processes.  [default: one per core]"
            ),
        )
    ):
        command = option(command)
    return command
