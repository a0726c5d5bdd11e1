"""Is what `make dist` relies on true: is the source distribution whole, does an audit count?

The rest of `make dist` takes minutes and asks the package index; it is its own test.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
from types import SimpleNamespace

import make
import packing
import pytest
import smoke

SDIST = """
import sys
from setuptools import build_meta
print(build_meta.build_sdist(sys.argv[1]))
"""


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    if not (packing.ROOT / ".git").exists():
        pytest.skip("no checkout: git is asked what belongs to a source distribution")
    source = tmp_path_factory.mktemp("source")
    for name in packing.tracked():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(packing.ROOT / name, source / name)
    (source / "runs").mkdir()  # what lies about in a folder that was worked in
    (source / "runs" / "old.txt").write_text("x")
    (source / "models" / "left.o").write_text("x")
    out = tmp_path_factory.mktemp("sdist")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SDIST, out],
        cwd=source, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return out / done.stdout.splitlines()[-1]


def test_the_source_distribution_holds_what_git_knows_of_it_and_nothing_else(sdist):
    assert packing.wrong_in_sdist(sdist) == []


def test_what_it_lacks_or_has_too_much_would_be_seen(sdist, monkeypatch):
    known = packing.tracked()
    more = [*(name for name in known if name != "models/card/vic.c"), "scenarios/new.toml"]
    monkeypatch.setattr(packing, "tracked", lambda: more)
    assert packing.wrong_in_sdist(sdist) == ["lacks scenarios/new.toml", "has models/card/vic.c"]


def test_it_comes_out_the_same_whatever_the_times_and_owners(tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    made = []
    for number, owner in enumerate(("nobody", "root")):
        folder = tmp_path / str(number)
        (folder / "dvsim-1").mkdir(parents=True)
        for name in ("b", "a") if number else ("a", "b"):
            (folder / "dvsim-1" / name).write_text(name)
            os.utime(folder / "dvsim-1" / name, (number, number))
        (folder / "dvsim-1" / "a").chmod(0o700 if number else 0o755)
        packed = folder / "packed.tar.gz"
        subprocess.run(
            ["tar", "-czf", packed, f"--owner={owner}", "-C", folder, "dvsim-1"], check=True
        )
        made.append(packing._evened(packed, folder / "even.tar.gz").read_bytes())
        assert made[0] != packed.read_bytes()
    assert made[0] == made[1]
    with tarfile.open(tmp_path / "0" / "even.tar.gz") as even:
        assert [(one.name, one.mode, one.mtime) for one in even] == [
            ("dvsim-1", 0o755, 1700000000),
            ("dvsim-1/a", 0o755, 1700000000),
            ("dvsim-1/b", 0o644, 1700000000),
        ]


def audited(monkeypatch, text, said=""):
    answer = SimpleNamespace(stdout=text, stderr=said)
    monkeypatch.setattr(make.subprocess, "run", lambda *_, **__: answer)
    make.audit()


def packages(*more):
    return json.dumps({"dependencies": [{"name": "a", "version": "1", "vulns": []}, *more]})


def test_an_audit_ends_with_a_known_weakness(monkeypatch):
    weak = {"name": "b", "version": "2", "vulns": [{"id": "CVE-1"}]}
    with pytest.raises(packing.Wrong, match="known weaknesses: b 2: CVE-1"):
        audited(monkeypatch, packages(weak))


def test_an_audit_says_what_it_could_not_ask(monkeypatch, capsys):
    audited(monkeypatch, packages({"name": "b", "skip_reason": "not found"}))
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith("tests/requirements.lock: 1 packages without known weaknesses; NOT")
    assert "NOT AUDITED: 1, " in first
    audited(monkeypatch, "", "trying\nNo route to host")
    assert "requirements.lock: NOT AUDITED: No route to host" in capsys.readouterr().out
    audited(monkeypatch, packages())
    assert "NOT AUDITED" not in capsys.readouterr().out


def test_the_pythons_are_the_oldest_and_the_newest(tmp_path, monkeypatch):
    place = tmp_path / "versions" / "x" / "bin"
    place.mkdir(parents=True)
    for name, text in {
        "python3.10": "exit 0", "python3.11": "exit 0", "python3.12": "exit 0",
        "python3.14": "exit 0", "python3.15": "exit 127", "python3.14-config": "exit 0",
    }.items():  # fmt: skip
        (place / name).write_text(f"#!/bin/sh\n{text}\n")
        (place / name).chmod(0o755)
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert smoke.pythons([]) == ([str(place / "python3.11"), str(place / "python3.14")], [])
    (place / "python3.11").unlink()
    assert smoke.pythons([]) == ([str(place / "python3.14")], ["python3.11"])
    assert smoke.pythons(["mine"]) == (["mine"], [])
