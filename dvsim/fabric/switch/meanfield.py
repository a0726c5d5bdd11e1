r"""What theory says of a Data Vortex: blocking, saturation and hops without a simulation.

The mean-field recursion below was derived by this project. One value of it is published: Iliadis,
Chrysos and Minkenberg (JSAC 25(6), 2007) state that the saturation throughput of a switch with all
angles injecting approaches 2/9 for few angles and many heights, and that at a fixed number of ports
it is largest with the fewest angles. Both come out here; their own equations could not be read.

Assumption: uniform traffic from all A * H inputs, and what a packet meets at a node is independent
of everything it met before. So it suits `random` crossings best, and flatters the others.

Let n = log2 H, and T the throughput per input, in packets per slot. By symmetry every node of a
cylinder does the same. Let y_c be the probability that a node of cylinder c sends a packet on along
its own cylinder in a slot; such a packet has the right of way, so y_{c+1} is also the probability
that a descent from cylinder c is blocked. As every packet passes every cylinder, T packets enter
each node of each cylinder per slot, and by Little's law y_c is T times how often one packet stays:

- on the ring, cylinder n, it goes on until its angle comes: 0 to A - 1 steps, all equally likely::

      y_n = T (A - 1) / 2            exit "angle"
      y_n = 0                        exit "any"

- on cylinder c < n its bit is wrong with probability 1/2, which costs one crossing; then each
  attempt fails with probability y_{c+1}, so y / (1 - y) attempts fail on average, and each costs
  two crossings, since the first one makes the bit wrong and the second one right again::

      y_c = T (1/2 + 2 y_{c+1} / (1 - y_{c+1}))         c = n - 1 .. 0

- an input can inject when no packet arrives from cylinder 0. Of an offered load p, what finds the
  node taken is dropped, so T = p (1 - y_0); saturation is the same with p = 1.

Hops are nodes visited, so on every cylinder one more than the stays::

      E[hops] = 1 + y_n / T + sum_{c<n} (3/2 + 2 y_{c+1} / (1 - y_{c+1}))

The limit of H to infinity: y_c must settle at a fixed point of the recursion,
y^2 + (3T/2 - 1) y + T/2 = 0, which is real up to T = 2/9, with y = 1/3 there. The ring must start
below the upper root; for A <= 4 it does, (A - 1)/9 <= 1/3. For more angles the ring itself is the
limit: y_n = T (A - 1)/2 equals the upper root at T = 2 (A - 2) / ((A - 1)(A + 2)).
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import numpy.typing as npt

from dvsim.fabric.switch.check import choice, share, whole

ExitRule = Literal["angle", "any"]
TOLERANCE = 1e-9


def _check(height: int, angles: int, exit: str) -> int:
    whole("height", height, 2)
    if height & (height - 1):
        raise ValueError(f"height must be a power of two, is {height}")
    whole("angles", angles, 1)
    choice("exit", exit, ("angle", "any"))
    return height.bit_length() - 1


def _staying(n: int, angles: int, throughput: float, exit: str) -> npt.NDArray[np.float64]:
    y = np.full(n + 1, math.inf)
    y[n] = throughput * (angles - 1) / 2 if exit == "angle" else 0.0
    for c in range(n - 1, -1, -1):
        if y[c + 1] >= 1:
            break
        y[c] = throughput * (0.5 + 2 * y[c + 1] / (1 - y[c + 1]))
    return y


def carried(height: int, angles: int, load: float, exit: ExitRule = "angle") -> float:
    """Return the throughput at an offered load, when a packet that is refused is dropped.

    Args:
        height, angles: H (a power of two) and A; all angles inject.
        load: Packets offered per input and slot, 0 to 1.
        exit: ``"angle"``: a packet leaves at its addressed angle. ``"any"``: wherever it reaches
            the innermost cylinder.

    Returns:
        float: The largest T, packets per slot and input, with T <= load (1 - y_0), to 1e-9.

    Raises:
        ValueError: If a parameter is out of range.
    """
    n = _check(height, angles, exit)
    load = share("load", load)
    low, high = 0.0, load
    while high - low > TOLERANCE:
        middle = (low + high) / 2
        # y_0 grows with T, so the bound is crossed once
        if middle <= load * (1 - _staying(n, angles, middle, exit)[0]):
            low = middle
        else:
            high = middle
    return low


def saturation(height: int, angles: int, exit: ExitRule = "angle") -> float:
    """Return the throughput per input when a packet waits at every input; see the module.

    Raises:
        ValueError: If a parameter is out of range.

    >>> round(saturation(2, 1), 6)  # exact: there is nothing to block a descent
    0.666667
    >>> [round(saturation(2**k, 2), 4) for k in (4, 8, 20)]
    [0.2994, 0.2536, 0.2298]
    """
    return carried(height, angles, 1.0, exit)


def limit(angles: int, exit: ExitRule = "angle") -> float:
    """Return what `saturation` tends to as the height grows.

    2/9 for A <= 4 and for exit ``"any"``, else 2 (A - 2) / ((A - 1)(A + 2)); see the module.

    >>> [round(limit(a), 4) for a in (1, 4, 5, 6, 8, 16)]
    [0.2222, 0.2222, 0.2143, 0.2, 0.1714, 0.1037]
    """
    _check(2, angles, exit)
    if angles <= 4 or exit == "any":
        return 2 / 9
    return 2 * (angles - 2) / ((angles - 1) * (angles + 2))


def blocking(
    height: int, angles: int, load: float, exit: ExitRule = "angle"
) -> npt.NDArray[np.float64]:
    """Return the share of descents that are blocked, per cylinder.

    Args:
        height, angles, load, exit: As in `carried`; load 1 is saturation.

    Returns:
        ndarray of shape (log2 H,): y_1 .. y_n: entry c is for descents from cylinder c, as in
        ``SwitchRun.blocked``.

    Raises:
        ValueError: If a parameter is out of range.

    >>> blocking(4, 3, 1.0).round(3)
    array([0.453, 0.317])
    """
    n = _check(height, angles, exit)
    return _staying(n, angles, carried(height, angles, load, exit), exit)[1:]


def mean_hops(height: int, angles: int, throughput: float, exit: ExitRule = "angle") -> float:
    """Return the mean number of nodes that a packet visits, the entry node included.

    Args:
        height, angles, exit: As in `carried`.
        throughput: Packets carried per slot and input.

    Raises:
        ValueError: If a parameter is out of range, or the throughput is above `saturation`.

    >>> mean_hops(4, 3, 0.0)  # the 12 x 12 prototype at light load
    5.0
    """
    n = _check(height, angles, exit)
    # one tolerance on either side: saturation() itself must be accepted
    most = saturation(height, angles, exit)
    if not 0 <= throughput <= most + TOLERANCE:
        raise ValueError(f"throughput must be from 0 to {most:.6f}, saturation, is {throughput:g}")
    blocked = _staying(n, angles, throughput, exit)[1:]
    ring = (angles - 1) / 2 if exit == "angle" else 0.0
    return float(1 + ring + (1.5 + 2 * blocked / (1 - blocked)).sum())


def zero_load_hops(height: int, angles: int, exit: ExitRule = "angle") -> npt.NDArray[np.float64]:
    """Return the exact distribution of hops of a packet that is alone in the switch.

    The address is uniform, so each of its n = log2 H bits is wrong with probability 1/2 when it is
    tested, independently, and a wrong bit costs one crossing; the ring costs 0 to A - 1 steps::

        hops = (n + 1) + Binomial(n, 1/2) + Uniform{0 .. A - 1}      exit "angle"
        hops = (n + 1) + Binomial(n, 1/2)                            exit "any"

    This holds for every crossing pattern that flips the tested bit. Derived by this project; for
    the published 12 x 12 prototype (H = 4, A = 3) it gives the published median of 5.

    Returns:
        ndarray: Probabilities, index = hops.

    Raises:
        ValueError: If a parameter is out of range.

    >>> zero_load_hops(4, 3)[3:] * 12
    array([1., 3., 4., 3., 1.])
    """
    n = _check(height, angles, exit)
    ring = angles if exit == "angle" else 1
    ways = np.convolve([math.comb(n, k) for k in range(n + 1)], np.ones(ring, dtype=np.int64))
    return np.concatenate([np.zeros(n + 1), ways / (height * ring)])
