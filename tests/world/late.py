"""Teams whose messages are late, lost or passed on: does each settle when it must, and is it certified?

    python -m tests.world.late --teams 500

All bounds are worked out here, from the depth of the network and what the world is told, not by the certificates.
"""

import argparse
import math
import sys
from typing import NamedTuple

import numpy as np

import tricover as tc
from tests.simulation.teams import team
from tricover.simulation import Mission

RISK = 0.01


class Found(NamedTuple):
    """A team: whether it is certified, when it settled, and by when it had to."""

    certified: bool
    converged: bool
    settled: int
    bound: int

    @property
    def in_time(self):
        return self.converged and self.settled <= self.bound


def scenario(seed, world, motion):
    """A team of any shape and size, with either mentee rule."""
    reference, targets = team(seed)
    control = {"motion": motion, "resolution": 2 + seed % 7}
    mentee = ("fermat", "balanced")[seed // 3 % 2]
    return tc.Scenario(
        reference=reference,
        targets=targets,
        network={"mentee": mentee},
        control=control,
        world=world,
        steps=2000,
        seed=seed,
    )


def settled(given, late):
    """A run, judged with messages that are so many steps late at most."""
    run = tc.simulate(Mission.of(given))
    moves = 1 if given.control.motion == "reach" else 2 * given.control.resolution - 1
    bound = run.network.depth * (moves + late)
    return Found(tc.certify(run).holds, run.converged, math.inf if run.settled_at is None else run.settled_at, bound)


def delayed(seed):
    """Random delays up to D: never later than depth·(D+1), or depth·(2M - 1 + D) with ``walk``."""
    most = 1 + seed % 6
    least = (seed // 6) % (most + 1)
    return settled(scenario(seed, {"delay": [least, most]}, ("reach", "walk")[seed % 2]), most)


def lossy(seed, loss, burst=None):
    """Lost messages: with a chance of 99% in the time that follows from D = ⌈ln(3FH/δ)/ln(1/p)⌉.

    In bursts, k more losses follow the first one with the chance q^k, q = 1 - 1/L.
    """
    given = scenario(seed, {"loss": loss, "burst": burst}, ("reach", "walk")[seed % 2])
    network = tc.build_network(given.reference, mentee=given.network.mentee)
    cases = 3 * len(network.followers) * given.steps / RISK
    again = loss if burst is None else 1 - 1 / burst
    return settled(given, math.ceil(math.log(cases) / math.log(1 / again)))


def relayed(seed, share=0.1):
    """A radio range that a tenth of the links exceed at the start: certified wherever all are heard."""
    given = scenario(seed, {}, ("reach", "walk")[seed % 2])
    network = tc.build_network(given.reference, mentee=given.network.mentee)
    links = network.reference[network.in_neighbors[network.followers]] - network.reference[network.followers][:, None]
    radio = float(np.quantile(np.linalg.norm(links, axis=2), 1 - share))
    given = given.replace(world={"radio": radio})
    run = tc.simulate(Mission.of(given))
    oldest = int(run.ages.max(initial=0))
    moves = 1 if given.control.motion == "reach" else 2 * given.control.resolution - 1
    bound = run.network.depth * (moves + oldest)
    certificate = tc.certify(run)
    last = math.inf if run.settled_at is None else run.settled_at
    return Found(certificate.holds, run.converged, last, bound), bool((run.ages[-1, network.followers] < 0).any())


def shown(name, found):
    shares = np.array([one.settled / max(one.bound, 1) for one in found])
    late = sum(not one.in_time for one in found)
    unsure = sum(not one.certified for one in found)
    sys.stdout.write(
        f"{name}: {len(found)} teams, {late} late or not settled, {unsure} not certified; "
        f"settled at {shares.min():.0%} to {shares.max():.0%} of the bound, {np.median(shares):.0%} in the middle\n"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--teams", type=int, default=500)
    teams = parser.parse_args().teams
    shown("random delays", [delayed(seed) for seed in range(teams)])
    for loss, burst in ((0.3, None), (0.6, None), (0.3, 5.0)):
        rows = "" if burst is None else f" in rows of {burst:g}"
        shown(f"loss of {loss:.0%}{rows}", [lossy(seed, loss, burst) for seed in range(teams // 5)])
    both = [relayed(seed) for seed in range(teams // 5)]
    shown("radio, all heard", [one for one, unheard in both if not unheard])
    unheard = [one for one, unheard in both if unheard]
    sure = sum(one.certified for one in unheard)
    sys.stdout.write(f"radio: {len(unheard)} teams with links that nobody hears, {sure} certified\n")


if __name__ == "__main__":
    main()
