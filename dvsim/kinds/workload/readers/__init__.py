"""Traces and schedules of programs, of whatever format, as graphs: `read`."""

from dvsim.kinds.workload.readers.formats import FORMATS, read

__all__ = ["FORMATS", "read"]
