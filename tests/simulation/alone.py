"""An agent on its own: a process that was given a mission as text, and then nothing but views.

Reads from its standard input, writes what it decides to its standard output; the tests compare it with the team's run.
"""

import json
import sys

import numpy as np

import tricover as tc
from tricover.control import View, cells_of, decide
from tricover.simulation import Mission


def seen_by(points, weights, triangle):
    """The targets that the agent sees, which may be none."""
    if points:
        return tc.Targets(points, weights)
    corners = np.zeros((3, 2)) if np.isnan(triangle).any() else triangle  # an anchor has no triangle
    return tc.Targets([[1e9, 1e9]]).within(corners)


def main():
    missions = {}
    for line in sys.stdin:
        asked = json.loads(line)
        if "mission" in asked:
            missions[asked["name"]] = Mission.from_json(asked["mission"])
            continue
        told = missions[asked["name"]].epoch_at(asked["step"]).told
        heard = np.array([asked["heard"]])
        seen = seen_by(asked["points"], asked["weights"], heard[0])
        announced = None if asked["announced"] is None else np.array([asked["announced"]])
        own = np.array([asked["agent"]]), np.array([asked["position"]])
        view = View(asked["step"], *own, heard, seen, announced=announced)
        memory = {name: np.array([row]) for name, row in asked["memory"].items()}
        decision = decide(view, told, memory)
        cells = [int(cell[0]) for cell in cells_of(view, told, decision)]
        answer = {"cells": cells, "setpoint": decision.setpoints[0].tolist()}
        sys.stdout.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    main()
