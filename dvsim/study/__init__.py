"""Questions and what came of them: which runs are needed, their results, kept and compared.

design.py, execute.py  what a question asks for, and the one loop that runs it
sweeps/, limit/        many points of one scenario; how far a key can be pushed
rate.py                the mean rate of a run
run.py, points.py      one run of a system, one study of a scenario with points, in memory
samples.py, summary.py the tables of a run, and the statistics of each published column
statistics.py          means over replications and their intervals; paired.py those of ratios
store.py, folder.py    results in folders: found by their question, written whole, checked when read
compare.py             results side by side; facts.py what was asked differently, in words
measured.py            what any result gives at its points; matching.py which metrics and points of
                       several belong together
number_text.py         the one place that writes a rate, a share or a size for people
"""
