"""A path that nobody may look at, that leads round or is too long: each verb names it, and why."""

import os

import pytest
from click.testing import CliRunner

from dvsim.cli.main import cli

LOOP, LONG, LOCKED = "loop", "long", "locked"
WHY = {
    LOOP: "Too many levels of symbolic links",
    LONG: "File name too long",
    LOCKED: "Permission denied",
}


@pytest.fixture(params=[LOOP, LONG, LOCKED])
def place(request, tmp_path, monkeypatch):
    """Make a path that cannot be looked at; return it, and the reason."""
    monkeypatch.chdir(tmp_path)
    if request.param == LOOP:
        for name in ("loop", "loop.toml", "loop.csv"):
            (tmp_path / name).symlink_to(name)
        return "loop", WHY[LOOP]
    if request.param == LONG:
        return "n" * 300, WHY[LONG]
    (tmp_path / "locked").mkdir()
    look = os.stat

    def refuse(path, *args, **kwargs):
        if not isinstance(path, int) and "locked/" in os.fspath(path):  # root may look anywhere
            raise PermissionError(13, "Permission denied", os.fspath(path))
        return look(path, *args, **kwargs)

    monkeypatch.setattr(os, "stat", refuse)
    return "locked/one", WHY[LOCKED]


def refusal(*words):
    """Run a command that must fail; return what it says."""
    done = CliRunner().invoke(cli, words, prog_name="dvsim")
    assert isinstance(done.exception, SystemExit), done.exception  # and no traceback
    assert done.exit_code in (1, 2)
    return done.output


@pytest.mark.parametrize(
    "words",
    [
        ("report", "{}"),
        ("report", "{}/h3"),
        ("calibrate", "--from", "{}"),
        ("run", "{}.toml"),
        ("check", "{}.toml"),
        ("show", "{}.toml"),
        ("validate", "h3", "--against", "{}"),
        ("validate", "h3", "--against", "{}.csv"),
        ("consistency", "{}.csv"),
        ("broker", "status", "--dir", "{}/state"),
        ("broker", "down", "--dir", "{}/state"),
    ],
    ids=" ".join,
)
def test_what_is_read_is_named_with_the_reason(place, words):
    path, why = place
    said = refusal(*(word.format(path) for word in words))
    assert path in said and why in said


@pytest.mark.parametrize("words", [("compare", "{}"), ("validate", "{}"), ("run", "{}")])
def test_a_name_that_is_none_is_refused_however_it_looks(place, words):
    path, _ = place
    assert path in refusal(*(word.format(path) for word in words))


def test_a_timeline_that_cannot_be_written_is_refused_before_the_run(place):
    path, why = place
    if path != "loop":  # which would be replaced by the file
        assert why in refusal("run", "h3/dv-8", "--trace", f"{path}/t.json")


def test_a_file_that_extends_what_leads_round_says_so(tmp_path):
    (tmp_path / "loop.toml").symlink_to("loop.toml")
    (tmp_path / "mine.toml").write_text('extends = "loop.toml"\n')
    said = refusal("check", str(tmp_path / "mine.toml"))
    assert "mine.toml:1: extends: no such file 'loop.toml'" in said


def test_measurements_that_may_not_be_read_are_named(tmp_path, monkeypatch):
    from pathlib import Path

    usual = Path.open

    def refuse(self, *args, **kwargs):
        if self.name == "mine.csv":
            raise PermissionError(13, "Permission denied")
        return usual(self, *args, **kwargs)

    (tmp_path / "mine.csv").write_text("column,statistic,value\n")
    monkeypatch.setattr(Path, "open", refuse)
    said = refusal("validate", "h3", "--against", str(tmp_path / "mine.csv"))
    assert "mine.csv: cannot be read: Permission denied" in said
