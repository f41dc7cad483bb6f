"""Train a goal rule without gradients and without a library for it, in a minute or two.

    python examples/train_a_goal.py            # writes goal.json and trained.toml here, and says what it is worth
    tricover run trained.toml                  # the same rule, simulated as any other; `certify` and `report` work, too

Every follower goes to a weighted mean of its three in-neighbours. The weight of corner k is what is positive of

    θ_0 λ_k + θ_1 / 3 + θ_2 λ_k² + θ_3 ℓ_k,

where λ are the barycentric coordinates of the centroid of the targets in its triangle, and ℓ_k is the side across from
corner k over the sum of the sides. θ = (1, 0, 0, 0) is the paper's rule: the centroid itself. All agents share θ.

Learning is forward only. Two opposite changes of θ are tried in episodes of many teams at once (``VectorTeam``), and θ
moves towards the better one of each pair: an evolution strategy (Salimans, Ho, Chen, Sidor, Sutskever, 2017). What is
made small is the coverage cost in the end, over that of the paper's rule.
"""

import argparse
import json
from pathlib import Path

import numpy as np

import tricover as tc
from tricover.rl import Observer, VectorTeam, goal_rule

PARTS = ("shape", "targets")
CENTROID = np.array([1.0, 0.0, 0.0, 0.0])
PAIRS, SPREAD, RATE = 4, 0.15, 0.08  # changes that are tried, how far they go, and how far θ follows


def weights_of(observations, theta):
    """Weights (…, 3) of the corners, from observations (…, 7)."""
    layout = Observer(PARTS).layout
    centroid, sides = observations[..., layout["targets"]][..., 1:], observations[..., layout["shape"]]
    lengths = sides / np.maximum(sides.sum(axis=-1, keepdims=True), 1e-9)
    features = np.stack([centroid, np.full(centroid.shape, 1 / 3), centroid**2, lengths], axis=-1)
    scores = np.maximum(features @ theta, 1e-6)
    return (scores / scores.sum(axis=-1, keepdims=True)).astype(np.float32)


def trained(network):
    """The goal rule of a scenario, ``goal = "train_a_goal:trained"``: with the θ in goal.json of this folder."""
    theta = np.array(json.loads(Path("goal.json").read_text()))
    return goal_rule(lambda observations: weights_of(observations, theta), parts=PARTS)(network)


def teams(count, seed, agents=30, targets=300, goal="centroid"):
    """Random teams on uniform and on clustered targets, by turns."""
    found = []
    for number in range(count):
        rng = np.random.default_rng([seed, number])
        reference, points, centres = rng.random((agents, 2)), rng.random((targets, 2)), rng.random((4, 2))
        if number % 2:
            points = centres[rng.integers(0, 4, targets)] + 0.08 * rng.normal(size=(targets, 2))
        how = {"network": {"mentee": "balanced"}, "control": {"goal": goal}, "steps": 8}
        found.append(tc.Scenario(reference=reference, targets=np.clip(points, 0, 1), **how))
    return found


def costs(team, theta):
    """The coverage cost (B,) of every team after an episode with θ."""
    seen = team.reset()
    while not team.over:
        seen, _ = team.step(weights_of(seen.observations, theta))
    return np.array([tc.coverage_cost(*pair) for pair in zip(team.positions, targets_of(team), strict=True)])


def targets_of(team):
    return [mission.targets for mission in team.missions]


def train(team, rounds, seed=0):
    """θ after so many rounds."""
    rng, theta, papers = np.random.default_rng(seed), CENTROID.copy(), costs(team, CENTROID)
    for _ in range(rounds):
        changes = rng.normal(size=(PAIRS, len(theta)))
        changes = np.concatenate([changes, -changes])
        tried = np.array([np.log(costs(team, theta + SPREAD * change) / papers).mean() for change in changes])
        theta -= RATE * (tried - tried.mean()) / (tried.std() + 1e-9) @ changes / len(changes)
    return theta


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Train a goal rule by trying.")
    parser.add_argument("--rounds", type=int, default=80)
    parser.add_argument("--teams", type=int, default=48)
    asked = parser.parse_args(arguments)
    theta = train(VectorTeam(teams(asked.teams, 1), parts=PARTS), asked.rounds)
    Path("goal.json").write_text(json.dumps(theta.tolist()))
    print("θ =", theta.round(2).tolist())

    others = teams(asked.teams, 2)  # that it has not seen
    papers = np.array([cost_of(one) for one in others])
    for goal in ("train_a_goal:trained", "predictive"):
        mine = np.array([cost_of(one.replace(control={"goal": goal})) for one in others])
        print(f"coverage cost over that of the paper's rule, {goal}: {np.exp(np.log(mine / papers).mean()):.3f}")
    others[0].replace(control={"goal": "train_a_goal:trained"}, name="trained").save("trained.toml")


def cost_of(scenario):
    return tc.coverage_cost(tc.simulate(scenario).positions[-1], scenario.targets.positions)


if __name__ == "__main__":
    main()
