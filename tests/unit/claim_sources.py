"""The sources that dvsim carries, and the sizes that the claims about H3 speak of."""

from dvsim.evidence.claims import sources

H3, DV, OSU, AMPS, ZEROMQ, RABBIT = sources()
SIZES = (8, 256, 2048, 8192, 131072)
SENT_SIZES = tuple(2**power for power in range(3, 18))


def every_claim():
    """All claims of all sources, by id."""
    return {id_: claim for source in sources() for id_, claim in source.claims.items()}


def dv(size):
    """The name of the Data Vortex scenario of a size."""
    return f"h3/dv-{size}"


def fdr(size):
    """The name of the InfiniBand scenario of a size."""
    return f"h3/fdr-{size}"
