"""What speaks for or against the model: published data, lab data, claims, and what data say alone.

validation.py   runs beside all that was published of them, with its tallies; text.py as lines
verdicts.py     what such a comparison says, as frozen data
published/      published columns, a run beside them, what the model of the 2018 study was to reach
claims/         sentences of a source: their ranges, how runs decide them, why not confirmed
ledger/         the claims of all sources in one page, and what each fitted parameter moves
lab/            measurements of a laboratory: read, matched with runs, compared
calibration/    cards from measurements of this machine, and cards fitted to published columns
consistency/    what data say by themselves, without a model
statistics.py   statistics by name, and how far two numbers may be apart: for all of the above
sheet.py        tables as text with their lines; headings.py units and statistics in headings
"""
