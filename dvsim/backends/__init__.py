"""Backends: each turns a scenario into the tables of a result.

sim.py     a system: samples and counters
switch.py  a switch or network alone: points, histograms, cylinders; theory.py what stands beside,
           record.py a short run slot by slot
pool.py    tasks on all cores
code.py    which code it was
"""
