"""Do the books notice what they are kept for? Journals are written by hand here."""

import pytest
from account import Books, Fault, Faults, Tail

S = "00000000000000aa"
ID = f"{S}-{{:016x}}"
SECOND = 1_000_000_000


def publisher(*, confirmed=(3, 6), repeated=0, refused=()):
    """Return batches 1..3 and 4..6 of one session, a second each, from 10 s and from 20 s."""
    rows = []
    for batch, last in enumerate(confirmed, 1):
        at = 10 * batch * SECOND
        rows.append(["B", S, str(last - 2), str(last), "0", str(at)])
        rows += [["R", S, str(n), str(at)] for n in refused if last - 2 <= n <= last]
        named = sum(n <= last for n in refused)
        rows.append(["C", S, str(last), str(at + SECOND), str(repeated), str(named)])
    return rows


def consumer(*numbers, again=(), good=True, session=S, life="l1", name="0", at_s=11.0):
    """Return what one life of a consumer says, a delivery each ms."""
    rows = [["O", life, name, "0", "0"]]
    for k, number in enumerate(numbers):
        at = int(at_s * SECOND) + k * 1_000_000
        flags = str(int(number in again)), str(int(good))
        rows.append(["D", life, session, str(number), *flags, "0", str(at)])
    return rows


def judged(sent, *lives, faults=()):
    books = Books()
    books.published(sent)
    for life in lives:
        books.consumed(life)
    return books.judge(Faults(faults, {0: ["broker-a"]}))


def test_what_came_as_it_should_is_no_breach():
    verdict = judged(publisher(), consumer(1, 2, 3, 4, 5, 6))
    assert verdict.breaches == []
    assert verdict.count["confirmed"] == verdict.count["consumed"] == 6
    assert verdict.count["order looked at"] == 6


def test_a_lost_message_is_named():
    verdict = judged(publisher(), consumer(1, 2, 3, 4, 6))
    assert verdict.breaches == [f"lost: {ID.format(5)}"]


def test_many_lost_messages_are_counted():
    verdict = judged(publisher(confirmed=(3, 6, 9, 12, 15)), consumer(1))
    assert verdict.count["lost"] == 14
    assert verdict.breaches[0].endswith("and 4 more")


def test_an_altered_message_is_named_and_is_not_there():
    rows = consumer(1, 2, 3, 4, 5) + consumer(6, good=False)[1:]
    assert judged(publisher(), rows).breaches == [
        f"lost: {ID.format(6)}",
        f"altered: {ID.format(6)}",
    ]


@pytest.mark.parametrize(("session", "number"), [(S, 7), (S, 0), ("00000000000000bb", 1)])
def test_a_message_that_nobody_sent_is_named(session, number):
    rows = consumer(1, 2, 3, 4, 5, 6) + consumer(number, session=session)[1:]
    assert judged(publisher(), rows).breaches == [f"invented: {session}-{number:016x}"]


def test_what_was_returned_or_not_answered_may_be_either():
    open_end = [*publisher(refused=[2]), ["B", S, "7", "9", "0", str(30 * SECOND)]]
    for came in [(1, 3, 4, 5, 6), (1, 2, 3, 4, 5, 6, 8)]:
        verdict = judged(open_end, consumer(*came))
        assert verdict.breaches == []
        assert verdict.count["returned or refused"] == 1
        assert verdict.count["not answered"] == 3
        assert verdict.count["consumed, not confirmed"] == len(came) - 5


def test_a_refusal_that_is_counted_and_not_named_is_a_fault_of_the_client():
    with pytest.raises(ValueError, match="1 refused, 0 named"):
        judged([["B", S, "1", "1", "0", "0"], ["C", S, "1", "5", "0", "1"]])


TWICE = (1, 2, 2, 3, 4, 5, 6)


@pytest.mark.parametrize(
    ("fault", "excused"),
    [
        (None, False),
        (Fault("broker-a", "kill", 10 * SECOND, 12 * SECOND), True),
        (Fault("broker-a", "kill", 1 * SECOND, 2 * SECOND), False),
        (Fault("broker-b", "kill", 10 * SECOND, 12 * SECOND), False),
        (Fault("bridge0", "stop", 10 * SECOND, 12 * SECOND), True),
        (Fault("bridge0", "lost", 10 * SECOND, 12 * SECOND), True),
        (Fault("bridge0", "kill", 10 * SECOND, 12 * SECOND), False),  # its publisher would know
    ],
)
def test_a_message_is_published_twice_only_where_a_confirm_was_lost(fault, excused):
    verdict = judged(publisher(), consumer(*TWICE), faults=[fault] if fault else [])
    assert verdict.count["duplicates"] == verdict.count["of them published twice"] == 1
    assert verdict.breaches == ([] if excused else [f"twice without a reason: {ID.format(2)}"])


def test_a_publisher_that_repeated_says_so():
    assert judged(publisher(repeated=1), consumer(*TWICE)).breaches == []


@pytest.mark.parametrize(
    ("fault", "excused"),
    [
        (None, False),
        (Fault("consumer0", "kill", 11 * SECOND, 12 * SECOND), True),
        (Fault("consumer0", "term", 11 * SECOND, 12 * SECOND), False),  # it had acknowledged
        (Fault("consumer1", "kill", 13 * SECOND, 14 * SECOND), False),
        (Fault("bridge0", "kill", 11 * SECOND, 12 * SECOND), True),
    ],
)
def test_a_message_is_delivered_again_only_where_an_ack_was_lost(fault, excused):
    lives = (consumer(1, 2, 3, 4, 5, 6, at_s=10),
             consumer(2, again=[2], life="l2", name="1", at_s=12))  # fmt: skip
    verdict = judged(publisher(), *lives, faults=[fault] if fault else [])
    assert verdict.count["duplicates"] == 1
    assert verdict.breaches == ([] if excused else [f"twice without a reason: {ID.format(2)}"])


def test_messages_out_of_order_are_named():
    assert judged(publisher(), consumer(1, 2, 4, 3, 5, 6)).breaches == [
        f"out of order: {ID.format(3)}"
    ]


def test_order_is_that_of_each_consumer_and_not_of_what_came_again():
    apart = consumer(1, 3, 5), consumer(2, 4, 6, life="l2", name="1")
    assert judged(publisher(), *apart).breaches == []
    again = judged(publisher(), consumer(1, 3, 4, 2, 5, 6, again=[2]))
    assert again.breaches == []
    assert again.count["order looked at"] == 5


def test_a_line_that_a_kill_cut_short_is_not_taken(tmp_path):
    path = tmp_path / "journal"
    path.write_text(f"\nB {S} 1 3 0 5 .\nC {S} 3 9 0\n\nE {S} 12")
    tail = Tail(path)
    assert tail.lines() == [["B", S, "1", "3", "0", "5"]]
    assert tail.torn == 1
    with path.open("a") as file:
        file.write("34 .\n")
    assert tail.lines() == [["E", S, "1234"]]
    assert tail.lines() == []
