"""Many points of one question: what is varied, who runs it, and the table that comes out.

values.py       numbers with units, in both directions
axis.py         ``KEY=…``: lists and ranges
where.py        conditions: which points are left out
points.py       the points: every value with every other, or together; filtered
sobol.py        the points of a sample
trials.py       each point as a checked scenario, its folder, and what is kept of it already
executors.py    points in chunks: in this process, processes of this machine, or on a dask cluster
run.py          all of it: plan, reuse, run, keep, table
sensitivity.py  Sobol indices of a result

A point is a run like any other: the same folder, the same bytes, whoever computed it.
"""
