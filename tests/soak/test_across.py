"""The soak over hosts, in short: each kind of blow once. `make soak HOSTS=yes` is the long form."""

import across
import namespaces
import pytest
from account import Books, Faults, Tail

from dvsim.native import emulator_prefix

SECONDS, SEED = 1, 3


@pytest.fixture(scope="module")
def soaked(tmp_path_factory):
    namespaces.need(emulator_prefix(), "rabbitmqctl")
    return across.soak(tmp_path_factory.mktemp("across"), SECONDS, SEED)


def test_hosts_come_and_go_and_no_message_is_lost(soaked):
    scene, verdict = soaked
    print(across.table(scene, verdict))
    assert verdict.breaches == []
    assert verdict.count["confirmed"] > 100
    assert verdict.count["consumed"] >= verdict.count["confirmed"]


def test_all_was_dealt_and_jobs_ended_by_it(soaked):
    scene, _ = soaked
    assert set(scene.dealt) == set(across.KINDS)
    assert scene.jobs >= 1 + len(across.KINDS) - len(across.GOES_ON)


def test_its_books_would_notice_one_message_less_or_more(soaked):
    scene, _ = soaked
    rows = {path.stem: Tail(path).lines() for path in sorted(scene.folder.glob("*.journal"))}
    got = [row for row in rows["consumer0"] + rows["consumer1"] if row[0] == "D"]
    often = [(row[2], row[3]) for row in got]

    def confirmed(row):
        return int(row[3]) <= scene.books.sessions[int(row[2], 16)].confirmed_to

    first = next(row for row in got if often.count((row[2], row[3])) == 1 and confirmed(row))
    invented = [*first[:2], f"{0xBB:016x}", *first[3:]]
    for name in ("consumer0", "consumer1"):
        rows[name] = [invented if row is first else row for row in rows[name]]
    books = Books()
    for journal in sorted(rows, reverse=True):  # publishers first
        (books.published if "publisher" in journal else books.consumed)(rows[journal])
    found = books.judge(Faults(scene.faults, {0: ["broker"]})).breaches
    assert found[0] == f"lost: {first[2]}-{int(first[3]):016x}"
    assert f"invented: {0xBB:016x}-{int(first[3]):016x}" in found
