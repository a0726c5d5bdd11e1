"""Do the lock files hold all that is installed from them: each package pinned, each file hashed?

`make lock` writes them (lock.py). These tests ask no package index.
"""

from __future__ import annotations

import configparser
import re
import tomllib
from importlib import metadata

import pytest
from lock import HEADER, LOCKS, ROOT
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

PYTHONS = ("3.11", "3.12", "3.13")
TESTS, TOOLS = LOCKS


def entries(name: str) -> list[list[str]]:
    """Return the lines of each package: what it is, then its hashes."""
    text = (ROOT / name).read_text("utf-8").partition("\n")[2]
    return [entry.split(" \\\n") for entry in re.split(r"\n(?=\S)", text.strip())]


def pins(name: str, python: str) -> dict[str, Version]:
    """Return what a lock file means for a Python."""
    where = {
        **default_environment(),
        "python_version": python,
        "python_full_version": f"{python}.9",
    }
    found: dict[str, Version] = {}
    for pinned, *_ in entries(name):
        asked = Requirement(pinned)
        if asked.marker is None or asked.marker.evaluate(where):
            (one,) = asked.specifier
            package = canonicalize_name(asked.name)
            assert one.operator == "==" and package not in found
            found[package] = Version(one.version)
    return found


def declared() -> dict[str, list[Requirement]]:
    """Return what setup.cfg requires: of dvsim itself ("") and for each of its extras."""
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    texts = {"": config["options"]["install_requires"], **config["options.extras_require"]}
    return {
        extra: [Requirement(line) for line in text.split("\n") if line.strip()]
        for extra, text in texts.items()
    }


def wanted(extra: str) -> list[Requirement]:
    """Return the requirements of an extra, with those of the extras that it takes in."""
    own = declared()[extra]
    inner = [name for one in own if one.name == "vortexsim" for name in sorted(one.extras)]
    more = [one for name in inner for one in wanted(name)]
    return [one for one in own if one.name != "vortexsim"] + more


def missing(asked: list[Requirement], pinned: dict[str, Version]) -> list[str]:
    """Return those that a lock file does not hold in a version that they allow."""
    return [
        f"{one}: {pinned.get(canonicalize_name(one.name), 'not there')}"
        for one in asked
        if not one.specifier.contains(pinned.get(canonicalize_name(one.name), "0"))
        or canonicalize_name(one.name) not in pinned
    ]


@pytest.mark.parametrize("python", PYTHONS)
def test_the_lock_satisfies_setup_cfg_and_the_build(python):
    build = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["build-system"]["requires"]
    asked = [*wanted(""), *wanted("test"), *map(Requirement, build)]
    assert {"cffi", "pytest", "setuptools", "altair"} <= {one.name for one in asked}
    assert missing(asked, pins(TESTS, python)) == [], "make lock renews it"


@pytest.mark.parametrize("python", PYTHONS)
def test_the_lock_of_the_tools_satisfies_their_list(python):
    lines = (ROOT / "tests" / "dist" / "tools.in").read_text("utf-8").splitlines()
    asked = [Requirement(line) for line in lines if not line.startswith("#")]
    assert missing(asked, pins(TOOLS, python)) == [], "make lock renews it"


@pytest.mark.parametrize("python", PYTHONS)
def test_both_locks_build_with_the_same_packages(python):
    """A wheel that the tests have seen is made as that of a release."""
    tests, tools = pins(TESTS, python), pins(TOOLS, python)
    assert {name: tests[name] for name in ("cffi", "setuptools")} == {
        name: tools[name] for name in ("cffi", "setuptools")
    }


@pytest.mark.parametrize("name", LOCKS)
def test_every_package_is_pinned_and_hashed_and_no_server_is_named(name):
    text = (ROOT / name).read_text("utf-8")
    assert text.startswith(HEADER.format(source=LOCKS[name][0]))
    found = entries(name)
    assert len(found) > 50
    for pinned, *hashes in found:
        assert re.fullmatch(r"[a-z0-9][a-z0-9.-]*==[0-9][\w.+!]*(?: ; .+)?", pinned), pinned
        assert hashes, pinned
        for line in hashes:
            assert re.fullmatch(r"    --hash=sha256:[0-9a-f]{64}", line), line


def test_what_the_locked_packages_need_is_locked_too():
    """Asked of the packages that are installed here: pip would refuse a package without a hash."""
    pinned = pins(TESTS, default_environment()["python_version"])
    lost = []
    for name in pinned:
        try:
            needs = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            continue
        for one in map(Requirement, needs):
            if one.marker is None or one.marker.evaluate({"extra": ""}):
                lost += [f"{name}: {one}"] * (canonicalize_name(one.name) not in pinned)
    assert lost == []
