"""Private RabbitMQ nodes of the distribution's package, and the bridge that publishes into them."""

from dvsim.broker.node import Node
from dvsim.broker.private_nodes import Brokers, Cluster

__all__ = ["Brokers", "Cluster", "Node"]
