"""Every number is a row: results as tables, what their metrics are, and estimates of them.

metrics.py    a metric, described once: unit, label, sign, formula
estimate.py   the mean over replications with its interval
compare.py    results side by side, a row for each number; match.py what belongs together
manifest.py    where a result came from, as it is written and read
result.py     a result: its points, its values, and the queries on them
"""
