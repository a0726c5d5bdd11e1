"""Files that are no scenario at all are told by name and line."""

# ruff: noqa: E501 - a message stands on one line, as the user sees it

import pytest

ELF = b"\x7fELF\x02\x01\x01\x00"


@pytest.mark.parametrize(
    ("raw", "fault"),
    [
        (b'title = "x"\nquestion = "y', "mine.toml:2: not TOML: Unterminated string (the file ends here)"),
        (b'title = "x"\n[work', "mine.toml:2: not TOML: Expected ']' at the end of a table declaration (the file ends here)"),
        (b"a = 1\na = 2\n", "mine.toml:2: not TOML: Cannot overwrite a value (column 6)"),
        (b"a = 1\n\xff\xfe", "mine.toml:2: not a text file: byte 0xff has no place in it"),
        (ELF, "mine.toml:1: not a text file: byte 0x00 has no place in it"),
        (b"a = " + b"[" * 5000, "mine.toml: nested too deeply"),
        (b"a = " + b"9" * 5000, "mine.toml: not TOML: a number of too many digits"),
    ],
    ids=["cut text", "cut table", "twice", "latin", "binary", "deep", "long number"],
)  # fmt: skip
def test_a_broken_file(desk, raw, fault):
    (desk / "mine.toml").write_bytes(raw)
    assert desk.faults("mine.toml") == [fault]


def test_an_empty_file_lacks_everything(desk):
    (desk / "mine.toml").write_bytes(b"")
    keys = ("title", "question", "source", "loop", "workload", "system", "probe")
    assert desk.faults("mine.toml") == [f"mine.toml:1: {key}: missing" for key in keys]


def test_a_broken_card_file(desk):
    (desk / "cards/small-link.toml").write_bytes(b"name = ")
    fault = "cards/small-link.toml:1: not TOML: Invalid value (the file ends here)"
    assert desk.faults("tcp.toml") == [fault]


def test_a_file_that_may_not_be_read(desk, monkeypatch):
    from pathlib import Path

    def refuse(self):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert desk.faults("mine.toml") == ["mine.toml: cannot be read: Permission denied"]


def test_a_common_part_is_not_run(desk):
    fault = "this file is a common part of others; name one that extends it"
    assert desk.faults("base.toml") == [f"base.toml:1: abstract: {fault}"]


def test_a_campaign_is_not_one_scenario(desk):
    (desk / "all.toml").write_text('title = "t"\nquestion = "q"\ncampaign = ["mine"]\n')
    fault = "is a campaign of several scenarios; name one of them"
    assert desk.faults("all.toml") == [f"all.toml:3: campaign: {fault}"]
