"""Does the manifest say where a run came from?"""

import subprocess

import pytest
from kept_run import keep

from dvsim.contract.load import load
from dvsim.table.manifest import Manifest, card_hash, git_state


@pytest.fixture
def kept(tmp_path):
    return keep(tmp_path)


def test_the_manifest_says_where_a_run_came_from(kept):
    manifest = kept.manifest
    assert manifest.scenario == "h3/fdr-8"
    assert manifest.started == "2026-01-02T03:04:05+00:00"
    assert (manifest.counts, manifest.wall_s) == ({"simulated_s": 2.5, "events": 7}, 0.5)
    assert {card.role for card in manifest.cards} == {"card", "publisher", "broker"}
    assert [one.name for one in manifest.reference] == ["h3_message_rates.csv"]
    assert manifest.host.packages["numpy"]
    assert Manifest.model_validate_json(manifest.encode()) == manifest


def test_the_hash_of_a_card_changes_with_any_parameter():
    link = load("h3/fdr-8").system.card
    other = load("h3/fdr-8", ['system.card.latency="21 us"']).system.card
    assert card_hash(link) == card_hash(load("h3/fdr-16").system.card)
    assert card_hash(link) != card_hash(other)


def test_outside_a_checkout_there_is_no_commit(tmp_path):
    assert git_state(tmp_path) is None


def test_a_checkout_without_a_commit_has_none(tmp_path):
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    assert git_state(tmp_path) is None


def test_a_checkout_has_its_commit_and_says_whether_it_is_dirty(tmp_path):
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    git = ["git", "-C", str(tmp_path), *identity]
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "first"], check=True)
    clean = git_state(tmp_path)
    assert len(clean.commit) == 40
    assert clean.dirty is False
    (tmp_path / "new").write_text("")
    assert git_state(tmp_path).dirty is True
