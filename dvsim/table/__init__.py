"""Every number is a row: results as tables, what their metrics are, and estimates of them.

metrics.py    a metric, described once: unit, label, sign, formula
estimate.py   the mean over replications with its interval
result.py     a result: its points, its values, and the queries on them
"""
