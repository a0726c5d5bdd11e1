"""The native part of the build; everything declarative is in setup.cfg."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).parent
DATA = {"cards": HERE / "models" / "cards", "scenarios": HERE / "scenarios"}


class BuildWithData(build_py):
    """Packs the scenarios and model cards, which live beside the package, into the wheel."""

    def run(self) -> None:
        """Build the package, then copy the data beside it."""
        super().run()
        if self.editable_mode:  # the package then finds them in the checkout
            return
        for name, source in DATA.items():
            target = Path(self.build_lib) / "dvsim" / "_data" / name
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(source, target)


setup(cffi_modules=["dvsim/core/build.py:ffi"], cmdclass={"build_py": BuildWithData})
