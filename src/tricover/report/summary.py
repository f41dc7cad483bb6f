"""What the run was and how it ended, in a few facts and verdicts."""

from collections.abc import Iterator
from typing import Any

from tricover.certificates import Certificate
from tricover.control import named_by_zone
from tricover.own import label_of
from tricover.report.markup import Html, definitions, paragraph
from tricover.report.page import Section
from tricover.simulation import Run
from tricover.simulation.telling import has_phases
from tricover.units import length

__all__ = ["lead_of", "summary_section", "verdicts_of"]

_MOTIONS = {
    "reach": "reach: to the goal point in one step",
    "walk": "walk: cell by cell",
    "morph": "morph: nested at every step",
}


def lead_of(run: Run) -> str:
    """The run in a sentence."""
    facts = run.summary()
    targets = len(run.mission.targets)
    layers = "1 layer" if facts["layers"] == 1 else f"{facts['layers']} layers"
    return f"{facts['agents']:,} agents in {layers} cover {targets:,} targets: {run.steps:,} steps."


def verdicts_of(run: Run, certificate: Certificate) -> list[tuple[str, bool | None]]:
    """Settled? Where it should? Does the certificate hold?"""
    found: list[tuple[str, bool | None]] = []
    if run.interrupted:
        found.append((f"interrupted after step {run.steps}", None))
    if run.settled_at is None:
        found.append((f"not settled after {run.steps} steps", False))
    else:
        where = "where it should" if run.converged else "but not where it should"
        found.append((f"settled at step {run.settled_at}, {where}", run.converged))
    return [*found, (f"certificate {'holds' if certificate.holds else 'does not hold'}", certificate.holds)]


def summary_section(run: Run) -> Section:
    """The facts."""
    remark = ""
    if run.interrupted:
        remark = paragraph(
            f"This run was cut short: {run.steps} of at most {run.scenario.steps} steps were kept. This is about them."
        )
    return Section("Summary", Html(remark + definitions(dict(_facts(run)))))


def _facts(run: Run) -> Iterator[tuple[str, object]]:
    facts, scenario, network = run.summary(), run.scenario, run.network
    targets, control = run.mission.targets, scenario.control
    lost = f", {len(network.lost)} lost" if network.lost.size else ""
    mentee = network.mentee if isinstance(network.mentee, str) else "a rule of its own"
    roles = f"{len(network.boundary)} boundary, 1 core, {len(network.followers):,} followers{lost}"
    yield "agents", f"{facts['agents']:,}: {roles}"
    yield "layers of followers", f"{network.depth}, mentee rule {mentee}"
    if len(run.epochs) > 1:
        yield "networks", f"{len(run.epochs)}, from steps {', '.join(str(epoch.start) for epoch in run.epochs)} on"
    if has_phases(scenario):
        turns = [f"{label_of(epoch.told.goal)} from step {epoch.start} on" for epoch in run.epochs]
        yield "goals in turn", ", ".join(turns)
    if "plans" in facts:
        yield "plans of its own", f"{facts['plans']}, {facts['plan_numbers']:.0f} numbers per agent"
    yield "targets", f"{len(targets):,}" + ("" if targets.still else ", changing over time")
    yield "motion", _MOTIONS[control.motion]
    yield "goal", facts["goal"]
    yield "cells of a triangle", f"{control.resolution**2:,} (resolution {control.resolution})"
    yield "margin η", f"{control.margin:g}"
    yield from _of_its_world(run, facts)
    yield "vehicle", f"{facts['vehicle']}, {scenario.vehicle.duration:g} s per step"
    if run.mission.pads is not None:
        yield "launch", f"{run.mission.launch:,} steps from the pads to the reference positions"
    yield "steps", f"{run.steps:,} of at most {scenario.steps:,}"
    yield "settled at step", "never" if run.settled_at is None else run.settled_at
    yield "largest distance to desired", length(run.largest_error)
    yield "missed reach sets", f"{run.missed:,}"
    if run.measures_separation:
        yield "least distance of any two", run.separation.words
    if facts.get("cut_off"):
        yield "cut off from their goals", named_by_zone(run.cut_off)
    yield "seed", scenario.seed


def _of_its_world(run: Run, facts: dict[str, Any]) -> Iterator[tuple[str, object]]:
    """What not every run has: moves that may fail, late messages, agents that see only so far."""
    world, kernel = run.scenario.world, run.scenario.control.kernel
    if kernel != "certain":
        yield (
            "moves",
            "each agent learns how they end" if kernel == "learned" else f"slip with chance {kernel['slip']:g}",
        )
    if not run.mission.world.channel.perfect:
        said = {"delay": world.delay, "loss": world.loss, "burst": world.burst, "radio, m": world.radio}
        told = ", ".join(f"{name} {value}" for name, value in said.items() if value)
        yield "messages", f"{told}; the oldest acted on was {facts['oldest_message']} steps old"
    if world.sight is not None:
        yield "sight", f"{length(world.sight)}; {facts['numbers']:.1f} numbers sent per agent and step"
