"""Timelines of runs, for ui.perfetto.dev: what each part did when, and how much waited there."""

from dvsim.emulation.trace.perfetto import LIMIT, Written, write_trace
from dvsim.emulation.trace.timeline import Timeline

__all__ = ["LIMIT", "Timeline", "Written", "write_trace"]
