"""What a manifest may say: of each known key the type, so that no page stumbles over another one.

A folder of results may come from somebody else, or from a disk that lies. A key that is missing is
for the reader to miss; a key that nobody knows is left alone.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from dvsim.scenario.find import name_fault


def _named(name: str) -> str:
    fault = name_fault(name)
    if fault is not None:
        raise ValueError(fault)
    return name


Name = Annotated[str, AfterValidator(_named)]
Whole = Annotated[int, Field(ge=0, lt=2**64)]
Times = Annotated[int, Field(ge=1, le=32767)]  # a column of a table counts them in 16 bits


class _Part(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True, allow_inf_nan=False)


class _File(_Part):
    bytes: Whole
    sha256: str


class _Git(_Part):
    commit: str = ""
    dirty: bool = False


class _Host(_Part):
    cpu: str = ""
    cores: Whole | None = None
    system: str = ""
    python: str = ""
    packages: dict[str, str] = {}


class _Asked(_Part):
    digest: Annotated[str, Field(pattern="^[0-9a-f]{12}$")]  # becomes a part of a path
    points: Annotated[int, Field(ge=1, le=1_000_000)]  # are gone through one by one
    version: str
    seed: Whole
    replications: Times | None
    precision: float | None = None


class _Question(_Part):
    clusters: Whole = 0
    nodes: Whole = 0
    urls: list[str] = []
    promise: str | None = None


class _Emulated(_Part):
    question: _Question
    scale: float = 1
    messages_asked: Whole = 0
    brokers: list[dict[str, Any]] = []


class _Manifest(_Part):
    version: str = ""
    git: _Git | None = None
    scenario: Name = ""
    seed: Whole = 0
    replications: Times = 1
    backend: str = ""
    host: _Host = _Host()
    command: str | list[str] = ""
    started: str = ""
    wall_s: Annotated[float, Field(ge=0)] = 0
    files: dict[str, _File]
    cards: list[dict[str, str]] = []
    reference: list[dict[str, str]] = []
    simulated_s: float = 0
    events: Whole = 0
    slot_ps: Whole | None = None
    node_updates: Whole = 0
    runs: str | None = None
    failed: Whole = 0
    asked: _Asked | None = None
    emulated: _Emulated | None = None


def misshapen(manifest: object) -> str | None:
    """Return the first key of a manifest that cannot be, None if there is none.

    >>> misshapen({"files": {}, "seed": 1}), misshapen({"files": {}, "host": {"cpu": 3}})
    (None, 'host.cpu')
    """
    try:
        _Manifest.model_validate(manifest)
    except ValidationError as error:
        return ".".join(map(str, error.errors()[0]["loc"])) or "table"
    return None
