"""What is wrong with `--set` is told as what is wrong in a file."""

# ruff: noqa: E501 - a message stands on one line, as the user sees it

import pytest


@pytest.mark.parametrize(
    ("option", "fault"),
    [
        ("workload.mesages=1", "workload.mesages: unknown key; did you mean 'messages'?"),
        ("workload.messages=0", "workload.messages: must be at least 1, is 0"),
        ("workload.messages", "workload.messages: write key=value, for example workload.messages=1000"),
        ("=1", "=1: write key=value, for example workload.messages=1000"),
        ("workload..messages=1", "workload..messages=1: write key=value, for example workload.messages=1000"),
        ("workload.messages.x=1", "workload.messages.x: workload.messages is not a table"),
        ("workload=1", "workload: must be a table, not 1"),
        ("extends=x", "extends: belongs to the file and cannot be set"),
        ("system.card.sran=1 MiB", "system.card.sran: unknown key; did you mean 'sram'?"),
        ("system.card.sram=4.4 GHz", "system.card.sram: 'GHz' is not a unit of size; did you mean '4.4 GB'?"),
        ("system.card.port_rate=4.4 GHz", "system.card.port_rate: 'GHz' is not a unit of rate; did you mean '4.4 GB/s'?"),
        ("system.card.sram.value=1 MiB", "system.card.sram.value: set the parameter as a whole: system.card.sram=VALUE"),
        ("system.card=small-vorte", "system.card: no card 'small-vorte'; did you mean 'small-vortex'?"),
    ],
)  # fmt: skip
def test_a_wrong_option(desk, option, fault):
    assert desk.faults("mine.toml", [option]) == [f"overrides: {fault}"]


def test_a_card_that_the_transport_does_not_use_is_one_fault(desk):
    assert desk.faults("tcp.toml", ["system.bridge.sockets=2"]) == [
        "overrides: system.bridge: not used by transport 'tcp'"
    ]


def test_wrong_options_and_a_wrong_file_are_told_together(desk):
    desk.edit("mine.toml", "messages = 500", "messages = 0")
    assert desk.faults("mine.toml", ["x", "loop=shut"]) == [
        "overrides: x: write key=value, for example workload.messages=1000",
        "overrides: loop: must be 'open' or 'closed', not 'shut'",
        "mine.toml:6: workload.messages: must be at least 1, is 0",
    ]
