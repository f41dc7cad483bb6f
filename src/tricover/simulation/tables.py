"""A run as labelled arrays for others: an xarray Dataset, or a pandas DataFrame.

    time    (time,)       seconds since the start, of step 0, 1, …, T
    step    (step,)       the steps 0, 1, …, T-1, of what happened in a step
    agent   (agent,)      numbers of the agents; with ``layer`` and ``role`` in the last network
    launch_pad (agent,)   row of the pads from which an agent started, -1 for those who join; only where there are pads
    xy      (xy,)         "x" and "y"
    corner  (corner,)     which of the three in-neighbours
    desired (agent, xy)   where the team should settle, metres

The store of a finished run has the same labels, so xarray opens it alike.
"""

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tricover.errors import InputError, MissingExtraError
from tricover.limits import check_room
from tricover.simulation.record import LAYOUTS, Layout

if TYPE_CHECKING:
    import pandas
    import xarray

    from tricover.simulation.run import Run

__all__ = ["LABELS", "dataset_of", "frame_of", "labels_of"]

LABELS = {
    "time": Layout(("time",), "float64", "s"),
    "step": Layout(("step",), "int64"),
    "agent": Layout(("agent",), "int64"),
    "layer": Layout(("agent",), "int32"),
    "role": Layout(("agent",), "str"),
    "launch_pad": Layout(("agent",), "int64"),
    "xy": Layout(("xy",), "str"),
    "corner": Layout(("corner",), "int64"),
    "desired": Layout(("agent", "xy"), "float64", "m"),
}
"""Labels of a run's arrays, and the desired configuration; all but that one are coordinates."""
_ROW_BYTES = 100  # of a table with all columns


def labels_of(run: "Run") -> dict[str, NDArray[Any]]:
    """The labels of a run, by name."""
    steps, agents, network = run.steps, run.mission.agents, run.network
    coming = agents - len(network)
    found = {
        "time": np.arange(steps + 1) * run.scenario.vehicle.duration,
        "step": np.arange(steps),
        "agent": np.arange(agents),
        "layer": np.append(network.layer, np.full(coming, -1)),
        "role": np.array([*network.roles, *["still to come"] * coming], object),
        "xy": np.array(["x", "y"], object),
        "corner": np.arange(3),
    }
    if run.mission.pads is not None:
        found["launch_pad"] = np.append(run.mission.pads, np.full(agents - len(run.mission.pads), -1))
    try:
        found["desired"] = run.desired
    except InputError:  # a rule of the user's own may have no answer outside of its run
        return found
    return found


def dataset_of(run: "Run") -> "xarray.Dataset":
    """All arrays of a run with their labels and units."""
    try:
        import xarray
    except ImportError as error:
        raise MissingExtraError("datasets need the library xarray: pip install 'tricover[notebook]'") from error
    arrays = {name: run.read(name) for name in run.arrays} | labels_of(run)
    layouts = LAYOUTS | LABELS
    variables = {
        name: (layouts[name].dimensions, values, {"units": layouts[name].unit} if layouts[name].unit else {})
        for name, values in arrays.items()
    }
    coordinates = LABELS.keys() - {"desired"}
    return xarray.Dataset(
        {name: variable for name, variable in variables.items() if name not in coordinates},
        {name: variable for name, variable in variables.items() if name in coordinates},
        _origin_of(run),
    )


def frame_of(run: "Run") -> "pandas.DataFrame":
    """A row for each step and agent: where it was, who it was in the network of that step, and what it did."""
    try:
        import pandas
    except ImportError as error:
        raise MissingExtraError("tables need the library pandas: pip install 'tricover[notebook]'") from error
    times, agents = run.steps + 1, run.mission.agents
    check_room(times * agents * _ROW_BYTES, f"{times * agents} rows of a table")
    places = run.positions.reshape(-1, 2)
    layers, roles = _members(run)
    columns: dict[str, Any] = {
        "time": np.repeat(np.arange(times) * run.scenario.vehicle.duration, agents),
        "x": places[:, 0],
        "y": places[:, 1],
        "present": run.present.ravel(),
        "layer": layers.ravel(),
        "role": pandas.Categorical(roles.ravel()),
    }
    for name in ("state", "goal_cell", "next_cell"):  # nothing was decided after the last step
        cells = np.append(run.read(name).ravel(), np.zeros(agents, np.int32))
        nobody = (cells < -1) | (np.arange(len(cells)) >= run.steps * agents)
        columns[name] = pandas.arrays.IntegerArray(cells, nobody)
    columns["miss"] = np.append(run.misses.ravel(), np.full(agents, np.nan))
    index = pandas.MultiIndex.from_product([range(times), range(agents)], names=["step", "agent"])
    frame = pandas.DataFrame(columns, index)
    frame.attrs = _origin_of(run)
    return frame


def _members(run: "Run") -> tuple[NDArray[np.int32], NDArray[Any]]:
    """Layers and roles at each step, (T+1, N)."""
    shape = run.steps + 1, run.mission.agents
    layers, roles = np.full(shape, -1, np.int32), np.full(shape, "still to come", object)
    for epoch in run.epochs:  # the later ones overwrite what the earlier ones said of their steps
        known = len(epoch.network)
        layers[epoch.start :, :known] = epoch.network.layer
        roles[epoch.start :, :known] = epoch.network.roles
    return layers, roles


def _origin_of(run: "Run") -> dict[str, Any]:
    """How a run was made, in texts and numbers."""
    facts = {name: fact for name, fact in run.summary().items() if fact is not None}
    return {name: int(fact) if isinstance(fact, bool) else fact for name, fact in facts.items()} | {
        "seed": run.scenario.seed,
        "source": f"tricover {version('tricover')}",
        "scenario": _text_of(run),
    }


def _text_of(run: "Run") -> str:
    """The scenario as TOML, without its long arrays."""
    try:
        return run.scenario.to_toml(longest=20)
    except InputError as error:  # with a function of the user's own
        return f"# {error}"
