"""Kinds of scenarios, and how a file becomes a checked scenario of its kind.

base.py   the contract of a kind; find.py the kinds that there are
load.py   a name or path becomes scenarios; check.py one document
whatif.py the scenarios that answer an open question

rabbitmq  messages over the Data Vortex or TCP into RabbitMQ brokers
hosts     messaging over hosts, ``kind = "messaging"``
switch    a switch or network alone
cluster   a RabbitMQ cluster
workload  programs' traffic, from traces and skeletons
irregular programs of many small messages
"""
