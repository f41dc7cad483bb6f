"""Teams and targets for the tests of simulation, all from a seed."""

import numpy as np

import tricover as tc


def team(seed, agents=None, targets=None):
    """Reference positions (N, 2) and targets (D, 2): uniform, clustered, on a grid, far off, tiny or huge."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(12, 60)) if agents is None else agents
    kind = seed % 4
    if kind == 1:
        reference = np.concatenate([rng.random((count // 2, 2)), 0.5 + 0.1 * rng.normal(size=(count - count // 2, 2))])
    elif kind == 2:
        side = int(np.ceil(np.sqrt(count)))
        reference = np.stack(np.meshgrid(np.arange(side), np.arange(side)), -1).reshape(-1, 2)[rng.permutation(side**2)]
    else:
        reference = rng.random((count, 2))
    points = rng.uniform(-0.1, 1.1, (int(rng.integers(1, 300)) if targets is None else targets, 2))
    reference = np.asarray(reference, float) / np.ptp(reference, axis=0).max()
    scale, shift = [(1, 0), (1e-6, 0), (1e5, 3e5), (40, -7)][seed // 4 % 4]
    return reference * scale + shift, points * scale + shift


def scenario(seed, agents=None, **settings):
    reference, targets = team(seed, agents)
    return tc.Scenario(reference=reference, targets=targets, **settings)


def extent(positions):
    return float(np.ptp(positions, axis=0).max() + 1e-6 * np.abs(positions).max())


def desired(run):
    """Algorithm 2 for the run's last network, by the public function."""
    control = run.scenario.control
    resolution = control.resolution if control.motion == "walk" else None
    return tc.desired_configuration(run.network, run.targets, run.anchors, control.goal, resolution)


def eventful(**settings):
    """A run that has it all: losses and joiners, agents that remember, moving targets with names, draws, late steps."""
    reference, targets = team(0, agents=30, targets=90)
    network = tc.build_network(reference)
    corner, follower = int(network.boundary[1]), int(network.followers[2])
    given = tc.Scenario(
        reference=reference,
        targets={
            "positions": targets,
            "motion": {"velocity": [0.001, 0.0005], "until": 12},
            "ids": [f"target {k}" for k in range(len(targets))],
        },
        anchors=reference[network.anchors] * 1.02,
        control={"motion": "walk", "resolution": 6},
        vehicle="anywhere",
        events={
            "leave": [{"step": 4, "agents": [corner, follower]}],  # who takes the corner's place stays where it is
            "join": [{"step": 6, "reference": [[0.4, 0.52]]}],
        },
        steps=20,
        stop_when_settled=False,
    )
    return given.replace(**settings)
