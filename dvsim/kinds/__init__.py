"""The kinds of scenarios that dvsim brings.

points.py what kinds that give studies have in common; study.py how they are run

rabbitmq  messages over the Data Vortex or TCP into RabbitMQ brokers
hosts     messaging over hosts, ``kind = "messaging"``
switch    a switch or network alone
cluster   a RabbitMQ cluster
workload  programs' traffic, from traces and skeletons
irregular programs of many small messages
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dvsim.kinds.workload.session import replay

__all__ = ["replay"]

_LAZY = {"replay": "dvsim.kinds.workload.session"}
"""The functions that kinds bring for `dvsim`, and from where: imported when first used."""


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a module's attribute
    if name not in _LAZY:
        raise AttributeError(f"module 'dvsim.kinds' has no attribute {name!r}")
    return getattr(importlib.import_module(_LAZY[name]), name)
