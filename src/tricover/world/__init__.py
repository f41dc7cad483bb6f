"""What lies between the agents and the truth: what is heard, what is seen, and where it is safe to land.

Only the simulator knows the truth. An agent learns of it through a ``World``: a *channel* for messages, a *sensor* for
targets and for agents near by, and *clearance* for landings. The perfect ones are the default: every message arrives at
once, every target is seen, every landing is safe.
"""

from dataclasses import dataclass, field

from tricover.world.channel import Channel, ImperfectChannel, PerfectChannel, heard_at_once
from tricover.world.clearance import AllClear, Clearance, KeepApart, Request
from tricover.world.sensing import PerfectSensor, RangeSensor, Scene, Sensor

__all__ = [
    "AllClear",
    "Channel",
    "Clearance",
    "ImperfectChannel",
    "KeepApart",
    "PerfectChannel",
    "PerfectSensor",
    "RangeSensor",
    "Request",
    "Scene",
    "Sensor",
    "World",
    "heard_at_once",
]


@dataclass(frozen=True)
class World:
    """How agents learn of the truth, and what keeps them from landing where they decide to."""

    channel: Channel = field(default_factory=PerfectChannel)
    sensor: Sensor = field(default_factory=PerfectSensor)
    clearance: Clearance = field(default_factory=AllClear)

    @property
    def counted(self) -> bool:
        """Whether the numbers that agents send are counted: where they see only so far, and tell each other."""
        return not self.sensor.sees_all
