"""What the fabric of a run was: its fidelity, and what the cycle level says of it, in one line."""

from __future__ import annotations

import pandas as pd


def fabric_text(counters: pd.DataFrame) -> str | None:
    """Return which fidelity of the fabric ran and how good it is; None where there is no fabric.

    Examples
    --------
    >>> import pandas as pd
    >>> values = {"cycle_fidelity": 0.0, "latency_s": 2e-7, "rate_alone": 4.4e9,
    ...           "rate_together": 4.3e9, "flow_error": 0.004}
    >>> rows = [(1, 1, "fabric", metric, value, "1") for metric, value in values.items()]
    >>> names = ["replication", "iteration", "component", "metric", "value", "unit"]
    >>> print(fabric_text(pd.DataFrame(rows, columns=names)))
    flow fidelity, within 0.4 % of the cycle level; first word after 200 ns, 4.4 GB/s for a sender
    alone, 4.3 GB/s for each of all
    """
    rows = counters[counters["component"] == "fabric"]
    if rows.empty:
        return None
    value = rows.groupby("metric")["value"].mean()
    card = counters[(counters["component"] == "card") & (counters["metric"] == "flow_error")]
    if value["cycle_fidelity"] == 1:
        fidelity = "cycle fidelity, every word slot by slot and through the card"
    else:
        error = 100 * value["flow_error"]
        fidelity = f"flow fidelity, within {error:.1f} % of the cycle level"
        if not card.empty:
            fidelity += f", the card within {100 * card['value'].mean():.2f} %"
    return (
        f"{fidelity}; first word after {value['latency_s'] * 1e9:.0f} ns, "
        f"{value['rate_alone'] / 1e9:.3g} GB/s for a sender alone, "
        f"{value['rate_together'] / 1e9:.3g} GB/s for each of all"
    )
