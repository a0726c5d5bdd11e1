"""Rivals at equal ports: the kind ``rivals``, other topologies under the traffic of a Data Vortex.

spec.py      what a file holds
shapes.py    the topologies of a number of ports, as graphs
offered.py   what arrives at the ports, the same for every engine
caminos.py   CAMINOS, which simulates the rivals phit by phit
simgrid.py   SimGrid, which replays a program over them at flow level
vortex.py    a Data Vortex of as many ports
kind.py      what dvsim asks
"""
