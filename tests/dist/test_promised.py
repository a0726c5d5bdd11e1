"""Does what was made for an earlier dvsim of this version still work: programs, commands, files?"""

from __future__ import annotations

import promised
import pytest

import dvsim


@pytest.fixture(scope="module")
def now():
    return promised.promised()


def test_nothing_that_was_promised_is_gone(now):
    gone = sorted(set(promised.kept()[1]) - set(now))
    assert gone == [], "what users wrote breaks: put it back, or see docs/versions.md"


def test_what_was_added_is_promised_from_now_on(now):
    assert sorted(set(now) - set(promised.kept()[1])) == [], "python tests/dist/promised.py adds it"


def test_the_list_belongs_to_this_version():
    assert promised.kept()[0] == promised.breaking(dvsim.__version__)
    assert promised.breaking("0.1.7") == "0.1" and promised.breaking("2.3.4") == "2"


@pytest.mark.parametrize(
    "line",
    [
        "libvic: symbol vic_put@@VIC_0.1: int vic_put(vic_t *, uint32_t, uint32_t, uint64_t *,"
        " size_t, unsigned int)",
        "libvic: constant VIC_EPEER = -5",
        "libvic: macro VIC_NO_COUNTER 63u",
        "libvic: packet to 0, op 0, word 0, counter 63: 0xfc00000",
        "command: dvsim run scenarios...",
        "command: dvsim run --seed integer",
        "command: dvsim report --format svg",
        "command: dvsim broker up --nodes integer",
        "file: card link mtu",
        "file: rabbitmq file loop",
        "file: rabbitmq Workload message_bytes",
        "file: switch TrafficTable hot",
        "json: points origin",
        "json: values verdict",
        "json: facts results",
        "python: dvsim.vic.Card",
        "python: dvsim.run: seed",
    ],
)
def test_the_list_has_things_of_every_kind(now, line):
    """So that it is not empty by mistake."""
    assert line in now


def test_the_list_has_the_places_in_structs(now):
    (attributes,) = (line for line in now if line.startswith("libvic: struct vic_attr: "))
    assert "28 bytes, aligned to 4: uint32_t card at 0, uint32_t cards at 4, " in attributes


def test_a_removal_needs_another_version(now, tmp_path, monkeypatch, capsys):
    before = "\n".join([f"dvsim {promised.breaking(dvsim.__version__)}", *now, "zzz an old thing"])
    monkeypatch.setattr(promised, "KEPT", tmp_path / "promised.txt")
    monkeypatch.setattr(promised, "promised", lambda: now)
    promised.KEPT.write_text(before, "utf-8")
    assert promised.main() == 1
    assert "zzz an old thing" in capsys.readouterr().out
    assert promised.KEPT.read_text("utf-8") == before
    promised.KEPT.write_text(before.replace("dvsim ", "dvsim 9.", 1), "utf-8")
    assert promised.main() == 0
    assert promised.kept() == (promised.breaking(dvsim.__version__), now)
