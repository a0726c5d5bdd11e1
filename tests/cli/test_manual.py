"""Is there a manual page for every verb, with all its options, that man can show?"""

import re
import shutil
import subprocess
import sys

import pytest

from dvsim.cli.main import VERBS, cli
from dvsim.cli.manual import escaped, pages

PAGES = dict(pages())


def test_every_verb_has_a_page_and_the_first_names_them_all():
    assert {f"dvsim-{verb}.1" for verb in VERBS} <= set(PAGES)
    assert {"dvsim.1", "dvsim-broker-up.1"} <= set(PAGES)
    for verb in VERBS:
        assert f"dvsim\\-{verb}(1)" in PAGES["dvsim.1"]


def test_the_command_writes_the_same_pages(tmp_path):
    command = [sys.executable, "-m", "dvsim.cli.manual", str(tmp_path / "man1")]
    subprocess.run(command, check=True)
    found = {path.name: path.read_text("ascii") for path in (tmp_path / "man1").iterdir()}
    assert found == PAGES
    assert subprocess.run(command[:3], capture_output=True, check=False).returncode == 2
    (tmp_path / "file").write_text("")
    asked = [*command[:3], str(tmp_path / "file")]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, f"cannot write {asked[-1]}: File exists\n")


@pytest.mark.parametrize("verb", VERBS)
def test_a_page_has_every_option_of_its_verb(verb):
    command = cli.get_command(None, verb)
    text = PAGES[f"dvsim-{verb}.1"].replace("\\-", "-")
    for one in command.params:
        if one.param_type_name == "option" and not one.hidden:
            assert all(name in text for name in one.opts), one.opts


@pytest.mark.skipif(shutil.which("groff") is None, reason="needs groff")
@pytest.mark.parametrize("name", PAGES)
def test_groff_has_nothing_to_say_against_a_page(name):
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww", "-Wbreak"], input=PAGES[name], capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    assert done.stderr == ""
    shown = re.sub(r"\x1b\[[0-9;]*m|.\x08", "", done.stdout)
    for part in ("NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS", "SEE ALSO"):
        assert re.search(rf"^{part}$", shown, re.MULTILINE), part


@pytest.mark.skipif(shutil.which("man") is None, reason="needs man")
def test_man_shows_a_page(tmp_path):
    (tmp_path / "dvsim-run.1").write_text(PAGES["dvsim-run.1"], encoding="ascii")
    done = subprocess.run(
        ["man", "-l", str(tmp_path / "dvsim-run.1")], capture_output=True, text=True, check=True
    )
    shown = re.sub(r"\x1b\[[0-9;]*m|.\x08", "", done.stdout)
    assert "--trace FILE.json[.gz]" in shown


def test_no_line_of_ours_is_a_request():
    assert escaped(".SH evil\\") == "\\&.SH evil\\e"
    requests = {
        line.split()[0] for text in PAGES.values() for line in text.splitlines() if line[:1] == "."
    }
    assert requests <= {".TH", ".SH", ".B", ".PP", ".TP", ".nf", ".fi"}
    assert not [line for text in PAGES.values() for line in text.splitlines() if line[:1] == "'"]
