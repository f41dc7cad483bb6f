"""What a fleet can fly, and what need not be said in one."""

from tricover.errors import InputError
from tricover.simulation import Mission
from tricover.vehicles.exact import Exact

__all__ = ["cells_follow", "check_flyable"]


def cells_follow(mission: Mission) -> bool:
    """Whether everybody always lands on its goal point, so that positions tell its cells."""
    exact = mission.scenario.control.motion == "reach" and isinstance(mission.vehicle, Exact)
    return exact and mission.world.channel.perfect


def check_flyable(mission: Mission) -> None:
    """Refuse what a fleet cannot do, as somebody would have to know everything."""
    scenario = mission.scenario
    if mission.world.clearance.apart:
        raise InputError(
            "safety.separation with this motion is kept by somebody who knows where all are, and in a fleet nobody "
            'does: fly with motion "morph", which keeps apart by itself, or leave separation out'
        )
    if any(epoch.told.goal == "descent" for epoch in mission.epochs):
        raise InputError('a fleet cannot fly the goal "descent", with messages up and down in a step: choose another')
    if scenario.world.radio is not None:
        raise InputError("world.radio is for simulations: a fleet has a radio of its own; leave it out")
