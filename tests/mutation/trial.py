"""Which tests are run against a mutant, in which order, until one fails."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from mutant import Mutant
from tree import Tree

FLOW = ("core_test", "vic_test", "receiver_test", "ranges_card_test")
CORE = ("model/test_core_limits.py", "model/test_core_bytes.py", "model/test_core_state.py")
CARD = ("model/test_core_limits.py", "unit/test_bounds.py", "unit/test_conservation.py",
        "unit/test_disorder.py", "unit/test_word_card.py", "unit/test_fabric.py",
        "unit/test_data_vortex.py")  # fmt: skip
CARD_WIDE = ("unit/test_sim_backend.py", "model/test_h3_fit.py")
CLAIMS = ("unit/test_claims.py", "unit/test_claims_words.py", "unit/test_claims_interval.py",
          "unit/test_verdict.py", "unit/test_goals.py",
          "unit/test_reference.py", "unit/test_ledger.py")  # fmt: skip


class Tests(NamedTuple):
    """What the mutants of a room have to pass: programs in C, then quick tests, then the rest."""

    programs: tuple[str, ...]
    quick: tuple[str, ...]
    wide: tuple[str, ...]


TESTS = {
    "models/engine": Tests(FLOW, CARD, CARD_WIDE),
    "models/card": Tests(FLOW, CARD, CARD_WIDE),
    "models/host": Tests(FLOW, CARD, CARD_WIDE),
    "models/vortex": Tests(
        ("network_test", "ranges_test", "vortex_test"),
        (*CORE, "unit/test_switch_input.py",
         "unit/test_switch_paths.py", "unit/test_switch_graph.py", "model/test_switch_core.py"),
        ("model/test_network_core.py", "unit/test_switch_api.py", "unit/test_switch_settled.py",
         "model/test_butterfly.py", "model/test_switch_theory.py", "model/test_network_theory.py"),
    ),
    "models/network": Tests(
        ("network_test", "ranges_test", "dead_cables_test"),
        (*CORE, "unit/test_network_input.py", "model/test_network_core.py",
         "unit/test_network_api.py", "unit/test_fabric.py"),
        ("unit/test_limit_kinds.py", "model/test_network_theory.py"),
    ),
    "models/workload": Tests(
        ("replay_test", "cycle_test"),
        ("model/test_replay_core.py", "model/test_cycle.py"),
        ("unit/test_replay_faults.py", "unit/test_skeletons.py", "unit/test_workload_kind.py"),
    ),
    "dvsim": Tests(
        (), CLAIMS,
        ("unit/test_dv_claims.py", "unit/test_report.py", "cli/test_validate.py",
         "model/test_h3_fit.py", "model/test_amps.py", "model/test_osu.py",
         "model/test_zeromq.py"),
    ),
}  # fmt: skip
FIRST = {
    "switch": "unit/test_dv_claims.py",
    "amps": "model/test_amps.py",
    "osu-qpid": "model/test_osu.py",
    "zeromq": "model/test_zeromq.py",
    "goals": "unit/test_goals.py",
    "reference": "unit/test_reference.py",
    "compare": "unit/test_verdict.py",
    "ledger": "unit/test_ledger.py",
    "study_figures": "unit/test_dv_claims.py",
}
"""Of a file of the claims: the tests that are most of all its own."""
DOCTESTS = (
    "dvsim/evidence/claims",
    "dvsim/evidence/published.py",
    "dvsim/evidence/overview.py",
)  # setup.cfg asks for them


class Stage(NamedTuple):
    """Something that a mutant has to pass."""

    name: str
    run: Callable[[float], str]


class Outcome(NamedTuple):
    """What became of a mutant: ``killed``, ``late``, ``survived``, ``same`` or ``broken``."""

    word: str
    by: str
    seconds: float


def room(path: str) -> str:
    """Return the key of `TESTS` that a file belongs to."""
    return "dvsim" if path.endswith(".py") else str(Path(path).parent)


@dataclass
class Bench:
    """A tree, and how long each stage takes in it when nothing is changed."""

    tree: Tree
    known: Path
    usual: dict[str, float] = field(default_factory=dict)

    def stages(self, path: str, *, wide: bool) -> list[Stage]:
        """Return what a mutant of a file has to pass, fastest first."""
        where = room(path)
        tests = TESTS[where]
        if wide:
            programs = (*tests.programs, "memory_test") if tests.programs else ()
            sanitized = [self._driver(name, "sanitized") for name in programs]
            return [*sanitized, *(self._tests(name, (name,)) for name in tests.wide)]
        first = [self._driver(name, "plain") for name in tests.programs]
        stem = Path(path).parent.name if path.startswith("scenarios") else Path(path).stem
        own = (FIRST[stem],) if stem in FIRST else ()
        last = DOCTESTS if where == "dvsim" else ()
        names = dict.fromkeys((*own, *tests.quick, *last))
        return [*first, self._tests(f"quick {own or where}", tuple(names))]

    def _driver(self, name: str, objects: str) -> Stage:
        return Stage(f"{name} {objects}", lambda most: self.tree.driver(name, objects, most))

    def _tests(self, name: str, arguments: tuple[str, ...]) -> Stage:
        places = [f"tests/{one}" if one.endswith(".py") else one for one in arguments]
        return Stage(name, lambda most: self.tree.tests(places, most))

    def limit(self, stage: Stage) -> float:
        """Return the seconds after which a stage that hangs is given up."""
        return 30 + 5 * self.usual[stage.name]

    def learn(self, path: str, *, wide: bool) -> None:
        """Run each stage of a file without a mutant, which has to pass; workers share this."""
        for stage in self.stages(path, wide=wide):
            if self.known.exists():
                self.usual = dict(json.loads(x) for x in self.known.read_text("utf-8").splitlines())
            if stage.name in self.usual:
                continue
            begin = time.monotonic()
            word = stage.run(600)
            if word != "passed":
                said = self.tree.log.read_text("utf-8", "replace")
                raise RuntimeError(f"{stage.name} {word} without a mutant:\n{said}")
            self.usual[stage.name] = time.monotonic() - begin
            with self.known.open("a", encoding="utf-8") as file:
                file.write(json.dumps([stage.name, self.usual[stage.name]]) + "\n")

    def outcome(self, mutant: Mutant, *, wide: bool) -> Outcome:
        """Return what became of a mutant."""
        begin = time.monotonic()
        with self.tree.changed(mutant):
            word, by = self._tried(mutant, wide)
        return Outcome(word, by, round(time.monotonic() - begin, 1))

    def _tried(self, mutant: Mutant, wide: bool) -> tuple[str, str]:
        word = self.tree.is_new(mutant)
        if word != "new":
            return word, ""
        compiled = not mutant.path.endswith(".py")
        if compiled and wide:
            self.tree.recompiled(mutant.path, "sanitized")
        for stage in self.stages(mutant.path, wide=wide):
            found = stage.run(self.limit(stage))
            if found != "passed":
                return ("killed" if found == "failed" else "late"), self.noticed_by(stage)
        return "survived", "all" if wide else "quick"

    def noticed_by(self, stage: Stage) -> str:
        """Return the test that failed, or the program."""
        said = re.findall(
            r"^(?:FAILED|ERROR) (\S+)", self.tree.log.read_text("utf-8", "replace"), re.M
        )
        return str(said[0]) if said else stage.name
