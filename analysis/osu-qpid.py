# %% [markdown]
# # Qpid M3 over IPoIB, 1 GigE and SDP
#
# Source: Ohio State University, *Design and Evaluation of AMQP over InfiniBand*. Its page shows
# two figures, latency of small and of large messages over a direct exchange with one publisher and
# one consumer, and prints none of their numbers. All costs of the model are therefore assumed:
# **no height of a curve here is held against anything**. What can be held against the source is
# the order of the networks and its reason; that is what the verdicts at the end speak about.

# %%
import matplotlib.pyplot as plt
from house import REPLICATIONS, Text, claims, curve, legends, pick, sizes

import dvsim

latency, throughput, exchanges, federation = (
    dvsim.run(f"osu-qpid/{name}", replications=REPLICATIONS)
    for name in ("latency", "throughput", "exchanges", "federation")
)
validation = dvsim.validate(latency, exchanges)
NETWORKS = {"ipoib-ddr": "IPoIB (DDR)", "1gige": "1 GigE", "sdp-ddr": "SDP (DDR)"}
SMALL, LARGE = 1024, 262144

# %% [markdown]
# ## The two figures: latency of small and of large messages

# %%
figure, (small, large) = plt.subplots(1, 2, figsize=(9.5, 4))
for number, (link, label) in enumerate(NETWORKS.items()):
    rows = pick(latency, "latency", link=link)
    for axes, part in (
        (small, rows[rows["message_bytes"] <= SMALL]),
        (large, rows[rows["message_bytes"] >= 4096]),
    ):
        curve(axes, part["message_bytes"], part[["value", "low", "high"]] / 1000, number, label)
        sizes(axes)
        axes.set_ylabel("one way, ms")
small.set_title("Small messages: IPoIB is first")
large.set_title("Large messages: SDP is first")
large.set_yscale("log")
legends(large)

# %% [markdown]
# Where the order changes, and what of the latency over SDP is the set-up of its connection, which
# the source counts in (how many messages share one set-up is our assumption, 20):

# %%
table = (
    pick(latency, "latency")
    .pivot_table(index="message_bytes", columns="link", values="value")
    .rename(columns={link: f"{label}, us" for link, label in NETWORKS.items()})
)
ipoib, gige, sdp = (f"{label}, us" for label in NETWORKS.values())
table["best"] = table[[ipoib, gige, sdp]].idxmin(axis=1).str.removesuffix(", us")
setup = pick(latency, "setup", link="sdp-ddr").set_index("message_bytes")["value"]
table["set-up in SDP"] = [f"{share:.0%}" for share in setup]
assert set(table["best"].loc[:SMALL]) == {"IPoIB (DDR)"}
assert set(table["best"].loc[LARGE:]) == {"SDP (DDR)"}
assert (setup.loc[:SMALL] > 0.5).all() and setup.loc[LARGE:].max() < setup.loc[:SMALL].min()
table

# %% [markdown]
# ## The same benchmark as data and as messages per second
#
# The source says that its benchmarks give them and does not show them.

# %%
figure, panels = plt.subplots(1, 2, figsize=(9.5, 4))
for number, (link, label) in enumerate(NETWORKS.items()):
    for axes, metric, unit in zip(
        panels, ("rate_out", "megabytes"), ("messages/s", "MB/s"), strict=True
    ):
        rows = pick(throughput, metric, link=link)
        curve(axes, rows["message_bytes"], rows, number, label)
        sizes(axes)
        axes.set_yscale("log")
        axes.set_ylabel(unit)
panels[0].set_title("Messages, flow with a window of 200")
panels[1].set_title("Data")
legends(panels[1])

# %% [markdown]
# ## Exchanges, publishers and consumers
#
# Messages that consumers take, and what limits them. A fan-out exchange makes a copy for each
# consumer.

# %%
rows = pick(exchanges, "rate_out").assign(
    shown=[
        f"{value:,.0f} ({exchanges.bottleneck(point)[0]})"
        for point, value in pick(exchanges, "rate_out")[["point", "value"]].itertuples(index=False)
    ]
)
table = rows.pivot_table(
    index=["exchange", "publishers"], columns="consumers", values="shown", aggfunc="first"
)
table.columns = [f"{consumers} consumer{'s' * (consumers > 1)}" for consumers in table.columns]
table

# %% [markdown]
# ## What if the broker were federated?
#
# The title of the group's technical report asks it; its text could not be read, so this is a
# what-if on assumed costs: every message goes to eight consumers.

# %%
figure, axes = plt.subplots(figsize=(7.5, 3.6))
for number, size in enumerate((64, 1024, 16384)):
    rows = pick(federation, "rate_out", exchange="fanout", message_bytes=size)
    single = rows["value"].iloc[0]
    curve(axes, rows["brokers"], rows[["value", "low", "high"]] / single, number, f"{size:,} B")
sizes(axes, "broker nodes")
axes.set_xticks([1, 2, 4, 8], ["1", "2", "4", "8"])
axes.set_ylabel("times one broker")
axes.set_title("Copies per second for eight consumers, fan-out exchange")
axes.set_ylim(bottom=0)
legends(axes)

# %% [markdown]
# Two or four nodes help because the first of them sends fewer copies; eight nodes are again one
# node that sends to seven others.

# %%
rows = pick(federation, "rate_out", exchange="fanout", message_bytes=16384)
by = rows.set_index("brokers")["value"]
assert by[2] > 1.3 * by[1] and abs(by[8] / by[1] - 1) < 0.1
Text(f"At 16 KiB, two nodes {by[2] / by[1]:.2f} times one, four {by[4] / by[1]:.2f}, "
     f"eight {by[8] / by[1]:.2f}.")  # fmt: skip

# %% [markdown]
# ## What holds

# %%
open_ones = [one.id for one in validation.claims if one.verdict != "confirmed"]
assert not open_ones, f"not confirmed: {open_ones}"
claims(validation)
