"""Measurements of a laboratory: read from their files, matched with runs, compared.

data.py           what was measured, and what is known of it: the ``[lab]`` table beside a file
read.py           which kind of file it is, and the case list that it gives
tables.py         summaries in any form, and samples, one a row
perftest.py       logs and CSV files of RabbitMQ PerfTest
openmessaging.py  results of the OpenMessaging Benchmark
simulated.py      what a run has of the same kind; intervals counted again
match.py          which scenario or run answers which case, at any size, and why others do not
distances.py      where the quantiles of n samples lie; the distance that a few allow
judge.py          cases beside their runs and against each other, with what these data cannot show
"""
