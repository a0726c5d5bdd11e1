# %% [markdown]
# # The record cluster: 30 RabbitMQ nodes
#
# Source: Kolster & Quick 2018, section 3, footnote 4, citing Pivotal's benchmark: 30 nodes took
# 43,404 messages a second each. One number, read in two ways:
#
# - `pivotal/record` puts thirty nodes *like those of the 2018 study* under 120 publishers. Its
#   broker was fitted to that study, not to the record; the size of messages and the publishers are
#   assumed. A guess.
# - `pivotal/sizes` has a card of its own whose rate is *fitted* to the record. It confirms
#   nothing; it says what such a node would do with other messages.

# %%
import matplotlib.pyplot as plt
from house import REPLICATIONS, SHORT, Text, claims, curve, legends, limit, pick, published, sizes

import dvsim
from dvsim.study.number_text import four_digits

record = dvsim.run("pivotal/record", replications=REPLICATIONS, scale=SHORT)
bystander = dvsim.run("h3/fdr-8", replications=REPLICATIONS, scale=SHORT)
by_size, by_clients = (
    dvsim.run(f"pivotal/{name}", replications=REPLICATIONS, scale=SHORT)
    for name in ("sizes", "clients")
)
validation = dvsim.validate(record, bystander)
RECORD = 43_404  # msg/s and node

# %% [markdown]
# ## The record, guessed from another machine

# %%
table = record.estimates()
means = table[table["metric"] == "messages.mean"].iloc[0]
nodes = record.scenario.system.receivers
per_node = {key: means[key] / nodes for key in ("low", "value", "high")}
ratio = per_node["value"] / RECORD
assert 0.8 < ratio < 1.25, "thirty nodes of the study are no longer near the record"
Text(f"Thirty nodes of the 2018 study take {four_digits(per_node['value'])} "
     f"({four_digits(per_node['low'])} to {four_digits(per_node['high'])}) messages a second each, "
     f"{ratio:.2f} times the record. All wait for the slowest of thirty at the end of each "
     "batch, which is an assumption about the benchmark and lowers the rate.")  # fmt: skip

# %%
claims(validation, "H3-18", "H3-19")

# %% [markdown]
# ## The record as a card: what a node would do with other messages

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.8))
rows = pick(by_size, "rate_out")
curve(left, rows["message_bytes"], rows[["value", "low", "high"]] / 1000, 0, "one node, fitted")
published(left, {8: (41.234, 45.574)}, "the record")
left.set_ylabel("thousand messages/s and node")
sizes(left)
rows = pick(by_clients, "rate_out")
curve(right, rows["publishers"], rows[["value", "low", "high"]] / 1000, 0, "one node")
limit(right, RECORD / 1000, "the record")
sizes(right, "publishers, and as many consumers")
right.set_xticks([1, 2, 4, 8, 16, 32], ["1", "2", "4", "8", "16", "32"])
left.set_title("Size of messages")
right.set_title("Connections, 8 B")
legends(left)

# %%
table = pick(by_size, "rate_out")[["message_bytes", "value"]].rename(
    columns={"value": "messages/s"}
)
table["MB/s"] = pick(by_size, "megabytes")["value"].to_numpy()
table["bottleneck"] = [
    f"{stage} {used:.0%}" for stage, used in map(by_size.bottleneck, range(len(table)))
]
cores = table["bottleneck"].str.startswith("broker threads")
assert cores.iloc[0] and not cores.iloc[-1], "the bottleneck no longer moves from cores to link"
table.reset_index(drop=True)
