"""Backends: each turns a scenario into the same two tables, samples and counters."""
