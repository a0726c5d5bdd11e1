"""Which cards of kind "vortex" can be simulated word by word: what a packet's header can say."""

from __future__ import annotations

from dvsim.scenario.types import Card
from dvsim.scenario.units import format_value

SRAM = 8 << 22  # bytes that the 22 bits of an address reach
COUNTERS = 64  # that 6 bits name
FIFO_WORDS = 1 << 24
SETUP = 10**12  # ps
LEAST_RATE = 1000  # bytes/s


def beyond_words(card: Card) -> tuple[str, str] | None:
    """Return the parameter for which a card cannot be simulated word by word, and why; or None."""
    crossings = 2 * card["pio_write"]
    limits = (
        ("sram", card["sram"] <= SRAM, f"must be at most {SRAM} B, which a header addresses"),
        (
            "group_counters",
            card["group_counters"] <= COUNTERS,
            f"must be at most {COUNTERS}, which a header names",
        ),
        ("fifo_words", card["fifo_words"] <= FIFO_WORDS, f"must be at most {FIFO_WORDS}"),
        (
            "dma_setup",
            card["dma_setup"] <= SETUP,
            f"must be at most {format_value(SETUP, 'time')}",
        ),
        ("pcie_rate", card["pcie_rate"] >= LEAST_RATE, f"must be at least {LEAST_RATE} B/s"),
        (
            "pio_read",
            card["pio_read"] >= crossings,
            f"must be at least {format_value(crossings, 'time')}, two crossings of pio_write",
        ),
    )
    for name, is_good, message in limits:
        if not is_good:
            return name, f"{message}, is {card.parameters[name].text}"
    return None
