"""Many points of one question: what is varied, who runs it, and the table that comes out.

grid.py         the points: ``KEY=…``, every value with every other or together, filtered, sampled
executors.py    points as checked scenarios, run in this process, in others, or on dask
run.py          all of it: plan, reuse, run, keep, table
sensitivity.py  Sobol indices of a result

A point is a run like any other: the same folder, the same bytes, whoever computed it.
"""
