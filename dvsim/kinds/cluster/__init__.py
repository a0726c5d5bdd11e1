"""A RabbitMQ cluster that is modelled: nodes, disks, queues and their replicas, clients.

spec.py       what its files hold
kind.py       what it answers
metrics.py    what is measured
result.py     the study of all points
nodes.py      a second of all nodes: queues as amounts, what waits, and for how long
measures.py   what a run adds up, and the metrics that come of it
run.py        an open loop, second by second; one sender and one receiver without a rate
emu.py        the same points on real nodes

The laws of processors, disks and copies are in `dvsim.core.cluster`, for other kinds, too.
"""
