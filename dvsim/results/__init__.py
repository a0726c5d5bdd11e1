"""What a run leaves behind, and how it is kept.

samples.py   the two tables that every backend returns: samples and counters
summary.py   the statistics of each published column, and their intervals over replications
run.py       one run in memory
points.py    what studies of any kind have in common
study.py     one study of a switch or network in memory; messaging.py one over hosts
statistics.py  means over replications and their intervals
manifest.py  where a run came from: versions, host, cards, hashes
table.py     tables to Parquet bytes and back, the same bytes for the same rows
atomic.py    folders and files that are written whole or not at all
kept.py      a folder of results, checked when it is read
folder.py    a run or study in its folder
"""
