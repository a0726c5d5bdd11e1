"""Does a real shell complete verbs, options and names, and does nobody have to wait for it?"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SHELLS = ("bash", "zsh", "fish")
BIN = Path(sys.executable).parent
ENVIRONMENT = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
BASH = """
eval "$(dvsim completion bash)"
compopt() { echo "compopt $*"; }
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_dvsim_completion dvsim
printf '%s\\n' "${COMPREPLY[@]}"
"""


def in_bash(*words):
    done = subprocess.run(
        ["bash", "-c", BASH, "bash", *words], env=ENVIRONMENT, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["dvsim", "top"], ["topology"]),
        (["dvsim", "run", "h3/dv-13"], ["h3/dv-131072"]),
        (["dvsim", "run", "h3/dv-8", "switch/rec"], ["switch/record"]),
        (["dvsim", "run", "--trace-l"], ["--trace-limit"]),
        (["dvsim", "show", "rabbitmq-2"], ["rabbitmq-2018"]),
        (["dvsim", "emulate", "--card", "data"], ["data-vortex-8"]),
        (["dvsim", "emulate", "--card", "h3-"], ["compopt", "-o", "default"]),  # of another kind
        (["dvsim", "validate", "osu"], ["osu-qpid"]),
        (["dvsim", "broker", "sta"], ["status"]),
        (["dvsim", "completion", "z"], ["zsh"]),
        (["dvsim", "run", "./mine.to"], ["compopt", "-o", "default"]),  # a file: bash knows those
    ],
)
def test_bash_completes(words, found):
    assert in_bash(*words) == found


@pytest.mark.parametrize("shell", SHELLS)
def test_each_script_is_one_that_its_shell_reads(shell):
    script = subprocess.run(
        [sys.executable, "-m", "dvsim", "completion", shell],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert "_DVSIM_COMPLETE" in script and "dvsim" in script
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=script, text=True, check=True)


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_titles_come_with_the_names(shell):
    """What the other shells' functions ask for, without the shells."""
    words = "dvsim run switch/rec"
    asked = {"COMP_WORDS": words, "_DVSIM_COMPLETE": f"{shell}_complete"}
    asked["COMP_CWORD"] = "2" if shell == "zsh" else "switch/rec"
    done = subprocess.run(
        [BIN / "dvsim"], env=ENVIRONMENT | asked, capture_output=True, text=True, check=True
    )
    assert "switch/record" in done.stdout and "Packets on their way" in done.stdout


def test_nothing_heavy_is_imported_to_complete():
    code = (
        "import sys\nfrom dvsim.cli.main import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "heavy = {'numpy', 'pandas', 'pydantic', 'rich', 'simpy', 'altair', 'cffi', 'scipy'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    asked = {"COMP_WORDS": "dvsim run h3/dv-1", "COMP_CWORD": "2"}
    asked["_DVSIM_COMPLETE"] = "bash_complete"
    done = subprocess.run(
        [sys.executable, "-c", code], env=ENVIRONMENT | asked, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert "plain,h3/dv-128" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"
