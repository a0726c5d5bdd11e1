"""The native part of the build; everything declarative is in setup.cfg."""

import importlib.util
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).parent
DATA = {"cards": HERE / "models" / "cards", "scenarios": HERE / "scenarios"}


def build_emulator(prefix: Path, *flags: str, objects: Path | None = None) -> None:
    """Compile libvic and vicrun, and lay them out under a folder; another may keep the objects."""
    spec = importlib.util.spec_from_file_location("build_emulator", HERE / "emulator" / "build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for folder in filter(None, (prefix, objects)):
        shutil.rmtree(folder, ignore_errors=True)
    module.build(prefix, ["-O2", *flags], objects)


class BuildWithData(build_py):
    """Packs what lives beside the package into the wheel: scenarios, model cards, the emulator."""

    def run(self) -> None:
        """Build the package, then copy the data beside it."""
        super().run()
        if self.editable_mode:  # the package finds scenarios and cards in the checkout
            objects = HERE / "build" / "emulator"  # tests link them with programs of their own
            try:
                build_emulator(HERE / "dvsim" / "_emulator", "-Werror", objects=objects)
            except Exception as error:  # setuptools would turn it into a warning that pip hides
                raise SystemExit(f"the emulator was not built: {error}") from error
            return
        build_emulator(Path(self.build_lib) / "dvsim" / "_emulator")
        for name, source in DATA.items():
            target = Path(self.build_lib) / "dvsim" / "_data" / name
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))


setup(cffi_modules=["dvsim/core/build.py:ffi"], cmdclass={"build_py": BuildWithData})
