"""A RabbitMQ cluster that is modelled: nodes, disks, queues and their replicas, clients.

spec.py       what its files hold
kind.py       what it answers
metrics.py    what is measured
fluid.py      queues as amounts: what waits, and for how long
result.py     the study of all points
run.py        an open loop, second by second
closed.py     one sender and one receiver as fast as credit lets them
emu.py        the same points on real nodes
timeline.py   the course of a run, second by second

The laws of processors, disks and copies are in `dvsim.core.cluster`, for other kinds, too.
"""
