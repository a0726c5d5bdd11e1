"""Samples and their printed summaries, as a paper or ``pandas.describe`` prints them."""

import numpy as np
import pandas as pd

SHARES = (0.25, 0.5, 0.75, 0.9, 0.95, 0.99)

CLEAN = {
    "lognormal": lambda rng, n: rng.lognormal(10, 1, n),
    "gamma": lambda rng, n: rng.gamma(0.5, 1e5, n),
    "normal": lambda rng, n: np.abs(rng.normal(1e5, 3e4, n)),
    "pareto": lambda rng, n: 100 * (1 + rng.pareto(2, n)),
    "single precision, many zeros": lambda rng, n: (
        (rng.gamma(1, 1e5, n) * (rng.random(n) < 0.3)).astype(np.float32).astype(float)
    ),
    # counts are whole numbers by nature: that is no grid to report
    "counts, many zeros": lambda rng, n: (
        rng.poisson(rng.lognormal(1, 1, n)) * (rng.random(n) < 0.3)
    ),
    "large counts": lambda rng, n: rng.poisson(1e4, n),
    "broad counts": lambda rng, n: rng.negative_binomial(0.5, 1e-4, n),
}
FORMATS = ("%.4f", "%.6f", "%.2f", "%.1f", "%.0f", "%.10g", "%.3g")
METHODS = ("linear", "nearest", "lower", "higher", "weibull", "median_unbiased", "inverted_cdf")


def summary(samples, column, *, size=8, group="g", form="%.4f", method="linear"):
    """Return the rows of one column in long form, numbers as printed."""
    numbers = {"mean": samples.mean(), "std": samples.std(ddof=1), "min": samples.min()}
    for share in SHARES:
        numbers[f"{round(100 * share)}%"] = np.quantile(samples, share, method=method)
    numbers["max"] = samples.max()
    texts = {"count": str(len(samples))} | {name: form % x for name, x in numbers.items()}
    return [
        {"transport": group, "message_bytes": size, "column": column, "statistic": s, "value": x}
        for s, x in texts.items()
    ]


def long(columns):
    """Return ``{name: samples}`` as one summary."""
    return pd.DataFrame([row for name, x in columns.items() for row in summary(x, name)])


def kinds(findings):
    return [finding.kind for finding in findings]
