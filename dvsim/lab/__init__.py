"""Measurements of a laboratory: read from their files, matched with runs, compared.

types.py          what was measured, and what is known of it
units.py          units of rates and times, statistics by name, both as people write them
meta.py           the ``[lab]`` table beside a file: source, sample, tolerances, what was fitted
opened.py         which kind of file it is, and the case list that it gives
tables.py         summaries, in long or wide form
raw.py            one row a sample, in blocks
perftest.py       logs and CSV files of RabbitMQ PerfTest
openmessaging.py  results of the OpenMessaging Benchmark
simulated.py      what a run has of the same kind; intervals counted again
match.py          which run answers which case, and why others do not
order.py          order statistics: where the quantiles of n samples lie
distance.py       distances that a few quantiles still allow
compare.py        one case beside its run; relative.py ratios and order between cases
verdict.py        the criteria; baseline.py the naive rival; against.py all of it
text.py           as text
"""
