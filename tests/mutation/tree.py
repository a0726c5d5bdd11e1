"""A private copy of the tree: a file changed in it, what is compiled from it, tests run in it."""

from __future__ import annotations

import ast
import compileall
import contextlib
import os
import resource
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from mutant import Mutant

ROOT = Path(__file__).parents[2]
LEFT_OUT = (".*", "__pycache__", "build", "dist", "runs", "_emulator", "*.o", "*.so", "*.egg-info")
STRICT = ("implicit-function-declaration", "implicit-int", "int-conversion",
          "incompatible-pointer-types")  # fmt: skip
PLAIN = ("-std=c11", "-O2", "-fPIC", "-pthread")
SANITIZED = (
    "-std=c11", "-O1", "-g", "-pthread", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"
)  # fmt: skip
WRAPPED = ("malloc", "calloc", "realloc", "posix_memalign", "pthread_create")
FLAGS = {"plain": PLAIN, "sanitized": SANITIZED}
LIBRARIES = ("numpy", "pandas", "pyarrow.parquet", "scipy.special", "scipy.stats", "networkx",
             "pydantic", "simpy", "cffi", "click", "rich.table", "altair",
             "hypothesis", "pytest")  # fmt: skip
QUIET = ("-W", "ignore::pytest.PytestAssertRewriteWarning")  # `preload` was first
MOST_MEMORY = 12 << 30


def preload() -> None:
    """Import what every test imports, once, before the processes of the tests fork off."""
    for name in LIBRARIES:
        __import__(name)


def prepare(folder: Path) -> None:
    """Copy the repository and compile it; a worker copies the result for its `Tree`."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT, folder / "tree", ignore=shutil.ignore_patterns(*LEFT_OUT))
    code = "from build import ffi; ffi.emit_c_code('_core.c')"
    where = folder / "tree" / "dvsim" / "core"
    subprocess.run([sys.executable, "-c", code], cwd=where, check=True)
    compileall.compile_dir(folder / "tree" / "dvsim", quiet=1)
    tree = Tree(folder)
    for name, flags in FLAGS.items():
        (tree.made / name).mkdir(parents=True)
        for source in [*tree.sources, *tree.programs]:
            assert tree.compile(source, tree.object(name, source), flags), source


class Tree:
    """A copy of the repository in which one file at a time is changed."""

    def __init__(self, folder: Path) -> None:
        self.root, self.made = folder / "tree", folder / "made"
        self.log, self.cache = folder / "log.txt", folder / "cache"
        models = sorted((self.root / "models").glob("*/*.c"))
        self.sources = [*models, self.root / "dvsim" / "core" / "_core.c"]
        self.programs = sorted((self.root / "tests" / "model").glob("*_test.c"))
        every = [*self.sources, *self.programs]
        self.is_linked = False
        self.needs = {source: self._needs(source) for source in every}

    def _needs(self, source: Path) -> set[Path]:
        command = ["cc", "-MM", *self._includes(), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        names = done.stdout.replace("\\\n", " ").partition(":")[2].split()
        return {Path(name).resolve() for name in names}

    def _includes(self) -> list[str]:
        return [f"-I{self.root / 'models'}", f"-I{sysconfig.get_path('include')}"]

    def object(self, name: str, source: Path) -> Path:
        """Return where the compiled form of a source is."""
        return self.made / name / f"{source.parent.name}_{source.stem}.o"

    def compile(self, source: Path, target: Path, flags: Sequence[str]) -> bool:
        strict = [f"-Werror={name}" for name in STRICT]  # what another C would not compile
        command = ["cc", *flags, *strict, *self._includes(), "-c", str(source), "-o", str(target)]
        return subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode == 0

    def touched(self, path: str) -> list[Path]:
        """Return the sources that read a file of the tree."""
        return [source for source, needed in self.needs.items() if self.root / path in needed]

    @contextlib.contextmanager
    def changed(self, mutant: Mutant) -> Iterator[None]:
        """Write a mutant into the tree, and afterwards the file, and what was compiled, again."""
        file = self.root / mutant.path
        text, stat = file.read_text("utf-8"), file.stat()
        kept = [self.object(name, one) for name in FLAGS for one in self.touched(mutant.path)]
        contents = [one.read_bytes() for one in kept]
        file.write_text(mutant.applied_to(text), "utf-8")
        moment = int(mutant.key(text)[:7], 16)  # its own, for Python's cache of compiled modules
        os.utime(file, (moment, moment))
        self.is_linked = self.is_linked and not kept
        try:
            yield
        finally:
            file.write_text(text, "utf-8")
            os.utime(file, (stat.st_atime, stat.st_mtime))
            for one, content in zip(kept, contents, strict=True):
                one.write_bytes(content)
            self.is_linked = self.is_linked and not kept

    def is_new(self, mutant: Mutant) -> str:
        """Return whether a mutant is ``new``, compiles to the ``same``, or is ``broken``."""
        if not mutant.path.endswith(".py"):
            return self.recompiled(mutant.path, "plain")
        after = (self.root / mutant.path).read_text("utf-8")
        before = (ROOT / mutant.path).read_text("utf-8")
        try:
            return "same" if ast.dump(ast.parse(after)) == ast.dump(ast.parse(before)) else "new"
        except SyntaxError:
            return "broken"

    def recompiled(self, path: str, name: str) -> str:
        """Compile again what reads a file; return what became of it, as `is_new` does."""
        word = "same"
        for source in self.touched(path):
            target = self.object(name, source)
            before = target.read_bytes()
            if not self.compile(source, target, FLAGS[name]):
                return "broken"
            new = target.read_bytes() != before and source in self.sources
            word = "new" if new else word
        return word

    def link_binding(self) -> None:
        """Link `dvsim.core._core` from the plain objects, if they have changed since."""
        if self.is_linked:
            return
        objects = [str(self.object("plain", source)) for source in self.sources]
        target = self.root / "dvsim" / "core" / "_core.abi3.so"
        target.unlink(missing_ok=True)  # another process may have the old one mapped
        command = ["cc", "-shared", "-pthread", *objects, "-o", str(target)]
        subprocess.run(command, check=True)
        self.is_linked = True

    def driver(self, name: str, objects: str, seconds: float) -> str:
        """Link and run a program of tests/model; return ``passed``, ``failed`` or ``late``."""
        flags = list(FLAGS[objects])
        if name == "memory_test":
            flags.append("-Wl," + ",".join(f"--wrap={call}" for call in WRAPPED))
        program = self.made / name
        program.unlink(missing_ok=True)
        used = [one for one in self.sources if one.stem != "_core"]
        used += [one for one in self.programs if one.stem == name]
        compiled = [str(self.object(objects, one)) for one in used]
        subprocess.run(["cc", *flags, *compiled, "-o", str(program)], check=True)
        command = ["setarch", "-R", str(program)] if objects == "sanitized" else [str(program)]

        def run() -> None:
            os.execvp(command[0], command)

        return self._judged(run, seconds, limited=objects == "plain")

    def tests(self, names: Sequence[str], seconds: float) -> str:
        """Run tests of Python until one fails; return ``passed``, ``failed`` or ``late``."""

        def run() -> None:
            import hypothesis
            import pytest

            phases = [hypothesis.Phase.explicit, hypothesis.Phase.generate]
            hypothesis.settings.register_profile("m", database=None, phases=phases, deadline=None)
            hypothesis.settings.load_profile("m")
            sys.path.insert(0, str(self.root))
            options = ["-x", "-q", "-p", "no:cacheprovider", "-n", "0", *QUIET]
            code = pytest.main([*options, *names])
            sys.stdout.flush()
            os._exit(int(code))

        self.link_binding()
        shutil.rmtree(self.cache, ignore_errors=True)  # tables that another core has made
        return self._judged(run, seconds, limited=True)

    def _judged(self, run: Callable[[], None], seconds: float, *, limited: bool) -> str:
        child = os.fork()
        if child == 0:
            try:
                self._settle(limited)
                run()
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(99)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                self._end(child)
                return "passed" if status == 0 else "failed"
            time.sleep(0.01)
        self._end(child)
        os.waitpid(child, 0)
        return "late"

    def _settle(self, limited: bool) -> None:
        """Make the child a group of its own, in the tree, with its output in the log."""
        os.setsid()
        os.chdir(self.root)
        out = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(out, 1)
        os.dup2(out, 2)
        os.environ |= {"PYTHONPATH": str(self.root), "XDG_CACHE_HOME": str(self.cache),
                       "ASAN_OPTIONS": "hard_rss_limit_mb=4000"}  # fmt: skip
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if limited:  # the sanitizers map far more than they use
            resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))

    def _end(self, child: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
