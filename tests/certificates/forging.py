"""Forged logs of twelve kinds, and a campaign of them.

    python -m tests.certificates.forging --cases 1000 --honest 500

Each kind changes the table of an honest flight, or what is told beside it. Not every change can be seen: an agent that
is moved within its triangle has landed there, as far as positions tell. So it is not the forger who says whether a log
must not hold, but ``oracle``, which looks at what is written. A forged log that holds must have nothing wrong in it
that the oracle can name.

    teleport        an agent is elsewhere at one time, by a micrometre up to three times the field
    swap            two agents have each other's places at one time
    drift           an agent drifts away more and more from some time on
    gap             one step or several in a row are left out; sometimes those of a teleport
    doubled         a line is there twice, or a whole time once more a moment later
    uneven          times are cubes, one is moved, all are stretched, or they jitter by too much
    wrong network   of the other mentee rule, of other places, or with one link changed
    wrong scenario  with other targets, another duration, another formation, other anchors, or other cells
    shuffled        agents have each other's numbers
    stale anchors   anchors report old or first places while the team acts on true ones
    rounded         places have few digits
    cut             the end or the start is missing, down to a single time
"""

import argparse
import json
import tempfile
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import typer

import tricover as tc
from tests.certificates.honest import KINDS as VEHICLES
from tests.certificates.honest import certified, exported, fly, scenario_of
from tests.certificates.oracle import Told, exact, settled, wrongs
from tricover.errors import TricoverError

__all__ = ["FORGERIES", "Forged", "base_flight", "forge", "honest_case", "judge"]

SAID = {0: "held", 1: "failed", 2: "refused"}


@dataclass(frozen=True)
class Forged:
    """A table, (time, agent, x, y) by line, and what is told beside it."""

    times: np.ndarray
    positions: np.ndarray
    told: Told
    more: tuple = ()

    @property
    def rows(self):
        """All lines of the table; an agent without a position has none."""
        found = [
            (float(time), agent, *map(float, place))
            for time, places in zip(self.times, self.positions, strict=True)
            for agent, place in enumerate(places)
            if np.isfinite(place).all()
        ]
        return [*found, *self.more]


def base_flight(seed):
    """A flight to forge that holds as it is: all vehicles but RotorPy's, half of them with changes on the way."""
    kinds = [kind for kind in VEHICLES if kind != "rotorpy"]
    kind = ("exact", kinds[seed // 2 % len(kinds)])[seed % 2]  # what is exact can be judged best
    plain = seed % 4 < 2
    flight = fly(scenario_of(seed, kind, goal="centroid", plain=plain))
    return flight if flight.clean else fly(scenario_of(seed, kind, goal="centroid", plain=plain, motion="walk"))


def told_of(flight, rng):
    """With the scenario or without, where the anchors can be told without it."""
    if flight.arrived is None or rng.random() < 0.6:
        return Told(flight.networks, None, flight.tolerance, flight.scenario)
    return Told(flight.networks, flight.arrived, flight.tolerance)


def _teleport(rng, log):
    step, agent = _somewhere(rng, log)
    distance = 10 ** rng.uniform(-6, 0.5) * np.ptp(log.positions[0])
    angle = rng.uniform(0, 2 * np.pi)
    positions = log.positions.copy()
    positions[step, agent] += distance * np.array([np.cos(angle), np.sin(angle)])
    return replace(log, positions=positions)


def _somewhere(rng, log):
    agents = np.flatnonzero(log.told.networks[-1][1].layer >= 0)
    return int(rng.integers(1, len(log.times))), int(rng.choice(agents))


def _swap(rng, log):
    agents = np.flatnonzero(log.told.networks[-1][1].layer >= 0)
    one, other = rng.choice(agents, 2, replace=False)
    positions, step = log.positions.copy(), int(rng.integers(1, len(log.times)))
    positions[step, [one, other]] = positions[step, [other, one]]
    return replace(log, positions=positions)


def _drift(rng, log):
    step, agent = _somewhere(rng, log)
    speed = 10 ** rng.uniform(-5, -1) * np.ptp(log.positions[0]) * rng.normal(size=2)
    positions = log.positions.copy()
    positions[step:, agent] += np.arange(1, len(positions) - step + 1)[:, None] * speed
    return replace(log, positions=positions)


def _gap(rng, log):
    if rng.random() < 0.5:
        log = _teleport(rng, log)
    first = int(rng.integers(1, len(log.times)))
    kept = np.delete(np.arange(len(log.times)), slice(first, first + int(rng.integers(1, 4))))
    return replace(log, times=log.times[kept], positions=log.positions[kept])


def _doubled(rng, log):
    step, agent = _somewhere(rng, log)
    if rng.random() < 0.6:
        place = log.positions[step, agent] + rng.choice([0.0, 1e-3]) * rng.normal(size=2)
        return replace(log, more=((float(log.times[step]), agent, *map(float, place)),))
    pause = float(log.times[1] - log.times[0]) * rng.choice([1e-6, 0.01, 0.3, 0.5])
    times = np.insert(log.times, step + 1, log.times[step] + pause)
    return replace(log, times=times, positions=np.insert(log.positions, step + 1, log.positions[step], axis=0))


def _uneven(rng, log):
    times, duration = log.times.copy(), log.times[1] - log.times[0]
    way = int(rng.integers(4))
    if way == 0:
        times = times**3
    elif way == 1:
        times[int(rng.integers(1, len(times))) :] += duration * rng.choice([-0.7, 0.2, 1.0, 7.0])
    elif way == 2:
        times = times * rng.choice([0.5, 0.8, 1.2, 2.0])  # only a scenario knows better
    else:
        times = times + duration * rng.choice([0.01, 0.4]) * rng.random(len(times))
    return replace(log, times=times)


def _wrong_network(rng, log):
    (start, network), *more = log.told.networks
    way = int(rng.integers(3))
    if way == 0:
        other = {"fermat": "balanced", "balanced": "fermat"}[network.mentee]
        lost = network.lost
        network = tc.build_network(network.reference, other)
        network = network.without(lost) if lost.size else network
    elif way == 1:
        network = tc.build_network(rng.permutation(network.reference), network.mentee)
    else:
        links, agent = network.in_neighbors.copy(), int(rng.choice(network.followers))
        earlier = np.flatnonzero((network.layer >= 0) & (network.layer < network.layer[agent]))
        spare = np.setdiff1d(earlier, links[agent])
        links[agent, int(rng.integers(3))] = rng.choice(spare) if spare.size else agent
        network = replace(network, in_neighbors=links)
    return replace(log, told=replace(log.told, networks=[(start, network), *more]))


def _wrong_scenario(rng, log, flight):
    made = flight.scenario
    way = int(rng.integers(5))
    points = np.asarray(made.targets.positions)
    changes = [
        {"targets": {"positions": rng.permutation(points)[: len(points) // 2 + 1] * 0.7}},
        {"vehicle": {**made.to_dict()["vehicle"], "duration": made.vehicle.duration * 1.5}},
        {"formation": {"positions": rng.permutation(np.asarray(made.reference))}},
        {"anchors": np.asarray(flight.run.anchors) * 1.1},
        {"control": {**made.to_dict()["control"], "motion": "walk", "resolution": 5, "margin": 0.2}},
    ][way]
    plain = {key: value for key, value in made.to_dict().items() if key not in changes}
    return replace(log, told=replace(log.told, arrived=None, scenario=tc.Scenario(**{**plain, **changes})))


def _shuffled(rng, log):
    agents = np.flatnonzero(log.told.networks[-1][1].layer >= 0)
    some = rng.choice(agents, int(rng.integers(2, len(agents) + 1)), replace=False)
    positions = log.positions.copy()
    positions[:, some] = positions[:, rng.permutation(some)]
    return replace(log, positions=positions)


def _stale_anchors(rng, log):
    anchors, positions = log.told.networks[0][1].anchors, log.positions.copy()
    some = rng.choice(anchors, int(rng.integers(1, len(anchors) + 1)), replace=False)
    # The team acts on anchors that went elsewhere: the table has their first places, or those of some steps before.
    moved = positions[:, some] + np.linspace(0, 0.3, len(positions))[:, None, None] * rng.normal(size=2) * 0.1
    moved = (moved - positions[0, some]) * np.ptp(positions[0]) + positions[0, some]
    if rng.random() < 0.5 and (positions[:, some] != positions[0, some]).any():
        positions[:, some] = positions[0, some]
        return replace(log, positions=positions)
    age = int(rng.integers(1, 4))
    positions[age:, some] = moved[:-age]
    return replace(log, positions=positions)


def _rounded(rng, log):
    return replace(log, positions=np.round(log.positions, int(rng.integers(-1, 10))))


def _cut(rng, log):
    first = 0 if rng.random() < 0.7 else int(rng.integers(0, len(log.times)))
    kept = slice(first, int(rng.integers(first + 1, len(log.times) + 1)))
    return replace(log, times=log.times[kept], positions=log.positions[kept])


FORGERIES = {
    "teleport": _teleport,
    "swap": _swap,
    "drift": _drift,
    "gap": _gap,
    "doubled": _doubled,
    "uneven": _uneven,
    "wrong network": _wrong_network,
    "wrong scenario": _wrong_scenario,
    "shuffled": _shuffled,
    "stale anchors": _stale_anchors,
    "rounded": _rounded,
    "cut": _cut,
}


def forge(kind, seed, flight):
    """A forged log of a kind."""
    rng = np.random.default_rng([seed, *kind.encode()])
    steps = np.arange(flight.run.steps + 1)
    positions = np.array(flight.run.positions)
    for step in steps.tolist():  # who is not there has no line, as far as one may leave it out
        here = flight.run.network_at(min(step, flight.run.steps - 1))
        lost = np.flatnonzero(here.layer < 0)
        if step and (flight.run.network_at(step - 1).layer[lost] < 0).all():
            positions[step, lost] = np.nan
    log = Forged(steps * flight.scenario.vehicle.duration, positions, told_of(flight, rng))
    return FORGERIES[kind](rng, log, *([flight] if kind == "wrong scenario" else []))


def _verdicts(text):
    return {claim["key"]: claim["verdict"] for claim in json.loads(text)["claims"]}


def judge(forged, folder):
    """What the certificate says of a forged log (held, failed, refused), what is wrong with it, and what it says."""
    table, told = folder / "forged.csv", forged.told
    lines = [f"{time!r},{agent},{x!r},{y!r}" for time, agent, x, y in forged.rows]
    table.write_text("\n".join(["time,agent,x,y", *lines]))
    options = () if told.scenario is not None else ("--arrived", told.arrived, "--tolerance", told.tolerance)
    code, text = certified(folder, table, told.networks, told.scenario, options)
    found = wrongs(forged.rows, told) if told.networks[-1][0] < len(forged.times) else {"missing"}
    if code < 2 and _verdicts(text)["theorem3"] == "holds":
        # Nobody may say that a team converged that is elsewhere.
        last = {
            agent: tuple(map(exact, place)) for agent, place in enumerate(forged.positions[-1]) if place[0] == place[0]
        }
        assert settled([last], told) is not False, text
    return SAID[code], found, text


def honest_case(seed, folder):
    """An honest flight through its exported table: (kind, told, clean, said, text), with and without the scenario."""
    kinds = [kind for kind in VEHICLES if kind != "rotorpy"]
    kind = "rotorpy" if seed % 40 == 39 else kinds[seed % len(kinds)]
    made = scenario_of(seed, kind)
    flight = fly(made)
    table = exported(folder, flight)
    code, text = certified(folder, table, flight.networks, made)
    yield kind, "told", flight.clean, SAID[code], text
    if flight.arrived is not None:
        options = ("--arrived", flight.arrived, "--tolerance", flight.tolerance)
        code, text = certified(folder, table, flight.networks, None, options)
        yield kind, "bare", flight.clean, SAID[code], text


def campaign(cases, first=0):
    """Counts by kind, and the cases that held and must not."""
    counts, why, bad, flights = defaultdict(Counter), defaultdict(Counter), [], {}
    for case in range(first, first + cases):
        kind = [*FORGERIES][case % len(FORGERIES)]
        seed = case // len(FORGERIES)
        if seed not in flights:
            flights = {seed: base_flight(seed)}
        with tempfile.TemporaryDirectory() as folder:
            said, found, text = judge(forge(kind, case, flights[seed]), Path(folder))
        counts[kind][said] += 1
        why[kind][" ".join(sorted(found)) or "nothing to be seen"] += 1
        if said == "held" and found:
            bad.append((case, kind, found, text))
    return counts, why, bad


def main():
    """Both campaigns, with their counts."""
    parser = argparse.ArgumentParser(description="Certify forged and honest logs.")
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--honest", type=int, default=500)
    parser.add_argument("--first", type=int, default=0)
    asked = parser.parse_args()
    counts, why, bad = campaign(asked.cases, asked.first)
    for kind, found in counts.items():
        said = "  ".join(f"{word} {found[word]:4}" for word in SAID.values())
        typer.echo(f"{kind:16}{said}  {dict(why[kind])}")
    for case, kind, found, _ in bad:
        typer.echo(f"case {case} ({kind}) holds, and must not: {', '.join(found)}")
    honest, failed = Counter(), 0
    for seed in range(asked.first, asked.first + asked.honest):
        with tempfile.TemporaryDirectory() as folder:
            for kind, told, clean, said, _ in honest_case(seed, Path(folder)):
                honest[kind, told, "clean" if clean else "missed", said] += 1
                if clean and said != "held":
                    failed += 1
                    typer.echo(f"honest flight {seed} ({kind}, {told}) {said}")
    for key, count in sorted(honest.items()):
        typer.echo(f"{count:4}  {'  '.join(key)}")
    typer.echo(
        f"{len(bad)} of {asked.cases} forged logs hold that must not; {failed} honest ones without a miss do not hold"
    )
    return 1 if bad or failed else 0


if __name__ == "__main__":
    try:
        raise SystemExit(main())
    except TricoverError as error:
        raise SystemExit(f"the campaign cannot go on: {error}") from error
