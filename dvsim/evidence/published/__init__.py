"""Published columns, and runs beside them.

compare.py    one run beside its published columns, statistic by statistic
goals.py      what the model of the 2018 study was to reach on columns that nobody fitted
"""
