"""If a call fails: is it said, does nothing stay, is nothing half taken for whole?

The first of each call of a job, and some of each command that writes results; all of them:
`python tests/faults/run.py`.
"""

from __future__ import annotations

import pytest
from fault import SANITIZE, Fault, build
from subjects import HOSTS, SUBJECTS, Bench, firsts
from writers import COMMANDS, Desk

SEED, OF_COMMAND = 8, 3


@pytest.fixture(scope="module")
def desk(tmp_path_factory, library):
    with Desk(tmp_path_factory.mktemp("desk") / "desk", library) as desk:
        yield desk


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
def test_a_failing_call_in_a_job(sanitized, subject):
    if subject.options == HOSTS and not (sanitized.prefix / "bin" / "vichost").exists():
        pytest.skip("needs libfabric (tests/install-packages)")
    chosen = firsts(sanitized.counted(subject).counts)
    reached = 0
    for fault in chosen:
        outcome, wrong = sanitized.judge(subject, fault)
        assert not wrong, f"{fault} at {outcome.where}: {wrong}"
        reached += outcome.failed > 0
    assert reached > len(chosen) / 2  # how often some calls are made is a matter of time


@pytest.mark.parametrize("name", COMMANDS)
def test_a_failing_call_of_a_command_that_writes_results(desk, name):
    faults = desk.faults(name)
    step = max(1, len(faults) // OF_COMMAND)
    for fault in faults[SEED % step :: step]:
        outcome, wrong = desk.judge(name, fault)
        assert outcome.failed
        assert not wrong, f"{fault} at {outcome.where}: {wrong}"


def test_a_leak_is_seen(sanitized, tmp_path):
    """So that no leak above means something."""
    source = tmp_path / "leaks.c"
    source.write_text(
        "#include <stdlib.h>\n#include <vic.h>\n"
        "int main(void) { vic_t *card; vic_open(&card); return malloc(8) == (void *)card; }\n"
    )
    lib = sanitized.prefix / "lib"
    flags = [f"-I{sanitized.prefix / 'include'}", f"-L{lib}", f"-Wl,-rpath,{lib}", "-lvic"]
    talk, leaks = sanitized.talk, tmp_path / "leaks"
    build.compile_c([source], leaks, [*flags, *SANITIZE])
    seen = Bench(sanitized.prefix, leaks, sanitized.shim, tmp_path / "run", sanitized.before)
    outcome = seen.run(SUBJECTS[3], Fault("malloc", 0, 0))
    assert "LeakSanitizer" in outcome.err
    assert talk.exists()
