"""Does a terminal get tables that fit it and a bar that moves, and everybody else plain text?"""

import json
import re
import signal
import subprocess
import sys

import pseudo_terminal
import pytest
from harness.in_process import dvsim
from harness.replies import Told
from pseudo_terminal import COLOUR, CONTROL, lines, standing

from dvsim.study.table import Table

DVSIM = [sys.executable, "-m", "dvsim"]
SYSTEM = ["run", "h3/dv-8", "--scale", "0.0005", "--replications", "2", "--verbose"]
STUDY = ["run", "switch/load-latency", "--scale", "0.02", "--replications", "2", "--workers", "1"]
SLOW = ["run", "h3/dv-8", "--scale", "0.01", "--replications", "4", "--workers", "1"]
HIDE, SHOW = "\x1b[?25l", "\x1b[?25h"  # the cursor


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """Runs that are answered from their folder, so that there is no progress to show."""
    out = str(tmp_path_factory.mktemp("runs"))
    plain = {}
    for asked in (SYSTEM, STUDY):
        for _ in range(2):
            done = dvsim(*asked, "--out", out)
            assert done.returncode == 0, done.stderr
        plain[asked[1]] = done.stdout
    return out, plain


def on_terminal(arguments, columns, **how):
    code, text = pseudo_terminal.run([*DVSIM, *arguments], columns, **how)
    assert code == 0, text
    return text


SEVERAL = """
import json, sys
from dvsim import progress
from dvsim.cli.main import main
progress.IDLE_S = 0.05  # the bar is drawn before anything is done, as on a busy machine
for asked in json.loads(sys.argv[1]):
    sys.argv = ["dvsim", *asked]
    try: main()
    except SystemExit as end: print("== ended", end.code)
"""


def all_on_terminal(commands, columns, **how):
    """Run commands, one after the other in one process, and return what each has written."""
    words = [sys.executable, "-c", SEVERAL, json.dumps(commands)]
    code, text = pseudo_terminal.run(words, columns, **how)
    assert code == 0, text
    *parts, rest = re.split(r"== ended 0\r\n", text)
    assert (len(parts), rest) == (len(commands), ""), text
    return parts


@pytest.fixture(scope="module")
def shown(kept, tmp_path_factory):
    """What commands write on terminals of some widths: by name and columns."""
    out, _ = kept
    found = {}
    for columns in (30, 80, 200):
        asked = {
            SYSTEM[1]: [*SYSTEM, "--out", out],
            STUDY[1]: [*STUDY, "--out", out],
            "json": [*SYSTEM, "--out", out, "--json"],
            "slow": [*SLOW, "--out", str(tmp_path_factory.mktemp("slow"))],
        }
        texts = all_on_terminal(list(asked.values()), columns)
        found |= {(name, columns): text for name, text in zip(asked, texts, strict=True)}
    return found


def words(text):
    return sorted(" ".join(lines(text)).split())


@pytest.mark.parametrize("columns", [80, 200])
@pytest.mark.parametrize("asked", [SYSTEM[1], STUDY[1]])
def test_a_table_fits_the_terminal_and_loses_nothing(kept, shown, asked, columns):
    out, plain = kept
    text = shown[asked, columns]
    table = [line for line in lines(text) if line.startswith("  ") and out not in line]
    assert max(map(len, table)) <= columns
    assert set(words(plain[asked])) == set(words(text))  # of a table in parts, keys come again
    heads = [line for line in lines(text) if "±  " in line or line.endswith("±")]
    assert len(heads) == 1 if columns == 200 else len(heads) > 1
    if columns == 200:
        assert words(plain[asked]) == words(text)


def test_a_validation_fits_the_terminal_whatever_is_asked_of_it(kept):
    asked = ["validate", *(word for word in SYSTEM[1:] if word != "--verbose"), "--out", kept[0]]
    short, long = all_on_terminal([asked, [*asked, "--verbose"]], 80)
    for text in (short, long):
        own = [line for line in lines(text) if "runs" not in line]  # a path stays whole
        assert "claims:  " in own[2]
        assert max(map(len, own)) <= 80
    assert "H3-25" in short and "Statistics" not in short
    assert "Statistics" in long and COLOUR.search(short)


def test_a_narrow_terminal_gets_whole_numbers(kept, shown):
    assert set(words(kept[1][SYSTEM[1]])) == set(words(shown[SYSTEM[1], 30]))


def test_each_part_of_a_split_table_repeats_what_names_the_row(shown):
    heads = [line for line in lines(shown[STUDY[1], 80]) if line.startswith("  height  ")]
    assert len(heads) > 1 and all("load" in head for head in heads)


def test_a_dumb_terminal_gets_what_a_file_gets(kept):
    out, plain = kept
    text = on_terminal([*SYSTEM, "--out", out], 80, env={"TERM": "dumb"})
    assert text.replace("\r\n", "\n") == plain["h3/dv-8"]


def test_no_color_is_heeded(kept, tmp_path):
    out, _ = kept
    asked = [[*SYSTEM, "--out", out], [*SLOW, "--out", str(tmp_path)]]
    for text in all_on_terminal(asked, 100, env={"NO_COLOR": "1"}):
        assert not COLOUR.search(text)


def test_json_on_a_terminal_is_json(shown):
    text = shown["json", 80]
    assert not CONTROL.search(text)
    assert json.loads(text)["facts"]["results"][0]["scenario"] == "h3/dv-8"


@pytest.mark.parametrize("columns", [30, 80, 200])
def test_the_bar_moves_fits_and_goes_away(shown, columns):
    text = shown["slow", columns]
    drawn = text[text.index(HIDE) : text.index(SHOW)]
    assert "4 runs" in drawn or columns < 80
    frames = re.sub(r"\x1b\[1A|\r", "\n", drawn)  # each is drawn over the one before
    bar = [line for line in lines(frames) if line.strip()]
    assert max(map(len, bar)) <= columns
    assert ("━" in drawn) == (columns >= 80)
    if columns >= 80:
        assert "left" in drawn and "events/s" in drawn and "simulated s per s" in drawn
    assert text.count(HIDE) == text.count(SHOW) == 1
    assert standing(text)[0] == "h3/dv-8: H3, Data Vortex, 8 B messages"  # and no bar above it


def test_only_the_stream_that_is_a_terminal_is_drawn_on(tmp_path):
    with (tmp_path / "out").open("wb") as out:
        text = on_terminal([*SLOW, "--out", str(tmp_path / "runs"), "--json"], 80, stdout=out)
    assert "events/s" in text
    assert Told((tmp_path / "out").read_text("utf-8")).folders


def test_ctrl_c_gives_the_cursor_back(tmp_path):
    asked = [*SLOW, "--out", str(tmp_path)]
    asked[asked.index("0.01")] = "5"
    code, text = pseudo_terminal.run([*DVSIM, *asked], 80, until=(HIDE, signal.SIGINT))
    assert code == 130, text
    assert text.rindex(SHOW) > text.rindex(HIDE)
    assert lines(text)[-2] == "interrupted"
    assert list(tmp_path.rglob("*")) == []


def test_rich_is_only_loaded_for_a_terminal(kept):
    out, _ = kept
    code = (
        "import sys; from dvsim.cli.main import main; sys.argv[1:] = {!r}\n"
        "try: main()\nexcept SystemExit: pass\nsys.stderr.write(str('rich' in sys.modules))"
    ).format([*SYSTEM, "--out", out])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.endswith("False")


def test_a_wide_table_is_cut_between_groups():
    table = Table(["name", *"abcd"], [["x", *["1" * 8] * 4]], right=range(1, 5), groups=[2, 2])
    assert list(table.parts(100)) == [[0, 1, 2, 3, 4]]
    assert list(table.parts(27)) == [[0, 1, 2], [0, 3, 4]]
    assert list(table.parts(5)) == [[0, 1, 2], [0, 3, 4]]  # it cannot be narrower


def test_titles_with_control_characters_are_spelled_out(tmp_path):
    """A table of rich is no way around `plain`."""
    text = tmp_path / "evil.py"
    text.write_text(
        "from dvsim.study.table import Table\nfrom dvsim.cli.terminal import say_table\n"
        "say_table(Table(['[red]a'], [['\\x1b]0;title\\x07[bold]b']]))\n"
    )
    _, shown = pseudo_terminal.run([sys.executable, str(text)], 80)
    assert "\\x1b]0;title\\x07[bold]b" in shown and "[red]a" in shown
