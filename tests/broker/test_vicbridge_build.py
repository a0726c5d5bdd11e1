"""vicbridge: is it compiled where it is used, once, and is it said what is missing?"""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from dvsim.broker import compile_bridge
from dvsim.errors import DvsimError, OutputError
from dvsim.native import emulator_prefix

SMALL = """\
#include <amqp.h>
#include <stdio.h>
#include <vic.h>
int main(int argc, char **argv)
{
    printf("%s %d %s\\n", argc > 1 ? argv[1] : "", amqp_version_number() > 0, vic_version());
    return 7;
}
"""


@pytest.fixture
def prefix(tmp_path, monkeypatch):
    """A libvic whose vicbridge is a small program, and an empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "prefix"
    (folder / "share" / "bridge").mkdir(parents=True)
    for name in ("include", "lib"):
        (folder / name).symlink_to(emulator_prefix() / name)
    (folder / "share" / "bridge" / "small.c").write_text(SMALL, "utf-8")
    return folder


@pytest.fixture
def counted(tmp_path, monkeypatch):
    """A compiler that writes down each time that it is called."""
    compiler, calls = tmp_path / "my cc", tmp_path / "calls"
    compiler.write_text(f'#!/bin/sh\necho >>"{calls}"\nexec cc "$@"\n', "utf-8")
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", f"'{compiler}'")
    return lambda: len(calls.read_text("utf-8").splitlines())


def run(program, *arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=False)


def test_it_is_compiled_once(prefix, counted):
    program = compile_bridge.vicbridge(prefix)
    assert run(program, "hello").stdout.startswith("hello 1 ")
    assert compile_bridge.vicbridge(prefix) == program
    assert counted() == 1


def test_it_is_compiled_again_when_something_is_different(prefix, counted, monkeypatch):
    programs = {compile_bridge.vicbridge(prefix)}
    source = prefix / "share" / "bridge" / "small.c"
    source.write_text(SMALL.replace("return 7", "return 8"), "utf-8")
    programs.add(compile_bridge.vicbridge(prefix))
    monkeypatch.setenv("CC", os.environ["CC"] + " -DX")
    programs.add(compile_bridge.vicbridge(prefix))
    assert counted() == len(programs) == 3
    assert sorted(run(program).returncode for program in programs) == [7, 8, 8]


def test_several_at_once_get_a_whole_program(prefix):
    with ThreadPoolExecutor(4) as pool:
        programs = list(pool.map(lambda _: compile_bridge.vicbridge(prefix), range(4)))
    assert len(set(programs)) == 1
    assert run(programs[0]).returncode == 7
    assert [path.name for path in programs[0].parent.iterdir()] == ["vicbridge"]


def test_a_compiler_that_refuses_is_heard(prefix):
    (prefix / "share" / "bridge" / "broken.c").write_text("int x = nonsense;\n", "utf-8")
    with pytest.raises(DvsimError, match=r"(?s)vicbridge cannot be compiled:.*nonsense"):
        compile_bridge.vicbridge(prefix)
    assert list((prefix.parent / "cache").rglob(".*")) == []


def test_a_missing_compiler_is_said(prefix, monkeypatch):
    monkeypatch.setenv("CC", "no-such-cc -O3")
    with pytest.raises(DvsimError, match="there is no C compiler 'no-such-cc': apt install gcc"):
        compile_bridge.vicbridge(prefix)


def test_a_missing_librabbitmq_is_said_with_its_package(prefix, monkeypatch, tmp_path):
    monkeypatch.setenv("PKG_CONFIG_LIBDIR", str(tmp_path))
    with pytest.raises(DvsimError, match="not installed: apt install librabbitmq-dev pkg-config"):
        compile_bridge.vicbridge(prefix)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CC", sys.executable)
    with pytest.raises(DvsimError, match="needs pkg-config to find librabbitmq: apt install"):
        compile_bridge.vicbridge(prefix)


def test_missing_sources_are_said(prefix):
    (prefix / "share" / "bridge" / "small.c").unlink()
    with pytest.raises(DvsimError, match=r"no sources of vicbridge in .*: install dvsim again"):
        compile_bridge.vicbridge(prefix)


def test_a_cache_that_cannot_be_written_is_said(prefix, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/cache")
    with pytest.raises(OutputError, match=r"cannot write '/proc/cache/.*XDG_CACHE_HOME names"):
        compile_bridge.vicbridge(prefix)


def test_the_verb_becomes_vicbridge(prefix, tmp_path):
    stand_in = tmp_path / "stand_in.py"
    stand_in.write_text(
        "import dvsim.broker.compile_bridge as bridge, pathlib, dvsim.native\n"
        f"bridge.emulator_prefix = lambda: pathlib.Path({str(prefix)!r})\n"
        "from dvsim.cli.main import main\n"
        "main()\n",
        "utf-8",
    )
    done = run(sys.executable, stand_in, "bridge", "--url", "--path", "x")
    assert (done.returncode, done.stderr) == (7, "")
    assert done.stdout.startswith("--url 1 ")
    done = run(sys.executable, stand_in, "bridge", "--", "--help")
    assert done.stdout.startswith("--help 1 ")
    done = run(sys.executable, stand_in, "bridge", "--path")
    assert done.returncode == 0
    assert run(done.stdout.strip()).returncode == 7
