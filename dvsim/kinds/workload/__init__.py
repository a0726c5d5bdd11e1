"""The kind "workload": programs' traffic over a fabric, from a trace, a schedule or a skeleton.

graph.py  operations of all ranks and what each waits for, and how such a graph is built
check.py  what a graph must be, and the words for what is wrong with one
"""
