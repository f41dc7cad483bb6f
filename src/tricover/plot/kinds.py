"""All figures of a run by name: what ``tricover plot`` draws."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from tricover.certificates import Certificate, Log, certify, log_of_run, transition_matrices
from tricover.coverage import coverage_over_time
from tricover.errors import InputError, advice
from tricover.export import flight_of, flights_of
from tricover.plot.certificate import plot_contraction, plot_settling, plot_transition, plot_tube
from tricover.plot.coverage import plot_coverage, plot_voronoi
from tricover.plot.decomposition import plot_cells
from tricover.plot.formation import plot_desired, plot_network
from tricover.plot.heights import plot_heights
from tricover.plot.layers import plot_layers
from tricover.plot.learning import plot_evidence, plot_learned, plot_policies
from tricover.plot.messages import plot_ages, plot_messages
from tricover.plot.motion import plot_coordinates, plot_portrait
from tricover.plot.paths import chosen_agents, chosen_step, plot_paths
from tricover.plot.separation import plot_approaches, plot_separation
from tricover.plot.sight import plot_sight
from tricover.plot.story import plot_story
from tricover.simulation import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["KINDS", "Kind", "Subject", "kind_named"]

Drawing: TypeAlias = "Axes | Sequence[Axes]"


@dataclass(frozen=True, eq=False)
class Subject:
    """What figures are about: a run, and the agent and step that some of them single out.

    ``agent`` None: the follower that starts farthest from its desired position. ``step`` counts from the end if
    negative. What several figures need is computed once.
    """

    run: Run
    agent: int | None = None
    step: int = -1

    def __post_init__(self) -> None:
        chosen_step(self.run, self.step)
        if self.agent is not None:
            chosen_agents(self.run, [self.agent])

    @cached_property
    def chosen(self) -> int:
        """The agent to single out."""
        if self.agent is not None:
            return self.agent
        followers = self.run.network.followers
        away = np.linalg.norm(self.run.positions[0, followers] - self.run.desired[followers], axis=1)
        return int(followers[np.argmax(away)]) if followers.size else self.run.network.core

    @cached_property
    def log(self) -> Log:
        """The run as certificates read it."""
        return log_of_run(self.run)

    @cached_property
    def certificate(self) -> Certificate:
        """The run's certificate."""
        return certify(self.log)

    def draw_heights(self) -> "Sequence[Axes]":
        """The levels of the plans that an export with no options writes."""
        asked = self.run.scenario.safety.separation
        return plot_heights(flights_of(self.run, flight_of(self.run.mission.vehicle, separation=asked)))

    def draw_transition(self) -> "Axes":
        """Γ at the step, or at the last that there is."""
        time = min(chosen_step(self.run, self.step), self.run.steps - 1)
        for step, matrix in enumerate(transition_matrices(self.log), self.log.launched):
            if step == time:
                return plot_transition(matrix, self.run.network_at(time))
        why = f"the network is used from step {self.log.launched} on" if self.log.launched else "this run has no steps"
        raise InputError(f"{why}: there is no transition to draw")


class Kind(NamedTuple):
    """A kind of figure: what it shows, and how it is drawn."""

    about: str
    draw: Callable[[Subject], Drawing]


KINDS = {
    "network": Kind("who listens to whom, in the reference formation", lambda of: plot_network(of.run.network)),
    "cells": Kind("how the network is built, layer by layer", lambda of: plot_cells(of.run.network)),
    "layers": Kind("the network as layers of neurons", lambda of: plot_layers(of.run.network)),
    "desired": Kind("where the team should settle, with its links and the targets", lambda of: plot_desired(of.run)),
    "paths": Kind("where everybody went", lambda of: plot_paths(of.run)),
    "heights": Kind("at which levels plans for a ground station fly, and when", lambda of: of.draw_heights()),
    "coordinates": Kind("x and y of one agent over time (--agent)", lambda of: plot_coordinates(of.run, of.chosen)),
    "portrait": Kind(
        "phase portraits: offset from the desired position against its change", lambda of: plot_portrait(of.run)
    ),
    "coverage": Kind(
        "coverage over time, with Lloyd's algorithm", lambda of: plot_coverage(coverage_over_time(of.run))
    ),
    "voronoi": Kind("who is nearest to which target, at a step (--step)", lambda of: plot_voronoi(of.run, of.step)),
    "separation": Kind("the least distance of any two agents, step by step", lambda of: plot_separation(of.run)),
    "approaches": Kind("who came closest to whom, and where", lambda of: plot_approaches(of.run)),
    "ages": Kind("how old what agents heard was, step by step", lambda of: plot_ages(of.run)),
    "messages": Kind(
        "which links are late or not heard, at a step (--step)", lambda of: plot_messages(of.run, of.step)
    ),
    "sight": Kind("what one agent sees, remembers and was told (--agent)", lambda of: plot_sight(of.run, of.chosen)),
    "story": Kind(
        "one agent's triangle, cells, decision and arrival (--agent)", lambda of: plot_story(of.run, of.chosen)
    ),
    "learned": Kind(
        "where the moves of an agent end, as it has learned (--agent)", lambda of: plot_learned(of.run, of.chosen)
    ),
    "policies": Kind(
        "how what it has learned changed an agent's policy (--agent)", lambda of: plot_policies(of.run, of.chosen)
    ),
    "evidence": Kind(
        "moves, misses and the chance to hit of an agent over time (--agent)",
        lambda of: plot_evidence(of.run, of.chosen),
    ),
    "settling": Kind(
        "the step at which each layer came to rest, with its bound", lambda of: plot_settling(of.certificate)
    ),
    "contraction": Kind("how fast the past is forgotten, with its bound", lambda of: plot_contraction(of.certificate)),
    "tube": Kind(
        "how far one agent stays from its desired position (--agent)",
        lambda of: plot_tube(of.certificate, of.log, of.chosen),
    ),
    "transition": Kind("the entries of the transition matrix at a step (--step)", lambda of: of.draw_transition()),
}


def kind_named(name: str) -> Kind:
    """The kind of that name; an unknown one is an error that names the nearest."""
    if name in KINDS:
        return KINDS[name]
    raise InputError(f"no figure {name!r}; {advice(name, [*KINDS, 'all'])}")
