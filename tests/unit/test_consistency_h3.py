"""Does the examination find in the published data what people found in them?"""

import math

import pytest
from consistency_data import kinds

from dvsim.consistency import examine
from dvsim.scenario.find import reference_root

ROOT = reference_root()


@pytest.fixture(scope="module")
def findings():
    tables = (ROOT / "h3_message_rates.csv", ROOT / "h3_amqp_vs_dv.csv")
    sent = ROOT / "h3_run_configuration.csv"
    return examine(*tables, messages=sent, limits={"data-vortex": 4.4e9})


def only(findings, kind):
    (finding,) = [one for one in findings if one.kind == kind]
    return finding


def test_nothing_else_is_found(findings):
    expected = "average batches copied factor grid limit limit pieces repeated single"
    assert sorted(kinds(findings)) == expected.split()


def test_the_strongest_comes_first(findings):
    odds = [finding.log10_odds for finding in findings]
    assert odds == sorted(odds, reverse=True)


def test_all_data_vortex_columns_are_sampled_every_5_001_ms_and_no_infiniband_column(findings):
    grid = only(findings, "grid")
    assert grid.where == "data-vortex, all columns"
    assert "199.96" in grid.what
    assert any("5.0010000" in text and text.endswith(" ms") for text in grid.evidence)
    assert grid.strength == "overwhelming"


def test_values_off_the_grid_are_interpolated_quantiles(findings):
    assert only(findings, "grid").evidence[:2] == (
        "31 of 37 different values are multiples of 199.960007 ± 0.000003",
        "6 of the 6 others lie between two multiples, where linear interpolation for their count "
        "and quantile puts them",
    )


def test_messages_are_counted_in_pieces_of_131_words(findings):
    pieces = only(findings, "pieces")
    assert pieces.where == "data-vortex"
    assert "1041 to 1048 bytes (131 words of 8 bytes)" in pieces.what
    text = " ".join(pieces.evidence)
    assert "over 1/2 of the messages" in text  # two receivers
    assert "pieces of 1024 to 1170 bytes give 1, 1, 2, 8 per message" in text
    assert "a column holds 4 iterations" in text
    assert "126 is a multiple of 63" in text


def test_without_the_larger_sizes_a_piece_is_about_1_kib(tmp_path):
    text = (ROOT / "h3_message_rates.csv").read_text("utf-8").splitlines()
    kept = [line for line in text if "131072" not in line]
    (tmp_path / "rates.csv").write_text("\n".join(kept), "utf-8")
    found = examine(tmp_path / "rates.csv", messages=ROOT / "h3_run_configuration.csv")
    assert "each piece of 1024 to 1170 bytes" in only(found, "pieces").what


def test_counts_at_128_kib_are_multiples_of_63(findings):
    factor = only(findings, "factor")
    assert "multiples of 63" in factor.what
    assert "131072r3Combo-r1, 131072r3Combo-r2" in factor.where
    assert factor.evidence[0].startswith("9 of 9 ")
    assert factor.strength == "overwhelming"


def test_128_kib_is_above_the_limit_of_a_port_and_nothing_else_is(findings):
    above = [finding for finding in findings if finding.kind == "limit"]
    assert {finding.where.split()[1] for finding in above} == {
        "131072r3Combo-r1",
        "131072r3Combo-r2",
    }
    assert all("95% 67.7 GB/s" in finding.evidence[0] for finding in above)


def test_infiniband_has_one_sample_per_batch(findings):
    batches = only(findings, "batches")
    assert batches.where == "fdr-ipoib"
    assert "10,000 or 2,500 messages" in batches.what


def test_table_2_contradicts_itself(findings):
    average = only(findings, "average")
    assert math.isinf(average.log10_odds)
    assert average.strength == "certain"
    assert "rabbit_avg" in average.where
    assert len(average.evidence) == 3  # the mean and the std of 256 B, and what the others do
    assert "60,587.88" in only(findings, "repeated").evidence[0]


def test_table_2_carries_the_spread_of_other_columns(findings):
    copied = " ".join(only(findings, "copied").evidence)
    assert "rabbit_r1 of 256 std 102,772.37: data-vortex 256r3-r1" in copied
    assert "rabbit_r2 of 256 mean 18,782.31: data-vortex 256r3-r2" in copied


def test_means_of_table_2_are_single_samples(findings):
    assert "5 of 9 means" in only(findings, "single").what


def test_the_same_data_give_the_same_findings(findings):
    tables = (ROOT / "h3_message_rates.csv", ROOT / "h3_amqp_vs_dv.csv")
    sent = ROOT / "h3_run_configuration.csv"
    assert examine(*tables, messages=sent, limits={"data-vortex": 4.4e9}) == findings


def test_nothing_is_said_of_one_infiniband_column_alone(tmp_path):
    text = (ROOT / "h3_message_rates.csv").read_text("utf-8").splitlines()
    (tmp_path / "one.csv").write_text("\n".join([text[0], *(x for x in text if "8192B_r1" in x)]))
    assert examine(tmp_path / "one.csv", limits=4.4e9) == []
