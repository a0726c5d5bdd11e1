"""Modules of this folder import each other; its run.py is a program, and no module of tests."""

collect_ignore = ["run.py"]
