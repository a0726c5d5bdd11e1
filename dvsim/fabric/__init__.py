"""The Data Vortex fabric: what it is made of, how it is run, and how it is drawn.

switch/    one switch, slot by slot: `dvsim.Switch`, its traffic, results, paths and theory
network/   planes and levels of switches: `dvsim.Network`, bursts through it, the flow level
topology/  either as a graph: GraphML, JSON and DOT
"""
