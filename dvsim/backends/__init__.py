"""Backends: each turns a scenario into the tables of a result.

sim.py     a system, simulated: samples and counters
emu.py     the same of real programs on this machine, see `dvsim.emulation`
tables.py  samples and counters put together from iterations
switch.py  a switch or network alone: points, histograms, cylinders; theory.py what stands beside,
           record.py a short run slot by slot
messaging.py  messaging over hosts: points, and how busy each stage was
pool.py    tasks on all cores
code.py    which code it was
"""
