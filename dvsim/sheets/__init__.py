"""Tables of other people: cells as text with their lines, headings, units, statistics by name.

sheet.py     any table as text: headings and rows with their lines, numbers in one spelling
headings.py  units and statistics as people write them
summary.py   tables of statistics in any of their forms, melted into rows of one number each
"""
