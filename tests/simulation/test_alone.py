"""One agent in a process of its own decides what it decided in the team: to the bit for cells, nearly so for points."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tricover as tc
from tests.simulation.teams import extent
from tricover.control import decide
from tricover.simulation import Mission
from tricover.simulation.deciding import view_of

GOALS = ("centroid", "predictive", "rollout", "reference")
EACH = 30  # agents and steps drawn from a run


def given_team(goal, motion, seed):
    """Morph starts at the reference formation, in which it is nested; the others near it."""
    rng = np.random.default_rng(seed)
    reference = rng.random((60, 2)) * 50
    clusters = rng.normal(size=(200, 2)) * 4 + rng.choice([10.0, 35.0], (200, 1))
    points = np.concatenate([clusters, rng.uniform(-5, 55, (150, 2))])
    network = tc.build_network(reference, "balanced")
    return tc.Scenario(
        formation={"positions": reference, "start": reference + (motion != "morph") * rng.normal(size=reference.shape)},
        targets={"positions": points, "weights": rng.random(350), "motion": {"velocity": [0.2, -0.1], "until": 4}},
        anchors=reference[network.anchors] * 1.05,
        network={"mentee": "balanced"},
        control={"goal": goal, "motion": motion, "resolution": 9},
        vehicle="exact" if motion == "morph" else "anywhere",
        events={"leave": [{"step": 5, "agents": [int(network.boundary[0]), 3]}]},
        steps=12,
        seed=seed,
    )


def asked_of(run, name, rng):
    """Views of agents drawn from a run, and what they decided then."""
    states = [step.state for step in tc.steps(run.mission)][:-1]
    for _ in range(EACH):
        state = states[rng.integers(len(states))]
        epoch = run.epoch_at(state.step)
        agent = int(rng.choice(np.flatnonzero(epoch.network.layer >= 0)))
        # What the agent remembered when it decided: an epoch begins with a new memory.
        fresh = run.mission.memory_at(state.positions) if state.step == epoch.start else state.memory
        view = view_of(run.mission, state, np.array([agent]), following(run, state))
        anchor = epoch.network.layer[agent] == 0
        triangle = view.heard[0] if view.announced is None else view.announced[0]
        own = None if anchor else view.seen.within(triangle)
        yield {
            "name": name,
            "step": state.step,
            "agent": agent,
            "position": view.positions[0].tolist(),
            "heard": view.heard[0].tolist(),
            "announced": None if view.announced is None else view.announced[0].tolist(),
            "points": [] if anchor else own.points.tolist(),
            "weights": None if anchor else own.weights.tolist(),
            "memory": {key: rows[agent].tolist() for key, rows in fresh.items()},
        }


def following(run, state):
    """Where everybody announced to be, for those who ask: exact vehicles are where they said."""
    return run.positions[state.step + 1] if run.scenario.control.motion == "morph" else None


@pytest.mark.parametrize("motion", ["reach", "walk", "morph"])
def test_an_agent_alone_decides_as_in_the_team(motion):
    rng, runs, lines = np.random.default_rng(1), {}, []
    for seed, goal in enumerate(GOALS):
        run = tc.simulate(given_team(goal, motion, seed))
        runs[goal] = run
        lines.append({"name": goal, "mission": run.mission.to_json()})
        lines += asked_of(run, goal, rng)
    text = "\n".join(json.dumps(line) for line in lines)
    script = [sys.executable, str(Path(__file__).with_name("alone.py"))]
    done = subprocess.run(script, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    asked = [line for line in lines if "mission" not in line]
    assert len(answers) == len(asked) == EACH * len(GOALS)
    anchors = 0
    for question, answer in zip(asked, answers, strict=True):
        run, step, agent = runs[question["name"]], question["step"], question["agent"]
        recorded = [run.read(name, step, step + 1)[0, agent] for name in ("state", "goal_cell", "next_cell")]
        assert answer["cells"] == recorded, question
        epoch = run.epoch_at(step)
        anchors += int(epoch.network.layer[agent] == 0)
        state = next(found.state for found in tc.steps(run.mission) if found.step == step)
        memory = {key: np.array([row]) for key, row in question["memory"].items()}
        together = decide(view_of(run.mission, state, np.array([agent]), following(run, state)), epoch.told, memory)
        apart = np.abs(np.array(answer["setpoint"]) - together.setpoints[0]).max()
        assert apart <= 1e-12 * extent(run.mission.ground.reference), question
    assert 0 < anchors < len(asked)


def test_a_mission_holds_all_that_an_agent_is_told():
    mission = Mission.of(given_team("centroid", "walk", 0))
    text = mission.to_json()
    assert "NaN" not in text
    assert json.loads(text).keys() == {"scenario", "epochs"}
