"""Teams of any size in parts and in one piece, compared to the bit: all rules, goals, motions and vehicles in turn.

    python -m tests.studies.equal --agents 100000 --workers 2 --kill

``--kill`` ends a worker with SIGKILL in the midst of each run. Exits with 1 if anything differs.
"""

import argparse
import os
import signal
import sys
import time
from contextlib import nullcontext
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import tricover as tc
from tests.studies.test_parts import differences
from tricover.studies.cluster import own_cluster
from tricover.targets import Targets

RULES, GOALS = ("balanced", "fermat"), ("centroid", "predictive", "rollout", "reference")
WALK = {"motion": "walk", "resolution": 5}


def changes(agents):
    """By name, what is changed of a plain scenario."""
    found = {
        f"{rule} {goal} {motion.get('motion', 'reach')} {vehicle}": {
            "network": {"mentee": rule},
            "control": {"goal": goal, **motion},
            "vehicle": vehicle,
        }
        for rule, goal, motion, vehicle in product(RULES, GOALS, ({}, WALK), ("exact", "anywhere"))
    }
    rng = np.random.default_rng(agents)
    ways = rng.random((agents, 2)) * 1000 + np.cumsum(rng.normal(size=(6, 1, 2)), axis=0)
    events = {
        "leave": [{"step": 3, "agents": [7, agents // 2]}, {"step": 6, "agents": [agents // 3]}],
        "join": [{"step": 5, "reference": [[450.5, 520.25], [300.5, 600.25]]}],
    }
    for rule, vehicle in product(RULES, ("exact", "anywhere")):
        plain = {"network": {"mentee": rule}, "vehicle": vehicle}
        found[f"{rule} moving targets {vehicle}"] = {**plain, "targets": Targets(ways)}
        found[f"{rule} events {vehicle}"] = {**plain, "events": events}
        found[f"{rule} moving targets, events, walk {vehicle}"] = {
            **plain,
            "targets": Targets(ways),
            "events": events,
            "control": WALK,
        }
    return found


def scenario(agents, steps, changed):
    rng = np.random.default_rng(agents)
    given = {"reference": rng.random((agents, 2)) * 1000, "targets": rng.random((agents, 2)) * 1000, "steps": steps}
    return tc.Scenario(**{**given, **changed})


def compare(given, folder, client, kill, most):
    """What differs, and how many workers were killed."""
    killed = []

    def report(now):
        if kill and now.work.startswith("steps") and now.done == 2 and not killed:
            killed.append(sorted(client.run(os.getpid).values())[0])
            os.kill(killed[0], signal.SIGKILL)

    run = tc.simulate_parts(given, folder, client, agents_per_part=most, progress=report)
    return differences(tc.simulate(given), run), len(killed)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--agents", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=25)
    parser.add_argument("--parts", type=int, default=8, help="how many, about")
    parser.add_argument("--workers", type=int, default=0, help="0: this process alone")
    parser.add_argument("--kill", action="store_true")
    parser.add_argument("--only", default="", help="cases whose names have this in them")
    asked = parser.parse_args()
    failed = 0
    with own_cluster(asked.workers) if asked.workers else nullcontext() as client:
        for name, changed in changes(asked.agents).items():
            if asked.only not in name:
                continue
            began = time.monotonic()
            given = scenario(asked.agents, asked.steps, changed)
            with TemporaryDirectory() as folder:
                most = max(1, asked.agents // asked.parts)
                found, killed = compare(given, Path(folder) / "run", client, asked.kill, most)
            failed += bool(found)
            sys.stdout.write(
                f"{asked.agents:,} {name}: {'differs in ' + ', '.join(found) if found else 'the same'}, "
                f"{killed} killed, {time.monotonic() - began:.1f} s\n"
            )
            sys.stdout.flush()
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
