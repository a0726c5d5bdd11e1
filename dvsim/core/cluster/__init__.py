"""The laws of a RabbitMQ cluster: what a message asks of its processors, disks and network.

placement.py  which node leads and follows which queue, whom a death takes, who takes over
costs.py      processor time of a message on each node; what the schedulers of a node can do
disk.py       the log with its syncs, flushes at intervals, credit of bursts
capacity.py   both for queues at their present places: the rates that nodes allow
"""
