"""What the modules of dvsim import, and where in a module: for the tests of its rooms."""

import ast
from functools import cache
from pathlib import Path
from typing import NamedTuple

import dvsim

ROOT = Path(dvsim.__file__).parent


class Import(NamedTuple):
    """One name that is imported.

    Attributes:
        module: That of dvsim; of other packages with what is taken from it.
        line: Where.
        in_function: Whether it runs when a function is called only.
        for_types: Whether it stands below ``if TYPE_CHECKING`` and never runs.
    """

    module: str
    line: int
    in_function: bool = False
    for_types: bool = False


@cache
def modules():
    """Return every file of dvsim with the name of its module."""
    paths = [path.relative_to(ROOT) for path in ROOT.rglob("*.py")]
    named = {path: ".".join(("dvsim", *path.with_suffix("").parts)) for path in paths}
    own = {path: name.removesuffix(".__init__") for path, name in named.items()}
    return {ROOT / path: name for path, name in own.items() if not str(path).startswith("_")}


def is_module(name):
    place = ROOT.parent.joinpath(*name.split("."))
    return place.is_dir() or place.with_suffix(".py").is_file()


@cache
def imports_of(path):
    """Return what a file imports."""
    found = []

    def look(node, in_function, for_types):
        if isinstance(node, ast.Import):
            names = [item.name for item in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            taken = [f"{node.module}.{item.name}" for item in node.names]
            ours = node.module.startswith("dvsim.")
            names = [node.module if ours and not is_module(name) else name for name in taken]
        else:
            names = ()
        found.extend(Import(name, node.lineno, in_function, for_types) for name in names)
        in_function = in_function or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        types = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for child in ast.iter_child_nodes(node):
            look(child, in_function, for_types or types)

    look(ast.parse(path.read_text(encoding="utf-8")), in_function=False, for_types=False)
    return found


@cache
def loaded_by(module):
    """Return the names of all that is imported with a module, functions that run later aside."""
    files = {name: path for path, name in modules().items()} | {"dvsim": ROOT / "__init__.py"}
    found, waiting = set(), [module]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        if name in files:
            inside = name.rpartition(".")[0]
            waiting += [inside] if inside else []
            at_top = (one for one in imports_of(files[name]) if not one.in_function)
            waiting += [one.module for one in at_top if not one.for_types]
    return found
