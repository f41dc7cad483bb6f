"""Random pad grids and plans: nobody comes closer than is guaranteed, and by least distances some do.

    python -m tests.safety.launching --teams 300 --seed 0

How close agents come is worked out by all pairs, the closest of them in rational arithmetic.
"""

import argparse
import sys
from fractions import Fraction

import tricover as tc
from tests.safety.flights import apart, exact_approach, least_distances, pads_and_plan


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--teams", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    ours, theirs, broken = [], [], 0
    for team in range(given.teams):
        starts, places = pads_and_plan([given.seed, team])
        found = tc.assign_places(starts, places)
        squared = exact_approach(starts, places[found.places])
        least = min(apart(starts), apart(places)) / 2**0.5
        broken += squared < Fraction(found.guaranteed) ** 2 or abs(found.guaranteed - least) > 1e-9 * least
        ours.append(float(squared) ** 0.5 / least)
        theirs.append(float(exact_approach(starts, places[least_distances(starts, places)])) ** 0.5 / least)
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{team + 1} teams")
    below = sum(ratio < 1 for ratio in theirs)
    sys.stdout.write(
        f"least squares: {min(ours):.3f} of what is guaranteed; least distances: {min(theirs):.3f}, "
        f"{below} of {given.teams} teams below\n{broken} broken\n"
    )


if __name__ == "__main__":
    main()
