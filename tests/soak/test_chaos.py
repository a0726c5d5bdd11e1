"""Does a seed say what happens, and an exit code what came of it?"""

from collections import Counter
from itertools import islice, pairwise

import pytest
import soak as whole
from account import Verdict
from chaos import plan
from churn import Churned

from dvsim.errors import RunFailed

PROGRAMS = ["bridge0", "bridge1", "publisher0", "publisher1", "consumer0"]
BROKERS = ["broker-a1", "broker-b1"]


def blows(seed, count=2000):
    return list(islice(plan(seed, PROGRAMS, BROKERS, ["bridge1", "publisher0"]), count))


def test_the_same_seed_deals_the_same_blows():
    assert blows(1) == blows(1)
    assert blows(1) != blows(2)


def test_everybody_has_its_turn_and_survivors_are_only_stopped():
    dealt = Counter((blow.target, blow.kind) for blow in blows(1))
    assert {target for target, _ in dealt} == {*PROGRAMS, *BROKERS}
    assert {kind for target, kind in dealt if target in ("bridge1", "publisher0")} == {"stop"}
    assert {kind for target, kind in dealt if target == "bridge0"} == {"kill", "term", "stop",
                                                                       "kill-join"}  # fmt: skip
    assert {kind for target, kind in dealt if target == "broker-a1"} == {"kill", "term", "stop"}
    assert all(before.at_s <= after.at_s for before, after in pairwise(blows(1)))


@pytest.mark.parametrize(
    ("lost", "churned", "code", "said"),
    [
        ([], [], 0, "seed 4, 1 min: no promise broken"),
        (["aa-01"], [], 1, "BROKEN: lost: aa-01"),
        ([], ["a program that was to 'close' ended with 5"], 1, "BROKEN: a program that was to"),
    ],
)
def test_what_is_broken_is_said_and_is_the_exit_code(
    monkeypatch, capsys, tmp_path, lost, churned, code, said
):
    verdict = Verdict()
    verdict.add("lost", lost)
    monkeypatch.setattr(whole, "soak", lambda *_: (None, verdict))
    monkeypatch.setattr(whole.churn, "churn", lambda *_: Churned(1.0, breaches=churned))
    monkeypatch.setattr(whole, "table", lambda *_: "the table")
    assert whole.main(["--minutes", "1", "--seed", "4", "--out", str(tmp_path / "new")]) == code
    assert said in capsys.readouterr().out


def test_a_soak_that_cannot_go_on_says_where_its_logs_are(monkeypatch, capsys, tmp_path):
    def fails(*_):
        raise RunFailed("the job has ended, with exit code 1")

    monkeypatch.setattr(whole, "soak", fails)
    assert whole.main(["--seed", "4", "--out", str(tmp_path / "new")]) == 1
    said = capsys.readouterr().err
    assert f"the job has ended, with exit code 1; seed 4, logs in '{tmp_path / 'new'}'" in said


def test_a_folder_with_other_things_is_not_emptied(capsys, tmp_path):
    (tmp_path / "thesis").write_text("mine")
    with pytest.raises(SystemExit) as caught:
        whole.main(["--out", str(tmp_path)])
    assert caught.value.code == 2
    assert "holds, something that is not of a soak" in capsys.readouterr().err
    assert (tmp_path / "thesis").read_text() == "mine"
