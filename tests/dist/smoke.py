"""Does an installed dvsim do its work, in an environment and a folder that hold nothing else?

Called by make.py, once for each Python and each kind of distribution.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from pathlib import Path

from packing import ROOT, Wrong, call

OUTSIDE = ROOT / "tests" / "emulator" / "programs" / "outside.c"
RUN = ("run", "h3/dv-8", "--scale", "0.01", "--replications", "1", "--seed", "1", "--out", "runs")
LOOK = """
import json, pathlib, dvsim
package = pathlib.Path(dvsim.__file__).parent
print(json.dumps([dvsim.__version__, str(package), (package / "py.typed").is_file()]))
"""


def pythons(given: list[str]) -> tuple[list[str], list[str]]:
    """Return the Pythons to try: those given, or 3.11 and the newest; and what was not found.

    They are looked for on the path and among those of pyenv.
    """
    if given:
        return given, []
    home = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    places = [Path(place) for place in os.environ["PATH"].split(os.pathsep)]
    places += sorted(home.glob("versions/*/bin"))
    found: dict[int, str] = {}
    for place in places:
        for path in sorted(place.glob("python3.*")) if place.is_dir() else []:
            named = re.fullmatch(r"python3\.(\d+)", path.name)
            minor = int(named[1]) if named else 0
            if minor >= 11 and minor not in found and _answers(path):
                found[minor] = str(path)
    missing = [] if 11 in found else ["python3.11"]
    newest = max(found, default=None)
    if newest == 11:
        missing.append("any Python newer than 3.11")
    chosen = [found[minor] for minor in sorted({11, newest} & set(found))]
    return chosen, missing


def _answers(python: Path) -> bool:
    """Say whether a Python runs (what pyenv puts on the path may not) and can make environments."""
    try:
        call(python, "-c", "import venv, ensurepip")
    except (Wrong, OSError):
        return False
    return True


def environment(python: str, place: Path) -> Path:
    """Make an empty environment, and return its folder of programs."""
    call(python, "-m", "venv", place)
    return place / "bin"


def smoke(programs: Path, distribution: Path, desk: Path) -> str:
    """Install a distribution, use it in an empty folder, and remove it again.

    Returns
    -------
    str
        The hash of the samples of its run.

    Raises
    ------
    Wrong
        If anything is not as a user expects.
    """
    python, dvsim = programs / "python", programs / "dvsim"
    call(python, "-m", "pip", "install", "--quiet", distribution)
    call(python, "-m", "pip", "check")
    desk.mkdir(parents=True)
    clean = {"HOME": str(desk), "PATH": f"{programs}:/usr/local/bin:/usr/bin:/bin", "LANG": "C"}

    def said(*command: str | Path, **more: str) -> str:
        return call(*command, cwd=desk, env=clean | more)

    version, package, typed = json.loads(said(python, "-c", LOOK))
    _must(package.startswith(str(programs.parent)), f"dvsim is imported from {package}")
    _must(typed, "dvsim/py.typed is not installed")
    told = said(dvsim, "--version")
    _must(told == f"dvsim, version {version}\n", f"dvsim --version says {told!r}")
    said(dvsim, *RUN)
    (samples,) = desk.glob("runs/h3/dv-8/*/samples.parquet")
    said(dvsim, "report", samples.parent, "--report", "page.html")
    _must("<html" in (desk / "page.html").read_text("utf-8"), "dvsim report writes no page")
    shutil.copy(OUTSIDE, desk)
    flags = said(dvsim, "emulate", "--cflags", "--libs").split()
    said("cc", "outside.c", "-o", "outside", *flags)
    _sums(said(dvsim, "emulate", "-n", "2", "--", "./outside"))
    prefix = said(dvsim, "emulate", "--prefix-dir").strip()
    if shutil.which("pkg-config"):
        known = {"PKG_CONFIG_PATH": f"{prefix}/lib/pkgconfig"}
        flags = said("pkg-config", "--cflags", "--libs", "vic", **known).split()
        said("cc", "outside.c", "-o", "outside", *flags)
    _sums(said(f"{prefix}/bin/vicrun", "-n", "2", "--", "./outside"))
    call(python, "-m", "pip", "uninstall", "--quiet", "--yes", "vortexsim")
    left = [str(path) for path in Path(package).rglob("*") if path.is_file()]
    _must(not left, f"uninstalling leaves {left[:3]}")
    return hashlib.sha256(samples.read_bytes()).hexdigest()


def _sums(text: str) -> None:
    wanted = ["card 0 of 2: 3", "card 1 of 2: 3"]
    _must(sorted(text.splitlines()) == wanted, f"outside.c on two cards prints {text!r}")


def _must(holds: bool, otherwise: str) -> None:
    if not holds:
        raise Wrong(otherwise)
