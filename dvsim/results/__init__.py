"""What a run leaves behind, and how it is kept.

samples.py   the two tables that every backend returns: samples and counters
summary.py   the statistics of each published column, and their intervals over replications
run.py       one run in memory
manifest.py  where a run came from: versions, host, cards, hashes
table.py     tables to Parquet bytes and back, the same bytes for the same rows
atomic.py    folders and files that are written whole or not at all
folder.py    the run folder, checked when it is read
"""
