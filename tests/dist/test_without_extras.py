"""Does the main job work without any extra, and is the extra named where one is needed?"""

import json
import re
import subprocess
import sys
from importlib import metadata

import pytest
from packaging.requirements import Requirement

PLAIN = "vortexsim"
EXTRAS = ("cluster", "docs", "test")

WITHOUT = """
import json, sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

BLOCKED = set(json.loads(sys.argv[1]))
sys.meta_path.insert(0, Absent())
from click.testing import CliRunner
from dvsim.cli.main import cli

for words in json.loads(sys.argv[2]):
    done = CliRunner().invoke(cli, words, prog_name="dvsim")
    print(json.dumps([done.exit_code, done.output[-300:]]))
"""

FEW = ["--scale", "0.0005", "--replications", "2", "--workers", "1"]
SWITCH = ["--set", "traffic.slots=50", "--set", "traffic.warmup=0", "--workers", "1"]
MAIN = [
    ["run", "h3/dv-8", "h3/fdr-8", *FEW, "--report", "both.html"],
    ["run", "h3/dv-8", *FEW, "--trace", "t.json.gz"],
    ["run", "h3/dv-8", *FEW, "--report", "x.svg"],
    ["run", "switch/zero-load", *SWITCH, "--replications", "2", "--report", "switch.md"],
    ["run", "zeromq/latency", *FEW],
    ["compare", "h3/dv-8", "h3/fdr-8", "--report", "beside.html"],
    ["sweep", "h3/fdr-8", *FEW, "--vary", "workload.message_bytes=8,16", "--report", "sweep.html"],
    ["limit", "switch/zero-load", *SWITCH, "--until", "acceptance > 0.5", "--tolerance", "0.3"],
    ["validate", "h3/fdr-8", *FEW],
    ["topology", "--height", "4", "--angles", "3", "--report", "switch.html"],
    ["list"],
    ["show", "h3/dv-8"],
    ["check", "h3/dv-8"],
    ["consistency"],
]
NEED_ONE = {
    "cluster": ["sweep", "h3/fdr-8", *FEW, "--vary", "messages=9,10", "--scheduler", "s.json"],
}  # fmt: skip


def plain(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def needed(*extras):
    """Return all distributions that an installation with some extras brings and that are here."""
    found, todo = {}, [(PLAIN, frozenset(extras))]
    while todo:
        name, own = todo.pop()
        if own <= found.get(plain(name), frozenset()) and plain(name) in found:
            continue
        found[plain(name)] = found.get(plain(name), frozenset()) | own
        try:
            asked = metadata.distribution(name).requires or []
        except metadata.PackageNotFoundError:
            continue
        for one in map(Requirement, asked):
            if one.marker is None or any(one.marker.evaluate({"extra": e}) for e in {"", *own}):
                todo.append((one.name, frozenset(one.extras)))
    return set(found)


@pytest.fixture(scope="module")
def absent():
    """The modules that only extras bring."""
    base = needed()
    assert {"numpy", "pyarrow", "altair"} <= base
    assert not {"matplotlib", "distributed", "pytest"} & base
    return [
        module
        for module, owners in metadata.packages_distributions().items()
        if not {plain(owner) for owner in owners} & (base | {"pip"})
    ]


def said(absent, commands, cwd):
    words = [sys.executable, "-c", WITHOUT, json.dumps(absent), json.dumps(commands)]
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_what_extras_bring_is_known():
    made = metadata.distribution(PLAIN).metadata.get_all("Provides-Extra")
    assert sorted(made) == sorted(EXTRAS)


def test_the_main_job_needs_no_extra(absent, tmp_path):
    assert {"matplotlib", "distributed"} <= set(absent)
    for words, (code, text) in zip(MAIN, said(absent, MAIN, tmp_path), strict=True):
        assert code == 0, (words, text)
    made = {path.name for path in tmp_path.glob("*.*")}
    assert {"both.html", "t.json.gz", "switch.md", "beside.html", "sweep.html"} <= made


def test_what_needs_an_extra_names_it(absent, tmp_path):
    answers = said(absent, list(NEED_ONE.values()), tmp_path)
    for extra, (code, text) in zip(NEED_ONE, answers, strict=True):
        assert code in (1, 2), (extra, text)
        assert f"pip install 'vortexsim[{extra}]'" in text
