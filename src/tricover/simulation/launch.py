"""The launch: from the pads to the reference positions, before the network is used.

Everybody flies straight, all leave and arrive together: at step k of K an agent is to be at pad + (k/K)·(place - pad).
Who takes which place is worked out by ``assign_places``, which also proves how far apart they stay. Roles are free
until then: agent i is whoever takes the place i. During the launch nobody listens to anybody, and step K is the first
of the network.

K is the longest way over ``control.speed``, rounded up; one step where no speed is given. Vehicles that may miss get as
many steps as they need. Each kind is tried for eight steps, from rest and facing away: asked for a twentieth more than
its share in each, it must come eight shares far. So it can catch up, and does not fall behind.
"""

from math import ceil, inf, sqrt
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tricover.errors import InputError, LostControlError, agents, listed
from tricover.geometry.approach import Separation, separation
from tricover.geometry.assignment import assess_flight, assign_places
from tricover.simulation.section import LAST_STEP
from tricover.units import length
from tricover.vehicles import Vehicle, flies_for_real

if TYPE_CHECKING:
    from tricover.simulation.mission import Mission
    from tricover.simulation.scenario import Scenario

__all__ = ["launch_notices", "launch_steps", "launch_summary", "pads_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_MORE = 0.05  # of a part of the way: what a vehicle that is late must be able to catch up in a step
_TRIED = 8  # steps in a row: a vehicle at rest may do what one that comes in fast does not, or must turn first
_MOST_STEPS = 1 << 16


def pads_of(scenario: "Scenario", pads: Floats, reference: Floats) -> Ints:
    """Which of the pads (N, 2) each agent takes, (N,): as the scenario says, or by least squares."""
    given = scenario.formation.pads
    if given is None:
        found = np.argsort(assign_places(pads, reference).places)
        found.flags.writeable = False
        return found
    wrong = np.setdiff1d(np.arange(len(pads)), given)
    if len(given) != len(pads) or wrong.size:
        missing = f", and pad {listed(wrong)} is not among them" if wrong.size else ""
        raise InputError(f"formation.pads: {len(pads)} agents need a pad each, {len(given)} are given{missing}")
    return np.asarray(given)


def launch_steps(scenario: "Scenario", start: Floats, reference: Floats) -> int:
    """K for a flight from (N, 2) to (N, 2): 0 if nobody moves."""
    longest = float(np.hypot(*(reference - start).T).max())
    given, steps = scenario.formation.launch, longest / (scenario.control.speed or inf)
    if not steps <= LAST_STEP:
        raise InputError(f"control.speed: a way of {length(longest)} takes more than {LAST_STEP} steps: be faster")
    least = max(ceil(steps), 1) if longest else 0
    if given is not None:
        if given < least:
            raise InputError(f"formation.launch: a way of {length(longest)} takes {_steps(least)} or more, not {given}")
        return given
    kinds = [kind.made() for kind in (scenario.vehicle, *scenario.vehicle.others)] if longest else []
    slow = [one for one in kinds if one.landing == "anywhere" and not flies_for_real(one)]
    return max([least, *(_followed_in(one, longest, scenario.vehicle.duration) for one in slow)])


def _followed_in(vehicle: Vehicle, way: float, duration: float) -> int:
    """The least number of steps in which a vehicle keeps up on a way of so many metres; the best if it never does."""
    steps, found = 1, {}
    while steps <= _MOST_STEPS:
        found[steps] = _advance(vehicle, way / steps, duration)
        if found[steps] >= 1:
            break
        steps *= 2
    else:
        return max(found, key=found.__getitem__)
    few = steps // 2  # too few, or none
    while steps - few > 1:
        middle = (steps + few) // 2
        enough = _advance(vehicle, way / middle, duration) >= 1
        few, steps = (few, middle) if enough else (middle, steps)
    return steps


def _advance(vehicle: Vehicle, part: float, duration: float) -> float:
    """How far a vehicle comes in some steps, of as many parts of the way, if it is asked for a little more in each."""
    states = vehicle.initial_state(np.zeros((1, 2)))
    for step in range(1, _TRIED + 1):
        goal = np.array([[-step * part * (1 + _MORE), 0.0]])  # vehicles with a heading face east
        try:
            states = vehicle.drive(states, np.repeat(goal[:, None], 3, axis=1), duration, np.zeros((1, 2)))
        except LostControlError:
            return 0.0
    return -float(vehicle.output(states)[0, 0]) / (_TRIED * part)


def launch_summary(mission: "Mission") -> str | None:
    """How the launch goes, and how far apart everybody stays; None where there is none."""
    ground = mission.ground
    if mission.pads is None:
        return None
    found, guaranteed = assess_flight(ground.start, ground.reference)
    longest = length(float(np.hypot(*(ground.reference - ground.start).T).max()))
    kept = f"at least {length(found.distance)} apart, {length(guaranteed)} by the theorem"
    return f"{_steps(mission.launch)} from the pads, at most {longest}: {kept}"


def launch_notices(mission: "Mission") -> list[str]:
    """What is asked of a launch and cannot be promised."""
    if mission.pads is None:
        return []
    said = _short_of(mission, *assess_flight(mission.ground.start, mission.ground.reference))
    if mission.launch >= mission.scenario.steps:
        said.append(f"the launch takes {_steps(mission.launch)}, and the scenario has only {mission.scenario.steps}")
    return said


def _steps(count: int) -> str:
    return "1 step" if count == 1 else f"{count} steps"


def _short_of(mission: "Mission", found: Separation, guaranteed: float) -> list[str]:
    """What keeps the separation that is asked for from being guaranteed."""
    wanted, pads = mission.scenario.safety.separation, mission.pads
    if wanted is None or pads is None or wanted <= guaranteed or found.agents is None:
        return []
    needed = f"{length(sqrt(2) * wanted)}, √2 times the separation, would be needed for a guarantee"
    said = []
    for name, points in (("pads", mission.ground.start), ("places", mission.ground.reference)):
        near = separation(points[None])
        if near.agents is not None and near.distance < sqrt(2) * wanted:
            which = pads[list(near.agents)] if name == "pads" else near.agents
            said.append(f"{name} {listed(sorted(which))} are {length(near.distance)} apart: {needed}")
    if found.distance < wanted:
        who = agents(found.agents)
        said.append(f"{who} come within {length(found.distance)} on the way from the pads: less than {length(wanted)}")
    return said
