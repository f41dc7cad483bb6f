"""Agents as processes of their own: each hears three others over a network, decides alone, and drives its vehicle.

    fly_fleet(mission, settings)    all agents as processes on this machine, recorded as a run
    fly_together(scenario)          the same in one process, over a bus in memory
    fly_alone(mission, agent, …)    one agent, wherever it is
    record_flight, send_order       who listens, and who commands
    make_keys(folder, agents)       keys of everybody

It needs the extra ``fleet``: pip install 'tricover[fleet]'.
"""

from tricover.fleet.agent import Manners, fly
from tricover.fleet.clock import Clock, clock_of
from tricover.fleet.crew import Settings
from tricover.fleet.faults import At, Faults, Partition
from tricover.fleet.flight import Flown, fly_fleet
from tricover.fleet.ground import fly_alone, record_flight, route_until_stopped, send_order
from tricover.fleet.keys import Keys, make_keys
from tricover.fleet.membership import Patience
from tricover.fleet.together import fly_together
from tricover.fleet.tower import Report

__all__ = [
    "At",
    "Clock",
    "Faults",
    "Flown",
    "Keys",
    "Manners",
    "Partition",
    "Patience",
    "Report",
    "Settings",
    "clock_of",
    "fly",
    "fly_alone",
    "fly_fleet",
    "fly_together",
    "make_keys",
    "record_flight",
    "route_until_stopped",
    "send_order",
]
