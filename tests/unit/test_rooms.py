"""Do imports run one way between the rooms, as CONTRIBUTING.md says?"""

import ast
import re
from pathlib import Path

import pytest

import dvsim

ROOT = Path(dvsim.__file__).parent
EVERYWHERE = {"errors", "_version"}
BELOW = {  # what each room may know
    "scenario": "",
    "kinds.base": "scenario",
    "kinds.spec": "scenario",
    "kinds.load": "kinds.base kinds.spec scenario",
    "kinds.study": "kinds.base pool progress study.results scenario",
    "kinds": (
        "broker core emulation fabric kinds.base kinds.spec kinds.study pool progress scenario "
        "study.results"
    ),
    "core": "scenario",
    "study.results": "kinds.base kinds.load kinds.spec scenario",
    "fabric": "core study.results scenario",
    "broker": "native",
    "emulation": "broker core kinds.base kinds.spec native study.results scenario",
    "pool": "",
    "progress": "",
    "evidence": (
        "broker emulation kinds kinds.base kinds.load kinds.spec scenario study study.results"
    ),
    "report": "evidence kinds kinds.base kinds.spec study.results scenario",
    "arguments": "",
    "study": "core emulation kinds.base kinds.load pool progress study.results scenario",
    "session": "core emulation kinds.base pool study.results scenario study",
    "cli": (
        "core pool broker emulation evidence fabric kinds kinds.base kinds.load kinds.spec "
        "native progress report study.results scenario session study"
    ),
    "native": "",
    "vic": "native",
}


UPWARDS = {  # what a switch refuses is refused, by the switch itself, when a scenario is read
    "kinds/switch/spec.py": {"fabric"},
    "study/run.py": {"report"},  # a run in a notebook draws itself
}


def room_of(module):
    """Return the room of a dotted name: ``dvsim.core.card`` is of ``core``.

    Of the kinds there are five: the contract, what files hold, what reads them, studies, packages;
    of studies two: what came out, and what runs them.
    """
    _, room, *inner = f"{module}.".split(".")
    if room == "study" and inner[0] not in RUNNING:
        return "study.results"
    if room != "kinds" or inner == [""]:
        return room
    if inner[1] == "spec":
        return "kinds.spec"
    if inner[0] in PACKAGES:
        return "kinds"
    return {"base": "kinds.base", "points": "kinds.study", "study": "kinds.study"}.get(
        inner[0], "kinds.load"
    )


RUNNING = ("", "arguments", "design", "execute", "limit", "sweeps")

PACKAGES = {path.parent.name for path in (ROOT / "kinds").glob("*/__init__.py")}


def imported(path):
    """Return the dvsim modules that a file imports, wherever in it, for types only or not."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (item.name for item in node.names if item.name.startswith("dvsim"))
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            if node.module == "dvsim":
                yield from (f"dvsim.{item.name}" for item in node.names)
            elif node.module.startswith("dvsim."):
                yield node.module


def modules():
    """Return every file of dvsim with the name of its module."""
    paths = [path.relative_to(ROOT) for path in ROOT.rglob("*.py")]
    named = {path: ".".join(("dvsim", *path.with_suffix("").parts)) for path in paths}
    own = {path: name.removesuffix(".__init__") for path, name in named.items()}
    return {ROOT / path: name for path, name in own.items() if not str(path).startswith("_")}


def files_of(room):
    return [path for path, module in modules().items() if room_of(module) == room]


@pytest.mark.parametrize("room", BELOW)
def test_a_room_knows_only_those_below(room):
    allowed = {room, *BELOW[room].split(), *EVERYWHERE}
    wrong = {
        f"{path.relative_to(ROOT)} imports {module}"
        for path in files_of(room)
        for module in imported(path)
        if room_of(module) not in allowed | UPWARDS.get(str(path.relative_to(ROOT)), set())
    }
    assert wrong == set()


def test_no_module_of_evidence_imports_itself_by_way_of_others():
    known = {
        ".".join(path.relative_to(ROOT.parent).with_suffix("").parts): path
        for path in files_of("evidence")
    }
    known = {name.removesuffix(".__init__"): set(imported(path)) for name, path in known.items()}

    def circle(name, way):
        if name in way:
            return [*way[way.index(name) :], name]
        below = (circle(other, [*way, name]) for other in known.get(name, ()))
        return next(filter(None, below), None)

    assert [found for name in known if (found := circle(name, []))] == []


def test_every_room_has_its_place():
    rooms = {room_of(module) for module in modules().values()}
    assert rooms - EVERYWHERE == set(BELOW)


def test_claims_of_a_source_know_evidence_and_scenarios_only():
    files = sorted(ROOT.parent.glob("scenarios/*/claims.py"))
    assert len(files) == 6
    known = {module for path in files for module in imported(path)}
    assert {room_of(module) for module in known} <= {"evidence", "kinds", "kinds.spec", "scenario"}
    assert {module for module in known if room_of(module) == "evidence"} == {
        "dvsim.evidence.claims"
    }


@pytest.mark.parametrize("package", sorted(PACKAGES))
def test_a_kind_knows_no_other(package):
    others = tuple(f"dvsim.kinds.{other}" for other in PACKAGES - {package})
    files = (ROOT / "kinds" / package).rglob("*.py")
    assert [p.name for p in files if any(m.startswith(others) for m in imported(p))] == []


def test_there_are_twelve_packages_and_no_more():
    assert len(list(ROOT.glob("*/__init__.py"))) <= 12


ARGUMENT = r"[^()]*(?:\([^()]*\)[^()]*)*"
OF_KINDS = re.compile(rf"isinstance\({ARGUMENT}, \w*(?:Study|Scenario|Run)\)")


def outside_kinds(what):
    """Return what a pattern finds in each module outside the kinds, where it finds any."""
    found = {
        str(path.relative_to(ROOT)): what.findall(path.read_text("utf-8"))
        for path, module in modules().items()
        if room_of(module) not in ("kinds", "kinds.spec")
    }
    return {path: texts for path, texts in found.items() if texts}


def test_only_kinds_ask_for_the_class_of_a_scenario_or_result():
    assert outside_kinds(OF_KINDS) == {}
    assert OF_KINDS.search("if isinstance(sweep.study, MessagingStudy):")


WORDS_OF_KINDS = re.compile(r"""over_vortex|["'](?:data-vortex|tcp)["']""")


def test_only_kinds_name_their_transports():
    assert outside_kinds(WORDS_OF_KINDS) == {}
    assert WORDS_OF_KINDS.search("if scenario.system.over_vortex:")
    assert WORDS_OF_KINDS.search('system.transport == "tcp"')
