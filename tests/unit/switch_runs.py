"""Small switches for tests, kinds of traffic, and everything that a run says as bytes."""

import numpy as np

from dvsim.fabric.switch import Switch

SMALL = Switch(height=8, angles=3)
KINDS = [
    {"load": 0.6},
    {"load": 0.6, "injection": "queue"},
    {"load": None, "injection": "saturate"},
    {"load": 0.2, "pattern": "bursty", "burst": 5, "duty": 0.5, "injection": "queue"},
    {"load": 0.4, "pattern": "hot-spot", "hot": (0.2, [1, 2]), "replications": 3},
]


def content(run):
    """Everything a run says, as bytes."""
    arrays = [array.tobytes() for array in run.counts if isinstance(array, np.ndarray)]
    numbers = [number for number in run.counts if not isinstance(number, np.ndarray)]
    return arrays, numbers, run.notes, repr(run)
