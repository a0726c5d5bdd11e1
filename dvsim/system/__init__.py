"""The system model: SimPy processes for publishers, transports, bridges, brokers and probes.

SimPy decides, NumPy counts: an event is a burst, a poll that finds something or a change of state,
never a single message or word, so that the cost of a run grows with its events of interest and not
with its messages. What the hardware does is asked of `dvsim.core`.
"""
