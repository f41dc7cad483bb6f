"""The networks of a run: agents leave or join before a step, the network is repaired, and the run goes on.

A chapter is a stretch of steps with one network. Numbers never change their owner: the lost keep theirs, and those who
join take the next ones. All arrays of a run have room for the final roster; ``present`` says who takes part. Those who
are not there stand, in the arrays, where they were last seen or where they will join.

Anchors after a repair: one that has a given place keeps it. An agent that becomes an anchor and has none stays where
it stands at that moment (with no places given at all, or fitted ones, everybody's place is defined anyway).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tricover.errors import InputError
from tricover.goals.anchors import anchor_positions
from tricover.network import Network, build_network
from tricover.simulation.scenario import Scenario

__all__ = ["Chapter", "anchor_paths", "chapters", "roster_positions", "which_at"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Chapter:
    """A network and the step from which on it is in use."""

    start: int
    network: Network


def chapters(scenario: Scenario) -> list[Chapter]:
    """The networks of a scenario, in order; an event that cannot be is an error that names it."""
    settings, events = scenario.network, scenario.events
    network = build_network(scenario.reference, settings.mentee, settings.core)
    found = [Chapter(0, network)]
    for step in sorted({leave.step for leave in events.leave} | {join.step for join in events.join}):
        try:
            for leave in events.leave:
                network = network.without(leave.agents) if leave.step == step else network
            for join in events.join:
                network = network.with_agents(join.reference) if join.step == step else network
        except InputError as error:
            raise type(error)(f"events at step {step}: {error}") from None
        found.append(Chapter(step, network))
    return found


def which_at(found: list[Chapter], step: int) -> int:
    """Which chapter a step belongs to."""
    return sum(chapter.start <= step for chapter in found) - 1


def roster_positions(scenario: Scenario) -> Floats:
    """Where everybody of the final roster starts, or will stand when joining: (N, 2)."""
    joining = [join.places for join in sorted(scenario.events.join, key=lambda join: join.step)]
    return np.concatenate([scenario.start, *joining])


def anchor_paths(scenario: Scenario, found: list[Chapter], which: int, positions: Floats) -> Floats:
    """Where the anchors of a chapter are sent, step by step from step 0 on: (K, A, 2), staying at the last ones.

    The order is that of ``network.anchors``; ``positions`` (N, 2) are everybody's at the chapter's first step.
    """
    network, section = found[which].network, scenario.anchors
    if section is None:
        return np.asarray(network.reference[None, network.anchors])
    if section.fit:
        return anchor_positions(network, scenario.targets_at(found[which].start), "fit")[None]
    given = np.asarray(section.positions)[None] if section.paths is None else np.asarray(section.paths)
    owners = found[0].network.anchors
    if given.shape[1] != len(owners):
        raise InputError(
            f"anchors: the network has {len(owners)} anchors ({len(owners) - 1} boundary agents and the core), "
            f"but {given.shape[1]} places are given"
        )
    places = np.repeat(positions[None], len(given), axis=0)
    places[:, owners] = given
    return places[:, network.anchors]
