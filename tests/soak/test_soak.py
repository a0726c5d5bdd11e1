"""The soak, in short: a seed with which all there is gets killed within ten seconds.

`make soak` is the long form. Two messages that no publisher sent are put into the queue of a card,
so that the checks of the programs are seen to work where they are.
"""

import churn
import drained
import pytest
import soak as whole
from account import Books, Faults, Tail

SECONDS, SEED = 10, 25
NOBODY = 0xBB


def name(number):
    return f"{NOBODY:016x}-{number:016x}"


def plant(scene):
    """An altered message, and one that is whole and of nobody, both for consumer cards."""
    broker = scene.brokers["broker-a1"]
    body = drained.body_of(7, NOBODY, 1, b"0123456789")
    altered = body.replace(b"5", b"6")
    drained.publish(broker, scene.nodes, 0, name(1), altered)
    drained.publish(broker, scene.nodes, 0, name(2), drained.body_of(7, NOBODY, 2, b""))


@pytest.fixture(scope="module")
def soaked(tmp_path_factory):
    return whole.soak(tmp_path_factory.mktemp("soak"), SECONDS, SEED, rate=450, planted=plant)


def test_everything_dies_and_no_message_is_lost(soaked):
    scene, verdict = soaked
    print(whole.table(scene, verdict))
    assert verdict.breaches == [f"altered: {name(1)}", f"invented: {name(2)}"]
    assert verdict.count["confirmed"] > 500
    assert verdict.count["order looked at"] > 100


def test_it_was_worth_looking_at(soaked):
    """Programs and brokers were killed, and have ended in order later."""
    scene, _ = soaked
    struck = {(f.target.rstrip("0123456789"), f.kind) for f in scene.chaos.faults}
    assert {("publisher", "kill"), ("consumer", "kill"), ("bridge", "kill")} <= struck
    assert ("broker-b", "kill") in struck
    assert all(program.codes[-1] == 0 for program in scene.programs.values())
    assert not any(program.here for program in scene.programs.values())


def came_once(scene, row):
    session, number = scene.books.sessions.get(int(row[2], 16)), int(row[3])
    return session and session.seen[number] == 1 and number <= session.confirmed_to


def test_its_books_would_notice_if_one_message_had_not_come(soaked):
    scene, _ = soaked
    rows = {path.stem: Tail(path).lines() for path in sorted(scene.folder.glob("*.journal"))}
    first = next(row for row in rows["consumer0"] if row[0] == "D" and came_once(scene, row))
    rows["consumer0"].remove(first)
    books = Books()
    for journal in sorted(rows, reverse=True):  # publishers first
        (books.published if "publisher" in journal else books.consumed)(rows[journal])
    lost = books.judge(Faults(scene.chaos.faults, scene.known_to())).breaches[0]
    assert lost.startswith("lost: ") and f"{first[2]}-{int(first[3]):016x}" in lost


def test_cards_come_and_go_and_leave_nothing(tmp_path):
    churned = churn.churn(tmp_path, 3, SEED)
    assert churned.breaches == []
    assert set(churned.ends) == set(churn.CODES)
