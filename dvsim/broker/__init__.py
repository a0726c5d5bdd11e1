"""Private RabbitMQ nodes of the distribution's package, and the bridge that publishes into them."""

from dvsim.broker.brokers import Brokers, Cluster
from dvsim.broker.node import Node

__all__ = ["Brokers", "Cluster", "Node"]
