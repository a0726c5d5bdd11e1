"""Does a wrong call in Python say which argument is wrong, in the words of Python?"""

import ast
import math
import pickle
import re
from pathlib import Path

import numpy as np
import pytest

import dvsim

PROGRAMS = {  # what is written for other programs, or is one
    "broker/compile_bridge.py", "broker/node.py", "emulation/own_bridge.py", "emulation/queues.py",
    "kinds/rabbitmq/emu/data_vortex.py", "kinds/rabbitmq/emu/left.py", "kinds/rivals/caminos.py",
    "table/manifest.py",
}  # fmt: skip
REDUCE = Path(dvsim.__file__).parents[1] / "scenarios" / "workload" / "reduce-8.goal"
COMMAND = re.compile(r"dvsim [a-z]+ .*--[a-z]")


def texts(tree):
    """Yield each text of a module that is no docstring."""
    docs = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    parts = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts |= {id(part) for part in node.values}
            yield node.lineno, ast.unparse(node)
        elif isinstance(node, ast.Constant) and id(node) not in docs | parts:
            yield node.lineno, str(node.value)


def test_the_library_names_no_option_but_in_a_command_that_it_quotes():
    package, found, known = Path(dvsim.__file__).parent, [], set()
    for path in sorted(package.rglob("*.py")):
        name = path.relative_to(package).as_posix()
        if name.startswith(("cli/", "core/_")) or path.name == "verb.py":
            continue
        named = [
            f"{name}:{line}: {text!r}"
            for line, text in texts(ast.parse(path.read_text("utf-8")))
            if re.search(r"(?<![\w-])--[a-z]", text) and not COMMAND.search(text)
        ]
        known |= {name} & PROGRAMS if named else set()
        found += named if name not in PROGRAMS else []
    assert found == []
    assert known == PROGRAMS


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"seed": -1}, "seed: -1 is negative"),
        ({"replications": 0}, "replications: 0 is less than 1"),
        ({"workers": 0}, "workers: 0 is less than 1"),
        ({"scale": 0}, "scale: 0 is not above 0 and at most 1000"),
        ({"precision": 5}, "precision: 5 is not a share from 0.001 to 0.5"),
        ({"backend": None}, "backend: no such backend 'None'"),
        ({"backend": "simm"}, "backend: no such backend 'simm'"),
        ({"replication": 3}, "overrides: replication: unknown key; did you mean 'replications'?"),
        ({"sede": 3}, "overrides: sede: unknown key; did you mean 'seed'?"),
        ({"sokets": 3}, "overrides: sokets: unknown key; did you mean 'system.bridge.sockets'?"),
        ({"sram": "x"}, "overrides: system.card.sram: 'x' is not a size"),
    ],
)
def test_of_a_run(asked, said):
    with pytest.raises(dvsim.ScenarioError) as caught:
        dvsim.run("h3/dv-8", **asked)
    assert str(caught.value).startswith(said)
    assert "--" not in str(caught.value)


@pytest.mark.parametrize(
    ("vary", "asked", "said"),
    [
        ({"sokets": [1, 2]}, {}, "vary: sokets: unknown key"),
        ({"sockets": [1, 2]}, {"sockets": 3}, "vary: system.bridge.sockets: is given twice"),
        ({"sockets": [1, 2]}, {"together": ["sockets,foo"]}, "together: sockets,foo: 'foo' is not"),
        ({"sockets": [1, 2]}, {"together": "sockets,foo"}, "together: sockets,foo: 'foo' is not"),
        ({"sockets": [1, 2]}, {"where": "socket < 2"}, "where: socket < 2: 'socket' is not varied"),
        ({"sockets": [1, 2]}, {"sample": "sobol:3"}, "sample: sobol:3: 3 is no power of two"),
        ({"sockets": [1, 2]}, {"scale": -1}, "scale: -1 is not above 0"),
    ],
)
def test_of_a_sweep(vary, asked, said):
    with pytest.raises(dvsim.ScenarioError) as caught:
        dvsim.sweep("h3/dv-8", vary, **asked)
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"fabric": None}, "None: fabric: no such fabric"),
        ({"compute": None}, "compute: must be measured"),
        ({"straggler": 3}, "straggler: must be RANK:FACTOR"),
        ({"straggler": (0, math.nan)}, "straggler: must be RANK:FACTOR"),
        ({"placement": math.inf}, "placement: must be linear"),
        ({"placement": [0, 1, 2, 3, 4, 5, 6, 2**64]}, "dv203: placement: the ports are 0 to 7"),
        ({"faults": "dead plan=3"}, "faults: dead plan=3: "),
        ({"faults": [3]}, "faults: 3: must begin with dead"),
        ({"seed": "x"}, "seed: 'x' is not a whole number"),
    ],
)
def test_of_a_replay(asked, said):
    with pytest.raises(dvsim.ScenarioError) as caught:
        dvsim.replay(REDUCE, **asked)
    assert str(caught.value).startswith(said)


def test_numbers_of_numpy_are_numbers():
    asked = {"seed": np.int64(3), "replications": np.int64(2), "scale": np.float64(0.001)}
    rate = dvsim.run("h3/fdr-8", **asked).rate
    swept = dvsim.sweep("h3/fdr-8", {"message_bytes": np.array([8])}, **asked)
    found = swept.estimates().set_index("metric")["value"]
    assert found["delivered_rate"] == rate.value
    slow = dvsim.replay(REDUCE, seed=np.int64(3), straggler=(np.int64(0), np.float64(2)))
    assert slow.time_ns == dvsim.replay(REDUCE, straggler=(0, 2)).time_ns


def test_the_largest_seed_is_one_of_faulty_ports_too():
    asked = {"scale": 0.01, "replications": 1, "network": "dv", "seed": 2**64 - 1}
    run = dvsim.run("workload/reduce-8", faults=["lossy port=0 chance=0.5"], **asked)
    assert run.seed == 2**64 - 1


def test_a_file_is_named_by_its_line_as_ever(desk):
    path = desk.edit("mine.toml", "messages = 500", "mesages = 500")
    with pytest.raises(dvsim.ScenarioError, match=r"mine.toml:6: workload.mesages: unknown key"):
        dvsim.load(path)


@pytest.mark.parametrize("scale", ["0.01", True])
def test_a_scale_that_is_no_number_is_refused_by_its_name(scale):
    with pytest.raises(dvsim.ScenarioError, match=rf"^scale: {scale!r} is not a number$"):
        dvsim.run("h3/dv-8", scale=scale)


def test_a_name_is_no_run_and_a_text_says_nothing_of_several_values():
    for wrong in ("h3", None):
        with pytest.raises(TypeError, match=f"validate takes what run returned, not {wrong!r}"):
            dvsim.validate(wrong)
    with pytest.raises(TypeError, match="vary: sockets takes a list, or a range in a text, not 3"):
        dvsim.sweep("h3/dv-8", {"sockets": 3})
    for vary in ("sockets=1,2", ["sockets=1,2"]):
        with pytest.raises(TypeError, match="vary is a dict of values by key"):
            dvsim.sweep("h3/dv-8", vary)
    with pytest.raises(TypeError, match=r"run takes a name, .* or what load returned, not \['h3/"):
        dvsim.run(["h3/dv-8", "h3/dv-16"])


@pytest.mark.parametrize(
    ("call", "argument", "said"),
    [
        (lambda: dvsim.Switch(3, 3), "height", "height must be a power of two from 2"),
        (lambda: dvsim.Switch(4, 3, injecting=[5]), "injecting", "an angle in injecting must be"),
        (
            lambda: dvsim.Switch(4, 3, faults=[("down", 2, 0, 0)]),
            "faults",
            "fault 'down' is of the",
        ),
        (lambda: run(load=2), "load", "load must be from 0 to 1"),
        (lambda: run(pattern="hot-spot", hot=(0.1, [99])), "hot", "an output in hot must be"),
        (lambda: run(pattern="hot-spot"), "pattern", "pattern 'hot-spot' needs hot"),
        (lambda: run(pattern="trace", load=None, trace="load.csv"), "trace", "trace: cannot read"),
        (lambda: run(injection="given"), "injection", "injection 'given' needs Switch.start"),
        (lambda: dvsim.Network("dv299"), "preset", "preset must be one of"),
        (lambda: dvsim.Network("dv202", levels=2), "levels", "levels does not go with preset"),
        (lambda: dvsim.Network(switch=BARE), "switch", "the switch of a network"),
    ],
)
def test_an_error_about_an_argument_carries_its_name(call, argument, said):
    with pytest.raises(dvsim.ArgumentError, match=re.escape(said)) as caught:
        call()
    assert caught.value.argument == argument
    again = pickle.loads(pickle.dumps(caught.value))  # as a worker sends it
    assert (again.argument, str(again)) == (argument, str(caught.value))
    assert isinstance(again, ValueError)


BARE = dvsim.Switch(4, 3, injecting=[0])


def run(**more):
    asked = {"load": 0.1, "slots": 10, **more}
    return dvsim.Switch(4, 3).run(**asked)
