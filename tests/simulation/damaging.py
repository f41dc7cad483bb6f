"""Damaged stores: each is refused, or reads as before, bit for bit.

    python -m tests.simulation.damaging --cases 1000 --seed 0

A case is a copy of a store to which one thing was done, in a file that was chosen by chance, every array as often as
every other. All that can be read from it is then compared with what was written.
"""

import argparse
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np

import tricover as tc
from tests.simulation.stores import stop_at
from tests.simulation.teams import eventful
from tricover.errors import TricoverError
from tricover.simulation import store as stores
from tricover.simulation.record import ARRAYS
from tricover.simulation.stored import StoreReader

KINDS = ("flip", "flips", "zeros", "cut", "empty", "grow", "remove", "swap", "swap far", "stale")


def make_stores(folder):
    """A finished run, one that was cut short, and an earlier moment of it."""
    given = eventful()
    longest, stores.LONGEST_BLOCK = stores.LONGEST_BLOCK, 4  # many chunks
    try:
        tc.simulate(given, folder / "finished.zarr")
        tc.simulate(given, folder / "cut.zarr", progress=stop_at(9))
        shutil.copytree(folder / "cut.zarr", folder / "older.zarr")
        tc.simulate(given, folder / "cut.zarr", resume=True, progress=stop_at(14))
    finally:
        stores.LONGEST_BLOCK = longest


def contents(store):
    """All that can be read, by name: arrays and the scenario. What is refused is an error, by name too."""
    found = {}

    def look(name, read):
        try:
            found[name] = read()
        except TricoverError as error:
            found[name] = error

    try:
        reader = StoreReader(store)
    except TricoverError as error:
        return {"store": error}
    for name, layout in ARRAYS.items():
        look(name, lambda name=name, layout=layout: reader.read(name, 0, reader.steps + layout.by_time))
        look(f"{name} at the end", lambda name=name: reader.read(name, reader.steps - 1, reader.steps))
    look("scenario", lambda: reader.scenario().to_dict())
    look("state", lambda: vars(reader.state()) | vars(reader.state())["memory"])
    look("networks", lambda: [vars(each.network) | {"paths": each.told.paths} for each in reader.mission().epochs])
    look("steps", lambda: (reader.steps, reader.finished))
    return found


def same(one, other):
    """Equal, to the bit."""
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


def damage(store, kind, rng, older):
    """Do one thing to a store; returns the file to which it was done, or None if it cannot be done to it."""
    everything = sorted(each for each in store.rglob("*") if each.is_file() and each.name != "lock")
    arrays = {}
    for path in everything:
        name = path.relative_to(store).as_posix().split("/c/")[0]
        if not name.endswith("zarr.json"):
            arrays.setdefault(name, []).append(path)
    names = [*arrays, "the root document", "any document"]
    arrays["the root document"] = [store / "zarr.json"]
    arrays["any document"] = [path for path in everything if path.name == "zarr.json"]
    files = arrays[names[rng.integers(len(names))]]
    path = files[rng.integers(len(files))]
    data = bytearray(path.read_bytes())
    if kind in ("flip", "flips"):
        for _ in range(1 if kind == "flip" else 9):
            data[rng.integers(len(data))] ^= 1 << int(rng.integers(8))
    elif kind == "zeros":
        at = int(rng.integers(len(data)))
        data[at : at + 512] = bytes(len(data[at : at + 512]))
    elif kind in ("cut", "empty"):
        del data[0 if kind == "empty" else int(rng.integers(len(data))) :]
    elif kind == "grow":
        data += rng.bytes(int(rng.integers(1, 64)))
    elif kind == "remove":
        path.unlink()
        return path
    elif kind in ("swap", "swap far"):
        others = files if kind == "swap" else everything
        other = others[rng.integers(len(others))]
        data, theirs = other.read_bytes(), bytes(data)
        other.write_bytes(theirs)
    elif kind == "stale":
        before = older / path.relative_to(store)
        if not before.exists():
            return None
        data = before.read_bytes()
    path.write_bytes(data)
    return path


def campaign(folder, cases, seed):
    """Counts of cases by kind and outcome, and the cases in which something else was read than was written."""
    make_stores(folder)
    rng = np.random.default_rng(seed)
    before = {name: contents(folder / f"{name}.zarr") for name in ("finished", "cut", "older")}
    assert not any(isinstance(value, TricoverError) for found in before.values() for value in found.values())
    counts, wrong = Counter(), []
    for case in range(cases):
        kind, name = KINDS[case % len(KINDS)], ("finished", "cut")[case // len(KINDS) % 2]
        copy = folder / "damaged.zarr"
        shutil.copytree(folder / f"{name}.zarr", copy)
        path = damage(copy, kind, rng, folder / "older.zarr")
        found = contents(copy)
        told = {key: value for key, value in found.items() if not isinstance(value, TricoverError)}
        errors = [str(value) for key, value in found.items() if key not in told]
        assert not any("\n" in error for error in errors), errors
        # With the root document of an earlier moment a store is what it was then: nothing tells that there was more.
        if not any(same(told, {key: whole[key] for key in told}) for whole in (before[name], before["older"])):
            wrong.append((case, kind, name, str(path)))
        counts[kind, "refused" if len(told) < len(found) else "as before"] += 1
        shutil.rmtree(copy)
    return counts, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        counts, wrong = campaign(Path(folder), given.cases, given.seed)
    for kind in KINDS:
        refused, as_before = counts[kind, "refused"], counts[kind, "as before"]
        sys.stdout.write(f"{kind:10} {refused:6} refused {as_before:6} as before\n")
    sys.stdout.write(f"{len(wrong)} wrong\n")
    for each in wrong:
        sys.stdout.write(f"{each}\n")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
