"""A RabbitMQ cluster that is modelled: nodes, disks, queues and their replicas, clients.

spec.py       what its files hold
kind.py       what it answers
metrics.py    what is measured
placement.py  which node leads and follows which queue, whom a death takes, who takes over
costs.py      processor time of a message on each node; what the schedulers of a node can do
disk.py       the log with its syncs, flushes at intervals, credit of bursts
fluid.py      queues as amounts: what waits, and for how long
run.py        an open loop, second by second
closed.py     one sender and one receiver as fast as credit lets them
"""
