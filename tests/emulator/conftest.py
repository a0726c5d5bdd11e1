"""The emulator built in several ways."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator, Sequence

import namespaces
import pytest
from builds import Emulator, Threaded, ordered, plain, sanitized, threaded

from dvsim import vic
from dvsim.vic import binding, packets


@pytest.fixture(scope="session", name="emulator")
def _emulator() -> Emulator:
    """The emulator as it is installed."""
    return plain()


@pytest.fixture(scope="session", name="sanitized")
def _sanitized() -> Emulator:
    """Launcher, library and programs under the address and undefined-behaviour sanitizers."""
    return sanitized()


@pytest.fixture(scope="session", name="threaded")
def _threaded() -> Threaded:
    """Programs with the cards as threads of one process, under the thread sanitizer."""
    return threaded()


@pytest.fixture(scope="session", name="ordered")
def _ordered() -> Threaded:
    """The same with words that are ordinary memory: what no counter orders is a race then."""
    return ordered()


@pytest.fixture(scope="module")
def hosts(emulator: Emulator, request: pytest.FixtureRequest) -> Iterator[namespaces.Hosts]:
    """Two hosts, or one for each letter of the module's ``HOSTS``."""
    namespaces.need(emulator.prefix)
    with namespaces.hosts(str(os.getpid()), getattr(request.module, "HOSTS", "ab")) as made:
        yield made


@pytest.fixture
def start_job() -> Iterator[Callable[[Sequence[str]], subprocess.Popen[str]]]:
    """Return what starts a command whose output comes through pipes; it ends with the test."""
    jobs = []

    def start(command: Sequence[str]) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        jobs.append(subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True))
        return jobs[-1]

    yield start
    for job in jobs:
        job.kill()
        job.communicate()


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
