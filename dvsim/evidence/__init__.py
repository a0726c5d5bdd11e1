"""What speaks for or against the model: published data, lab data, claims, and what data say alone.

validation.py   runs beside all that was published of them; text.py as lines, overview.py in short
verdicts.py     what such a comparison says: rows, and verdicts on sentences
published.py    published columns, runs beside them; goals.py what the model of 2018 was to reach
claims/         sentences of a source: their ranges, how runs decide them, why not confirmed
ledger/         the claims of all sources in one page, and what each fitted parameter moves
lab/            measurements of a laboratory: read, matched with runs, compared
calibration/    cards from measurements of this machine, and cards fitted to published columns
statistics.py   statistics by name, and how far two numbers may be apart: for all of the above
"""
