"""``dvsim completion``: the script that lets a shell complete verbs, options and names."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from dvsim.cli.main import cli

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_DVSIM_COMPLETE"


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the completion script of a shell: verbs, options, scenarios, cards.

    bash: dvsim completion bash > ~/.local/share/bash-completion/completions/dvsim

    zsh: dvsim completion zsh > a folder of $fpath, under the name _dvsim

    fish: dvsim completion fish > ~/.config/fish/completions/dvsim.fish

    For this session alone, in bash: eval "$(dvsim completion bash)".
    """
    kind = get_completion_class(shell)
    assert kind is not None  # click knows them all
    template = kind(cli, {}, "dvsim", VARIABLE)
    # `source` would ask the bash of this machine for its version; the script is for any since 4.4
    click.echo(kind.source_template % template.source_vars())
