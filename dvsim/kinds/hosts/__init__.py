"""Messaging over hosts: its files, its results, and its model as SimPy processes.

spec.py     what its files hold; kind.py what it answers
metrics.py  what is measured; result.py a study in memory; text.py for people

Everything in the model that works is one kind of thing, a `Hop`: it takes what is there, up to a
limit, works on it for a time that is affine in calls, messages and bytes, and passes it on. That is
batching driven by the consumer: nobody waits for a batch to fill, and what arrives meanwhile makes
the next one.

hop.py      the hop, turns of hops that share, the costs of a batch on a host, whose threads hinder
            each other and scatter
port.py     a port of a host with its socket: packets, interrupts
course.py   how many messages had passed a place by when: rates and latencies
client.py   applications that publish, and those that consume and acknowledge
systems.py  streams from host to host with nothing between, or clients around broker nodes
storage.py  the log of a broker
broker.py   accept, route, deliver, settle
delivery.py who of the consumers of one queue gets the next messages
run.py      one run of one point, its figures, and the stages of many
"""
