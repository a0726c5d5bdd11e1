"""Measurements of a laboratory: read from their files, matched with runs, compared.

data.py           what was measured, and what is known of it: the ``[lab]`` table beside a file
read.py           which kind of file it is, and the case list that it gives
tables.py         summaries in any form, and samples, one a row
perftest.py       logs and CSV files of RabbitMQ PerfTest
openmessaging.py  results of the OpenMessaging Benchmark
simulated.py      what a run has of the same kind; intervals counted again
match.py          which run answers which case, and why others do not
distances.py      where the quantiles of n samples lie; distances that a few quantiles still allow
judge.py          cases beside their runs and against each other, with what these data cannot show
"""
