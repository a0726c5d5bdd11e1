"""What a kind of scenario is, and how a file becomes a checked scenario of its kind.

kind.py   the contract of a kind; find.py the kinds that there are
load.py   a name or path becomes scenarios; check.py one document
whatif.py the scenarios that answer an open question
"""

OWN = {
    "rabbitmq": "dvsim.kinds.rabbitmq.kind",
    "switch": "dvsim.kinds.switch.kind",
    "messaging": "dvsim.kinds.hosts.kind",
    "cluster": "dvsim.kinds.cluster.kind",
    "irregular": "dvsim.kinds.irregular.kind",
    "workload": "dvsim.kinds.workload.kind",
    "rivals": "dvsim.kinds.rivals.kind",
}
"""The modules of the kinds that dvsim brings: no entry point has to be looked up for them."""

VERBS = {"replay": "dvsim.kinds.workload.verb"}
"""The verbs that they bring, by their modules."""
