"""Does an installation of the checkout itself fail if the emulator does not compile?"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILES = ("setup.py", "setup.cfg", "pyproject.toml", "README.md", "LICENSE")


def test_a_fault_in_a_c_file_ends_the_build(tmp_path):
    for name in FILES:
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "models").symlink_to(ROOT / "models")
    shutil.copytree(ROOT / "emulator", tmp_path / "emulator")
    for path in (ROOT / "dvsim").rglob("*.py"):
        target = tmp_path / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(path)
    first = min((tmp_path / "emulator" / "src").glob("*.c"))
    first.write_text(first.read_text("utf-8") + "int broken(void) { return }\n", "utf-8")
    done = subprocess.run(
        [sys.executable, "setup.py", "editable_wheel", "--dist-dir", "dist"], cwd=tmp_path,
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert f"{first.name}:" in done.stderr  # the compiler says where
    assert done.stderr.splitlines()[-1].startswith("the emulator was not built: ")
    assert list(tmp_path.glob("dist/*.whl")) == []
