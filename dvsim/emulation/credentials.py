"""Who we are to a broker of the user's: a file that nobody else can read, or the environment."""

from __future__ import annotations

import os
from pathlib import Path

from dvsim.errors import Argument, ScenarioError


def credentials_of(path: Path | None) -> tuple[str, str]:
    """Return user and password; read once, so that the file may be a pipe.

    Args:
        path: A file whose first line is ``user:password``; without one ``VICBRIDGE_USER`` and
            ``VICBRIDGE_PASSWORD`` of the environment count, without those the file that
            ``VICBRIDGE_CREDENTIALS`` names, and without that guest.
    """
    named = os.environ.get("VICBRIDGE_CREDENTIALS")
    if path is None and (named is None or {"VICBRIDGE_USER", "VICBRIDGE_PASSWORD"} & {*os.environ}):
        user = os.environ.get("VICBRIDGE_USER", "guest")
        return user, os.environ.get("VICBRIDGE_PASSWORD", "guest")
    path = path or Path(named or "")
    try:
        with path.open(encoding="utf-8") as file:
            others = os.fstat(file.fileno()).st_mode & 0o077
            line = file.readline().rstrip("\r\n")
    except OSError as error:
        raise _wrong(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError:
        raise _wrong(f"{path}: it is not text") from None  # the error would show its bytes
    if others:
        raise _wrong(f"{path}: others may read it; chmod 600 {path}")
    user, colon, password = line.partition(":")
    if not colon or not user:
        raise _wrong(f"{path}: has no user:password in its first line")
    return user, password


def _wrong(message: str) -> ScenarioError:
    return ScenarioError.at(Argument("credentials"), message)
