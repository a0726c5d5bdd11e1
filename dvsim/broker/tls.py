"""Certificates for nodes on the loopback interface, made by the command ``openssl``."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from dvsim.errors import DvsimError

NAMES = "subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1"
DAYS = "30"


def make_certificates(folder: Path) -> None:
    """Make a folder with an authority and certificates of a server and a client that it signed.

    They are ``ca.pem``, ``server.pem`` with ``server-key.pem``, ``client.pem`` with
    ``client-key.pem``; the keys can be read by their owner alone.
    """
    if shutil.which("openssl") is None:
        raise DvsimError("TLS needs the command openssl to make certificates: apt install openssl")
    folder.mkdir(mode=0o700)
    _make(folder, "ca", "/CN=dvsim private authority", "basicConstraints=critical,CA:TRUE")
    _make(folder, "server", "/CN=localhost", NAMES, "extendedKeyUsage=serverAuth")
    _make(folder, "client", "/CN=dvsim client", "extendedKeyUsage=clientAuth")


def _make(folder: Path, name: str, subject: str, *extensions: str) -> None:
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    command += ["-noenc", "-sha256", "-days", DAYS, "-subj", subject]
    command += ["-keyout", f"{name}-key.pem", "-out", f"{name}.pem"]
    command += [text for extension in extensions for text in ("-addext", extension)]
    if name != "ca":
        command += ["-CA", "ca.pem", "-CAkey", "ca-key.pem"]
        command += ["-addext", "basicConstraints=critical,CA:FALSE"]
    done = subprocess.run(
        command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise DvsimError(f"openssl cannot make the certificate of {name}:\n{done.stderr.strip()}")
    (folder / f"{name}-key.pem").chmod(0o600)
