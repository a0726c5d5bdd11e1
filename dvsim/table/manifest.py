"""Where a result came from: enough to repeat it, and to see why a repetition differs.

A `Manifest` is written into ``manifest.json`` and read from it by one class, which says what may be
in it. It holds times and a host, so it differs between two equal runs; the tables and the resolved
scenario do not, and their SHA-256 sums are in it.

Folders of another version of dvsim are refused by name, with what can be done. They are not
upgraded: a parameter that cards have had since then has no value in the ``scenario.toml`` of
before, and any that was put there would be another question.
"""

from __future__ import annotations

import hashlib
import json
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import from_json

from dvsim._version import __version__
from dvsim.errors import Advice, Argument, RunFailed
from dvsim.machine import machine_facts
from dvsim.scenario.document import Document, Origin
from dvsim.scenario.find import (
    is_file,
    is_folder,
    name_fault,
    nearest_beside,
    out_of_reach,
    reference_root,
)
from dvsim.scenario.input_errors import validate
from dvsim.scenario.units import Law

if TYPE_CHECKING:
    from dvsim.scenario.spec import Spec
    from dvsim.scenario.types import Card

FORMAT = 7  # raised when a table, a key of the manifest or the names of folders change
MANIFEST = "manifest.json"
AGAIN = Advice("run it again with ", Argument("force"), " or delete it")
_DIGEST_BYTES = 16


class OtherVersion(RunFailed):
    """A folder is good, but of a version of dvsim that this one does not read."""


def _named(name: str) -> str:
    fault = name_fault(name)
    if fault is not None:
        raise ValueError(fault)
    return name


Whole = Annotated[int, Field(ge=0, lt=2**64)]
Times = Annotated[int, Field(ge=1, le=32767)]  # a column of a table counts them in 16 bits


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, frozen=True)


class File(_Part):
    """A file of the folder."""

    bytes: Whole
    sha256: str


class Git(_Part):
    """The checkout that dvsim was imported from."""

    commit: str
    dirty: bool


class Host(_Part):
    """A machine."""

    cpu: str
    cores: Whole | None
    system: str
    python: str
    packages: dict[str, str] = {}


class Used(_Part):
    """A card or a reference file, and the hash of what it says."""

    role: str
    name: str
    kind: str = ""
    blake2b: str


class Member(Host):
    """A host of an emulated run, and what was on it."""

    name: str
    cards: Whole
    clusters: Whole
    clock_error_ns: Whole


class Bridge(_Part):
    """A bridge of the user's: how it is started, and SHA-256 of its files."""

    command: str
    version: str
    files: dict[str, str]


class Question(_Part):
    """What else the answer of an emulated run depends on: whose brokers, and the promise."""

    clusters: Whole | None = None
    nodes: Whole | None = None
    urls: list[str] | None = None
    hosts: str | None = None
    broker_hosts: list[str] | None = None
    promise: str
    traced: bool | None = None
    bridge: Bridge | None = None


class Emulated(_Part):
    """How real programs were run."""

    question: Question
    scale: float = 1
    messages_asked: Whole | None = None
    batch_asked: Whole | None = None
    brokers: list[dict[str, Any]] = []
    commands: list[list[str]] = []
    hosts: list[Member] | None = None
    downs: list[list[Any]] = []

    @property
    def broker(self) -> str:
        """Product and version of its brokers."""
        texts = (f"{one.get('product')} {one.get('version')}" for one in self.brokers)
        return ", ".join(dict.fromkeys(texts))


class Swept(_Part):
    """What a sweep was asked, and the columns of its table."""

    kind: str
    digest: Annotated[str, Field(pattern="^[0-9a-f]{12}$")]  # becomes a part of a path
    points: Annotated[int, Field(ge=1, le=1_000_000)]  # are gone through one by one
    replications: Times | None = None
    precision: float | None = None
    runs: str | None = None
    failed: Whole
    keys: list[str]
    results: list[str]
    units: dict[str, str]
    types: dict[str, str]


class Manifest(_Part):
    """Where a run, a study or a sweep came from.

    Attributes:
        format: Of the folder; see `FORMAT`.
        version: Of the code that made it.
        git: Commit of the checkout it was imported from, None elsewhere.
        scenario: Its name.
        seed, replications, backend: How it was asked.
        host: The machine.
        command: The command line, or the Python call, that asked for it.
        started: When, in UTC.
        wall_s: Seconds of work: the wall time of every task, added up, in whichever process it ran.
            With several workers the answer is there sooner.
        files: Size and hash of each other file of the folder.
        cards, reference: What a run of a system used.
        counts: Amounts of work, such as events, summed over replications.
        emulated: Of an emulated run.
        swept: Of a sweep.
    """

    format: int
    version: str
    git: Git | None = None
    scenario: Annotated[str, AfterValidator(_named)]
    seed: Whole
    replications: Times
    backend: str
    host: Host
    command: str
    started: str
    wall_s: Annotated[float, Field(ge=0)]
    files: dict[str, File]
    cards: list[Used] = []
    reference: list[Used] = []
    counts: dict[str, float] = {}
    emulated: Emulated | None = None
    swept: Swept | None = None

    @property
    def question(self) -> dict[str, Any] | None:
        """What else an emulated answer depends on, as JSON types."""
        return (
            None if self.emulated is None else self.emulated.question.model_dump(exclude_none=True)
        )

    @property
    def emulated_text(self) -> str:
        """What follows the name of an emulated result, with the bridge if it was the user's."""
        if self.emulated is None:
            return ""
        own = self.emulated.question.bridge
        return ", emulated" if own is None else f", emulated with {own.command}"

    def plain(self) -> dict[str, Any]:
        """Return it as JSON types."""
        return self.model_dump(exclude_none=True)

    def encode(self) -> bytes:
        """Return it as it is written."""
        return json.dumps(self.plain(), indent=2, sort_keys=True, allow_nan=False).encode() + b"\n"

    def holding(self, contents: Mapping[str, bytes]) -> Manifest:
        """Return it with size and hash of each file."""
        files = {
            name: File(bytes=len(data), sha256=hashlib.sha256(data).hexdigest())
            for name, data in contents.items()
        }
        return self.model_copy(update={"files": files})


def build_manifest(
    name: str,
    *,
    version: str,
    seed: int,
    replications: int,
    backend: str,
    command: str | Sequence[str],
    started: datetime,
    wall_s: float,
    **known: Any,  # noqa: ANN401 - fields
) -> Manifest:
    """Return what is known about a run, a study or a sweep that has just finished.

    Args:
        name: Of the scenario.
        version, seed, replications, backend: What was asked, and of which code.
        command: The words of the command line, or the Python call, that asked for it.
        started: Time zone aware.
        wall_s: Seconds of work.
        known: What else there is to say: other fields of a `Manifest`.
    """
    git = _own_git()
    return Manifest(
        format=FORMAT,
        version=version,
        git=git,
        scenario=name,
        seed=int(seed),  # also of NumPy
        replications=int(replications),
        backend=backend,
        host=Host(**machine_facts()),
        command=command if isinstance(command, str) else shlex.join(command),
        started=started.astimezone(UTC).isoformat(timespec="seconds"),
        wall_s=round(wall_s, 3),
        files={},  # filled in when the folder is written
        **known,
    )


def used_by(scenario: Spec) -> dict[str, list[Used]]:
    """Return the cards and the reference file of a scenario with their hashes, by field."""
    cards = [
        Used(role=role, name=card.name, kind=card.kind, blake2b=card_hash(card))
        for role, card in scenario.used_cards()
    ]
    if scenario.reference is None:
        return {"cards": cards}
    file = scenario.reference.file
    try:
        digest = _blake2b((reference_root() / file).read_bytes())
    except OSError:  # the run does not need it; a comparison will say that it is missing
        return {"cards": cards}
    return {"cards": cards, "reference": [Used(role="reference", name=file, blake2b=digest)]}


def card_hash(card: Card) -> str:
    """Return 32 hex digits that change with any parameter, source or confidence of a card."""
    content = {
        name: [
            [p.value.fixed_ps, p.value.per_byte_fs] if isinstance(p.value, Law) else p.value,
            p.dimension,
            p.confidence,
            p.source,
            p.fitted,
        ]
        for name, p in card.parameters.items()
    }
    return _blake2b(json.dumps([card.name, card.kind, content], sort_keys=True).encode())


def _blake2b(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES).hexdigest()


@cache  # the code that runs is what was imported, whatever is edited meanwhile
def _own_git() -> Git | None:
    return git_state(Path(__file__).resolve().parents[2])


def git_state(root: Path) -> Git | None:
    """Return commit and dirty flag of the checkout at `root`; None if it is not one.

    A package that is installed inside some other project's checkout is not of that checkout, so
    `root` itself must hold ``.git``.
    """
    if not (root / ".git").exists():
        return None
    said = []
    for words in (["rev-parse", "HEAD"], ["status", "--porcelain"]):
        command = ["git", "-C", str(root), *words]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
        except (OSError, subprocess.SubprocessError):
            return None
        if done.returncode != 0:
            return None
        said.append(done.stdout.strip())
    return Git(commit=said[0], dirty=said[1] != "")


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of a folder of results.

    Raises:
        OtherVersion: If it is of another format.
        RunFailed: If the folder is none, or its manifest says what it cannot: all keys that are
            wrong, with the nearest right ones.
    """
    path = folder / MANIFEST
    if not is_file(path):
        what = "it has no manifest.json" if is_folder(folder) else "there is no such folder"
        what = out_of_reach(path) or what
        near = None if is_folder(folder) else nearest_beside(folder, is_folder)
        what += f"; did you mean '{near}'?" if near else ""
        first = _inside(folder) if is_folder(folder) else None
        more = f"; there are in it: {first.parent.parent}/*" if first else ""
        raise RunFailed(f"{folder} is not a run: {what}{more}")
    try:
        data = from_json(path.read_bytes(), allow_inf_nan=False)
    except (OSError, ValueError) as error:
        raise broken(folder, f"{MANIFEST}: {error}") from error
    if not isinstance(data, dict):
        raise broken(folder, f"{MANIFEST} is not the manifest of a run")
    if data.get("format", FORMAT) != FORMAT:
        said = (data.get(name) for name in ("version", "started", "command"))
        raise other(
            folder, Made(*said), f"{MANIFEST} has format {data.get('format')}, not {FORMAT}"
        )
    manifest, faults = validate(Manifest, Document(data, {(): Origin(str(path))}))
    if faults:
        raise RunFailed(Advice("\n".join(map(str, faults)), "; ", AGAIN))
    made: Manifest = manifest
    return made


def _inside(folder: Path) -> Path | None:
    try:
        inside = (next(folder.glob(f"{deep}/{MANIFEST}"), None) for deep in ("*", "*/*", "*/*/*"))
        return next((path for path in inside if path is not None), None)
    except OSError:  # others make and remove folders there at this moment
        return None


def broken(folder: Path, reason: str) -> RunFailed:
    """Return the error of a folder that was changed by hand."""
    return RunFailed(Advice(f"{folder} is not a complete run: {reason}; ", AGAIN))


class Made(NamedTuple):
    """What the manifest of another version says, in which anything can stand."""

    version: Any
    started: Any
    command: Any


def other(folder: Path, made: Manifest | Made, reason: str) -> OtherVersion:
    """Return the error of a folder of another version."""
    date = f" on {str(made.started)[:10]}" if made.started else ""
    words = made.command
    command = shlex.join(map(str, words)) if isinstance(words, list) else words
    again = f"run it again ({command})" if command else "run it again"
    return OtherVersion(
        f"{folder} was made by dvsim {made.version or 'of unknown version'}{date}, and this is "
        f"dvsim {__version__}: {reason}; {again}, or read it with that version"
    )
