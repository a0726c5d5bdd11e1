# %% [markdown]
# # AMPS and RabbitMQ durable queues
#
# Source: 60East Technologies 2016, *Comparison: AMPS and RabbitMQ*. Its four figures (publish and
# consume, on a disk and on an SSD) are pictures whose numbers are not in the text. What the text
# gives are ranges of ratios. The sizes of messages and the numbers of clients are our assumption;
# the costs of the two brokers are fitted to those ranges, so their height is no prediction. What
# is not put in is the shape: who falls with size, who gains from the faster device, and why.

# %%
import matplotlib.pyplot as plt
from house import COLOURS, INK, REPLICATIONS, SHORT, Text, claims, curve, legends, pick, sizes

import dvsim

queues, acknowledgements, delivery = (
    dvsim.run(f"amps/{name}", replications=REPLICATIONS, scale=SHORT)
    for name in ("queues", "acknowledgements", "delivery")
)
validation = dvsim.validate(queues, acknowledgements)
DEVICES = {"hdd-7200": "7200 rpm disk", "nvme-p3700": "NVMe SSD"}
PRODUCTS = {"amps-5": "AMPS", "rabbitmq-3.6": "RabbitMQ"}

# %% [markdown]
# ## The four figures: publish and consume, disk and SSD

# %%
figure, panels = plt.subplots(2, 2, figsize=(9, 7), sharex=True, sharey=True)
for row, (storage, device) in zip(panels, DEVICES.items(), strict=True):
    for axes, (metric, what) in zip(
        row, (("rate_in", "publish"), ("rate_out", "consume")), strict=True
    ):
        for number, (broker, product) in enumerate(PRODUCTS.items()):
            rows = pick(queues, metric, broker=broker, storage=storage)
            curve(axes, rows["message_bytes"], rows, number, product)
        axes.set_yscale("log")
        axes.set_ylim(1e4, 1e6)
        axes.set_title(f"{device}: {what}")
        axes.set_ylabel("messages/s")
        sizes(axes)
legends(panels[0, 0])

# %% [markdown]
# ## The ratios that the text gives
#
# Bars: AMPS over RabbitMQ, smallest and largest over the sizes. Grey: the range in the text.

# %%
CLAIMED = {
    ("hdd-7200", "rate_in"): (2, 15),
    ("hdd-7200", "rate_out"): (2, 15),
    ("nvme-p3700", "rate_in"): (24, 40),
    ("nvme-p3700", "rate_out"): (16, 30),
}
figure, axes = plt.subplots(figsize=(7.5, 3))
names = []
for place, ((storage, metric), (low, high)) in enumerate(CLAIMED.items()):
    ours, theirs = (
        pick(queues, metric, broker=broker, storage=storage)["value"].to_numpy()
        for broker in PRODUCTS
    )
    ratios = ours / theirs
    axes.barh(place, high - low, left=low, height=0.7, color="#dddddd")
    axes.plot([ratios.min(), ratios.max()], [place, place], color=COLOURS[0], linewidth=4)
    axes.plot(ratios, [place] * len(ratios), "o", color=INK, markersize=4)
    names.append(f"{DEVICES[storage]}, {'publish' if metric == 'rate_in' else 'consume'}")
axes.set_yticks(range(len(names)), names)
axes.set_xscale("log")
axes.set_xticks([2, 5, 10, 15, 24, 40], ["2", "5", "10", "15", "24", "40"])
axes.set_xlabel("AMPS / RabbitMQ; a point for each size")
axes.set_title("How many times faster AMPS is")
axes.minorticks_off()

# %% [markdown]
# ## What limits which
#
# AMPS writes its log before it delivers: on the disk the storage is the bottleneck, on the SSD it
# is the broker. RabbitMQ is limited by its queue, whatever the storage.

# %%
rows = pick(queues, "rate_out").assign(
    bottleneck=[
        f"{stage} {used:.0%}"
        for stage, used in map(queues.bottleneck, pick(queues, "rate_out")["point"])
    ]
)
table = rows.pivot_table(
    index=["broker", "storage"], columns="message_bytes", values="bottleneck", aggfunc="first"
)
on_disk = table.loc[("amps-5", "hdd-7200")]
assert all(text.startswith("storage") for text in on_disk), "AMPS is no longer storage-bound"
assert all(text.startswith("broker") for text in table.loc[("amps-5", "nvme-p3700")])
assert not any(text.startswith("storage") for text in table.loc["rabbitmq-3.6"].to_numpy().flat)
table.columns = [f"{size:,} B" for size in table.columns]
table

# %% [markdown]
# ## How long an acknowledgement takes
#
# Note 1 of the source: RabbitMQ syncs in batches, so that an acknowledgement can take a few
# hundred milliseconds under constant load. Half the interval on the average, whatever the device.

# %%
figure, axes = plt.subplots(figsize=(7.5, 3))
labels = []
for metric, mark in (("ack_mean", "o"), ("ack_p99", "D")):
    rows = pick(acknowledgements, metric)
    axes.plot(rows["value"] / 1000, range(len(rows)), mark, color=COLOURS[0],
              label="mean" if metric == "ack_mean" else "p99")  # fmt: skip
    labels = [f"{PRODUCTS[row.broker]}, {DEVICES[row.storage]}" for row in rows.itertuples()]
axes.axvspan(100, 500, color="#eeeeee")
axes.annotate("a few hundred ms", (105, 0), fontsize="small")
axes.set_yticks(range(len(labels)), labels)
axes.set_xscale("log")
axes.set_xlabel("from publishing to the acknowledgement, ms")
axes.set_title("Acknowledgements of persistent messages at 2,000 messages/s")
legends(axes)

# %% [markdown]
# ## Three delivery models
#
# The source names them and gives no figure. Four consumers, equal ones or one that is four times
# slower: what evenness costs in latency. This is a what-if, not a comparison.

# %%
figure, panels = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True)
for axes, rate in zip(panels, (20_000, 60_000), strict=True):
    for number, (slowdown, label) in enumerate(((1.0, "equal consumers"), (4.0, "one slow"))):
        rows = pick(delivery, "latency", rate=rate, slowdown=slowdown)
        places = [place + 0.35 * number for place in range(len(rows))]
        axes.bar(places, rows["value"], 0.33, color=COLOURS[number], label=label,
                 yerr=rows["high"] - rows["value"],
               hatch="//" * number, edgecolor="white")  # fmt: skip
    axes.set_xticks([place + 0.17 for place in range(len(rows))], rows["delivery"])
    axes.set_title(f"{rate:,} messages/s")
    axes.set_ylabel("mean latency, us")
legends(panels[0])

# %% [markdown]
# ## What holds

# %%
open_ones = [one.id for one in validation.claims if one.verdict != "confirmed"]
assert not open_ones, f"not confirmed: {open_ones}"
claims(validation)

# %%
rabbit = pick(queues, "rate_out", broker="rabbitmq-3.6")
faster = {
    broker: pick(queues, "rate_out", broker=broker, storage="nvme-p3700")["value"].to_numpy()
    / pick(queues, "rate_out", broker=broker, storage="hdd-7200")["value"].to_numpy()
    for broker in PRODUCTS
}
assert max(faster["rabbitmq-3.6"]) < 1.3 < min(faster["amps-5"])
Text(
    "The SSD makes AMPS "
    f"{min(faster['amps-5']):.1f} to {max(faster['amps-5']):.1f} times faster, RabbitMQ "
    f"{min(faster['rabbitmq-3.6']):.2f} to {max(faster['rabbitmq-3.6']):.2f} times. The reason "
    "in the model is the source's own: the queue of RabbitMQ does not wait for the device."
)
