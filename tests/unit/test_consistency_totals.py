"""Are pieces of messages and batches of them found by their totals?"""

import re

import numpy as np
import pandas as pd
import pytest
from consistency_data import kinds, summary

from dvsim.consistency import examine

SIZES = (8, 256, 1024, 2048, 8192)
INTERVAL = 0.005001


def runs(piece, receivers, lost=0.003):
    """Return rates in pieces per second, sampled every interval, and what was sent."""
    rng = np.random.default_rng(1)
    rows, sent = [], []
    for size in SIZES:
        count = rng.negative_binomial(1, 0.01, 20_000) * (rng.random(20_000) < 0.3)
        for run in ("r1", "r2"):
            rates = rng.permutation(count) / INTERVAL
            rows += summary(rates, f"{size}-{run}", size=size)
        pieces = -(-size // piece)
        messages = round(receivers * count.sum() / pieces / (1 - lost))
        sent.append({"message_bytes": size, "messages": messages, "iterations": 2})
    return pd.DataFrame(rows), pd.DataFrame(sent)


@pytest.mark.parametrize(("piece", "receivers"), [(1000, 2), (2000, 1), (1000, 3)])
def test_the_size_of_a_piece_is_found(piece, receivers):
    rates, sent = runs(piece, receivers)
    (finding,) = [one for one in examine(rates, messages=sent) if one.kind == "pieces"]
    low, high = (
        int(text) for text in re.findall("pieces of (.*) to (.*) bytes", finding.evidence[1])[0]
    )
    assert low <= piece <= high
    assert high < 2.1 * low
    share = f"1/{receivers} of the messages" if receivers > 1 else "over the messages"
    assert share in finding.evidence[0]


def test_totals_that_are_no_whole_numbers_of_messages_are_no_finding():
    rates, sent = runs(1000, 2)
    sent["messages"] = (sent["messages"] * [0.8, 0.7, 0.9, 0.6, 0.85]).astype(int)
    assert "pieces" not in kinds(examine(rates, messages=sent))


def test_pieces_need_what_was_sent():
    assert "pieces" not in kinds(examine(runs(1000, 2)[0]))


def batched(batch):
    rng = np.random.default_rng(2)
    rows, sent = [], []
    for size, messages in ((8, 3_990_000), (256, 2_100_000), (2048, 1_470_000)):
        for run in ("r1", "r2"):
            samples = rng.lognormal(11, 0.2, messages // batch)
            rows += summary(samples, f"{size}-{run}", size=size)
        sent.append({"message_bytes": size, "messages": messages})
    return pd.DataFrame(rows), pd.DataFrame(sent)


def test_one_sample_per_batch_is_found():
    rates, sent = batched(3000)
    (finding,) = examine(rates, messages=sent)
    assert finding.kind == "batches"
    assert "3,000 messages" in finding.what
    assert "8 B: 1,330 samples x 3,000 = 3,990,000 messages" in finding.evidence


def test_counts_that_do_not_divide_the_messages_are_no_batches():
    rates, sent = batched(3000)
    sent.loc[0, "messages"] += 1
    assert examine(rates, messages=sent) == []
