"""The paper's harness on this machine: real programs, emulated cards and a real RabbitMQ.

settings.py     how an emulated run is asked for, and which scenarios have one
credentials.py  who we are to a broker of the user's
publisher.py    a publisher over TCP, a process of its own; queues.py, clients.py those of a cluster
drain.py        what has arrived: count, bytes, CRC-32, duplicates, and what is missing
amqp.py         the brokers as a client sees them; messages.py what messages hold
child.py        programs that cannot be left behind, and what they cost
"""
