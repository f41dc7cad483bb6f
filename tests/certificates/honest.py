"""Honest flights of all vehicles, everything drawn from a seed, and their tables as ``tricover export`` writes them."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from typer.testing import CliRunner

import tricover as tc
from tricover.certificates.runs import settings_of
from tricover.cli.main import app
from tricover.errors import TricoverError
from tricover.export import export_run

__all__ = ["KINDS", "Flight", "certified", "fly", "scenario_of"]

# Each kind with the side of its field and the length of its steps: long enough for vehicles to get from cell to cell.
KINDS = {
    "exact": (100.0, 1.0),
    "anywhere": (100.0, 2.0),
    "double-integrator": (60.0, 60.0),
    "unicycle": (60.0, 120.0),
    "quadrotor": (4.0, 5.0),
    "mixed": (60.0, 120.0),
    "rotorpy": (2.0, 2.0),
}


@dataclass(frozen=True)
class Flight:
    """A run, with what a certificate of its table may be told without the scenario.

    Attributes:
        scenario: what was flown.
        run: how it went.
        clean: whether no follower missed its reach set, and no anchor its place by more than the tolerance.
        arrived: the step from which on all anchors stand; None if a repair made anchors that move later.
        tolerance: metres to which they do so.
    """

    scenario: tc.Scenario
    run: tc.Run
    clean: bool
    arrived: int | None
    tolerance: float

    @property
    def networks(self):
        """Networks with their first steps; one that nobody used is left out."""
        return [*{epoch.start: (epoch.start, epoch.network) for epoch in self.run.epochs}.values()]


def _vehicle(kind, duration, agents):
    if kind == "mixed":
        others = [{"kind": "exact", "agents": list(range(0, agents, 3))}]
        others.append({"kind": "anywhere", "agents": list(range(1, agents, 3))})
        return {"kind": "double-integrator", "duration": duration, "others": others}
    return {"kind": kind, "duration": duration, **({"control_period": 0.02} if kind == "rotorpy" else {})}


def scenario_of(seed, kind, agents=None, goal=None, motion=None, plain=False):
    """A scenario by its seed; a plain one has no events, no moving targets and no anchors on the move."""
    rng = np.random.default_rng([seed, 14])
    side, duration = KINDS[kind]
    slow = kind == "rotorpy"
    count = agents or int(10 if slow else rng.integers(10, 61))
    reference = rng.random((count, 2)) * side
    mentee = ("fermat", "balanced")[int(rng.integers(2))]
    motion = motion or ("reach", "walk")[int(rng.integers(2))]
    goal = goal or ("centroid", "reference", "predictive")[int(rng.integers(3))]
    network = tc.build_network(reference, mentee)
    points = rng.random((int(rng.integers(5, 120)), 2)) * side
    real = kind not in ("exact", "anywhere")
    resolution = int(rng.integers(1, 3 if real else 9))
    given = {
        "reference": reference,
        "targets": {"positions": points},
        "network": {"mentee": mentee},
        "control": {"motion": motion, "goal": goal, "resolution": resolution, "margin": 0.03},
        "vehicle": _vehicle(kind, duration, count),
        "steps": 1 if slow else 12 if kind == "quadrotor" else 40,
        "seed": seed,
    }
    if not plain:
        given |= _changes(rng, network, points, side, given["steps"])
    return tc.Scenario(**given)


def _changes(rng, network, points, side, steps):
    """Anchors that go somewhere, targets that move, agents that leave and join: each in about a third."""
    changes = {}
    places = network.reference[network.anchors]
    way = rng.choice(["stay", "go", "path", "stay"])
    if way == "go":
        changes["anchors"] = 0.9 * places + 0.05 * side
    elif way == "path":
        changes["anchors"] = np.array([places * (1 - 0.02 * step) for step in range(int(rng.integers(2, 6)))])
    if rng.random() < 0.35:
        velocity = (0.01 * side * rng.normal(size=2)).tolist()
        motion = {
            "velocity": velocity,
            **({"until": int(rng.integers(1, max(steps, 2)))} if rng.random() < 0.7 else {}),
        }
        changes["targets"] = {"positions": points, "motion": motion}
    events = {}
    if rng.random() < 0.3 and len(network.followers) > 1:
        pool = network.followers if rng.random() < 0.7 else network.anchors[:1]
        events["leave"] = [{"step": int(rng.integers(0, min(steps, 8))), "agents": [int(rng.choice(pool))]}]
    if rng.random() < 0.25:
        middle = network.reference[network.anchors].mean(axis=0)
        new = middle + 0.02 * side * rng.normal(size=(2, 2))
        events["join"] = [{"step": int(rng.integers(1, min(steps, 8) + 1)), "reference": new}]
    return changes | ({"events": events} if events else {})


def fly(scenario):
    """The flight of a scenario."""
    run = tc.simulate(scenario)
    tolerance = settings_of(run.mission).tolerance
    clean = True
    for epoch, stop in zip(run.epochs, [*(e.start for e in run.epochs[1:]), run.steps], strict=True):
        misses = run.misses[epoch.start : stop]
        clean = clean and not misses[:, epoch.network.followers].any()
        clean = clean and bool((misses[:, epoch.network.anchors] <= tolerance).all())
    return Flight(scenario, run, clean, _arrived(run, tolerance), tolerance)


def _arrived(run, tolerance):
    """From when on the anchors of all epochs stand, by the positions themselves."""
    found = 0
    for epoch, stop in zip(run.epochs, [*(e.start for e in run.epochs[1:]), run.steps], strict=True):
        positions = run.positions[epoch.start : stop + 1, epoch.network.anchors]
        off = np.flatnonzero((np.abs(positions - positions[-1]) > tolerance / 2).any(axis=(1, 2)))
        rest = epoch.start + int(off[-1]) + 1 if off.size else epoch.start
        if rest > epoch.start and epoch.start > 0:
            return None
        found = max(found, rest)
    return found


def certified(folder: Path, table: Path, networks, scenario=None, options=()):
    """What ``tricover certify`` says of a table: its exit code and its text."""
    arguments = ["certify", str(table), "--json"]
    for place, (start, network) in enumerate(networks):
        file = folder / f"network-{place}.json"
        file.write_text(network.to_json())
        arguments += ["--network", f"{start}:{file}"]
    if scenario is not None:
        scenario.save(folder / "flight.toml")
        arguments += ["--scenario", str(folder / "flight.toml")]
    try:
        result = CliRunner().invoke(app, [*arguments, *map(str, options)], catch_exceptions=False)
    except TricoverError as error:  # what the shell shows as one line, with exit code 2
        return 2, str(error)
    return result.exit_code, result.stdout


def exported(folder: Path, flight: Flight) -> Path:
    """The table of a flight, as ``tricover export`` writes it."""
    export_run(flight.run, folder / "flight.csv")
    return folder / "flight.csv"
