"""The layered communication network: who listens to whom (paper, Section III, Algorithm 1)."""

from tricover.network.mentees import MenteeRule
from tricover.network.network import Network, NeuralLayer, build_network, network_in_frame

__all__ = ["MenteeRule", "Network", "NeuralLayer", "build_network", "network_in_frame"]
