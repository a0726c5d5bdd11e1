"""The emulator built in several ways."""

from __future__ import annotations

import os
import subprocess

import pytest
from emulator_build import PROGRAMS, ROOT, Emulator, build, in_place

from dvsim import vic
from dvsim.vic import binding, packets


@pytest.fixture(scope="session")
def emulator(tmp_path_factory) -> Emulator:
    """The emulator as it is installed."""
    prefix = tmp_path_factory.mktemp("emulator")
    build.build(prefix, ["-O2", "-Werror"])
    return Emulator(prefix, ["-O2"])


@pytest.fixture(scope="session")
def sanitized(tmp_path_factory) -> Emulator:
    """Launcher, library and programs under the address and undefined-behaviour sanitizers."""
    prefix = tmp_path_factory.mktemp("sanitized")
    flags = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-O1"]
    build.build(prefix, flags)
    return Emulator(prefix, flags, in_place())


class Threaded:
    """Programs with the cards as threads of one process, under the thread sanitizer."""

    def __init__(self, folder, *more):
        self.folder, self.made = folder, {}
        self.flags = ["-std=c11", "-g", "-O1", "-pthread", *build.WARNINGS, "-Werror"]
        self.flags += [*build.INCLUDES, f"-I{ROOT / 'emulator' / 'launcher'}", *more]
        self.flags += ["-fsanitize=thread", "-DIN_PROCESS"]
        names = ("options", "programs", "usage", "faults", "cardfile")
        sources = [ROOT / "emulator" / "launcher" / f"{name}.c" for name in names]
        sources += [*sorted((ROOT / "emulator" / "launcher").glob("coordinator*.c"))]
        sources += [ROOT / "emulator" / "arguments" / "numbers.c"]
        sources += [*build.libvic_sources(), *build.hardware_sources(), PROGRAMS / "harness.c"]
        for number, place in enumerate(sorted({source.parent for source in sources})):
            objects = folder / str(number)  # two rooms may have files of one name
            objects.mkdir()
            command = [*build.compiler(), "-c", *self.flags]
            command += [str(source) for source in sources if source.parent == place]
            subprocess.run(command, check=True, cwd=objects)
        self.objects = sorted(folder.glob("*/*.o"))

    def __call__(self, name, *options):
        if name not in self.made:
            self.made[name] = self.folder / name
            sources = [PROGRAMS / f"{name}.c", *self.objects]
            build.compile_c(sources, self.made[name], self.flags)
        return subprocess.run(
            [*in_place(), str(self.made[name]), *options, "--", "x"],
            capture_output=True, text=True, check=False, timeout=200,
        )  # fmt: skip


@pytest.fixture(scope="session")
def threaded(tmp_path_factory):
    return Threaded(tmp_path_factory.mktemp("threaded"))


@pytest.fixture(scope="session")
def ordered(tmp_path_factory):
    """The same with words that are ordinary memory: what no counter orders is a race then."""
    return Threaded(tmp_path_factory.mktemp("ordered"), "-DPLAIN_WORDS")


@pytest.fixture(scope="module")
def installed(emulator):
    """The library under test is the one that the tests build, not one that happens to be there."""
    before = os.environ.get(binding.PREFIX)
    os.environ[binding.PREFIX] = str(emulator.prefix)
    binding.libvic.cache_clear()
    packets._units.cache_clear()
    yield emulator
    del os.environ[binding.PREFIX]
    if before is not None:
        os.environ[binding.PREFIX] = before
    binding.libvic.cache_clear()
    packets._units.cache_clear()


@pytest.fixture
def card(installed):
    card = vic.open()
    yield card
    card.close()
