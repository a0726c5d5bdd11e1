"""Do the packaged scenarios give the results that are kept, and is each change of one explained?"""

from __future__ import annotations

from pathlib import Path

import golden
import pytest
import update
from golden import (
    CHANGELOG,
    UNEXPLAINED,
    differences,
    entries,
    explained,
    family,
    fingerprint,
    line,
    path_of,
    read,
    results,
)

from dvsim.contract.load import load_campaign
from dvsim.session import run_scenarios

ENTRIES = [entry.name for entry in entries()]
FAMILIES = list(dict.fromkeys(map(family, ENTRIES)))


def command(name: str) -> str:
    return f".venv/bin/python tests/golden/update.py {name}"


@pytest.mark.parametrize("name", ENTRIES)
def test_does_a_scenario_give_the_kept_results(name: str) -> None:
    kept, lines = read(family(name)), []
    for scenario, found in results(name).items():
        if scenario in kept:
            lines += [f"{scenario}: {text}" for text in differences(kept[scenario], found)]
        else:
            lines.append(f"{scenario}: nothing is kept of it")
    if lines:
        pytest.fail(
            f"other results than those in tests/golden/{family(name)}.json\n"
            + "".join(f"  {text}\n" for text in lines)
            + "If that is not meant, it is a fault. If it is: "
            + f"{command(family(name))}\nwrites the new ones, and prints the line that "
            + "CHANGELOG.md then needs, to which you add what changed and why.",
            pytrace=False,
        )


@pytest.mark.parametrize("name", FAMILIES)
def test_are_results_kept_only_of_scenarios_that_there_are(name: str) -> None:
    there = [
        scenario.name
        for entry in ENTRIES
        if family(entry) == name
        for scenario in load_campaign(entry)
    ]
    assert list(read(name)) == there, f"see {command(name)}"


def test_is_there_a_file_for_each_family_and_no_other() -> None:
    found = {path.stem for path in path_of("h3").parent.glob("*.json")}
    assert found == set(FAMILIES)


@pytest.mark.parametrize("name", FAMILIES)
def test_does_the_changelog_explain_the_kept_results(name: str) -> None:
    if not explained(name, CHANGELOG.read_text("utf-8")):
        message = f"tests/golden/{name}.json changed; CHANGELOG.md needs, in the list of results:"
        pytest.fail(f"{message}\n{line(name)}{UNEXPLAINED}", pytrace=False)


def test_is_an_explanation_more_than_a_digest() -> None:
    assert explained("h3", f"# Changes\n\n{line('h3')}bodies cost the push more\n")
    assert not explained("h3", f"{line('h3')}{UNEXPLAINED}\n")
    assert not explained("h3", f"{line('h3')}\n- other\n")
    assert not explained("h3", f"{line('switch')}another family\n")


def test_does_a_changed_model_show_with_the_number_that_moved() -> None:
    kept = read("h3")["h3/dv-64"]
    found = results("h3/dv-64", ["system.bridge.push=41 us"])["h3/dv-64"]
    lines = differences(kept, found)
    assert any(text.startswith("r1, messages/s, mean: ") for text in lines), lines
    assert "rows of its table 'samples' differ" in lines


def test_does_one_picosecond_of_one_sample_show() -> None:
    (run,) = run_scenarios(
        load_campaign("h3/fdr-64"), replications=1, scale=0.05, workers=1, out=None
    )
    before, moved = fingerprint(run.sides["samples"]), run.sides["samples"].copy()
    assert before == read("h3")["h3/fdr-64"]["fingerprints"]["samples"]
    moved.loc[7, "start_ps"] += 1
    assert fingerprint(moved) != before
    kept = read("h3")["h3/fdr-64"]
    found = kept | {"fingerprints": {**kept["fingerprints"], "samples": fingerprint(moved)}}
    only = "rows of its table 'samples' differ, though the numbers that are kept do not"
    assert differences(kept, found) == [only]


def test_does_update_say_what_changed_and_what_the_changelog_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = path_of("amps").read_text("utf-8")
    monkeypatch.setattr(golden, "HERE", tmp_path)
    monkeypatch.setattr("sys.argv", ["update.py", "amps"])
    changed = kept.replace('"count": 4, "mean": ', '"count": 4, "mean": 1', 1)
    changed = changed.replace('"amps/delivery"', '"amps/gone"')
    path_of("amps").write_text(changed, "utf-8")
    was = line("amps")
    update.main()
    said = capsys.readouterr().out
    assert path_of("amps").read_text("utf-8") == kept
    assert "amps/acknowledgements: rate_out, over the points, mean: 1" in said
    assert "amps/delivery: new\n" in said and "amps/gone: gone\n" in said
    assert was not in said and line("amps") in said + CHANGELOG.read_text("utf-8")


def test_is_an_unknown_family_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["update.py", "h4"])
    with pytest.raises(SystemExit, match="no family 'h4'; there are amps, h3, "):
        update.main()
