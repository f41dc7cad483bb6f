"""MCAP, which Foxglove opens: messages in Foxglove's own schemas, written with its SDK.

    /team     SceneUpdate      each step: a sphere (a box for an anchor) in the colour of its layer for each agent, with
                               its layer, in-neighbours and cell as metadata; all links as one list of lines
    /tf       FrameTransforms  each step: the frame "agent_<number>" in "map", with the agent's exact position
    /desired  SceneUpdate      once: where the agents should settle
    /targets  PointCloud       x, y, z, weight of the targets, once and whenever they change
    /fixes    LocationFixes    each step: longitude and latitude of the agents, where they are known

Coordinates are metres, x east, y north, z up and 0. Times count from 0: step t is logged at t·Δt. The metadata record
"tricover" holds the run in a few facts, the attachment "scenario.toml" what was run (if it can be written down).
"""

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tricover.errors import InputError, MissingExtraError
from tricover.export.journeys import seconds
from tricover.formats import Projection
from tricover.network import Network
from tricover.simulation import Run
from tricover.targets import Targets

__all__ = ["write_mcap"]

Floats = NDArray[np.float64]

FRAME = "map"
_LIGHTEST = 0.88  # of viridis, as in the figures


def write_mcap(run: Run, path: Path, tell: Callable[[int, int], None], plane: Projection | None) -> None:
    """Write the run as a log."""
    sdk = _library()
    context = sdk.Context()
    with path.open("xb", buffering=0) as raw:
        file = _File(raw)

        def step_done(done: int, total: int) -> None:
            if file.failure is not None:
                raise file.failure
            tell(done, total)

        try:
            with sdk.open_mcap(file, context=context) as writer:
                writer.write_metadata("tricover", {name: str(fact) for name, fact in run.summary().items()})
                _attach_scenario(run, writer)
                _Log(run, context, plane).write(step_done)
        except RuntimeError as error:
            raise file.failure or error from error


class _File:
    """A file for the SDK, which goes on when a write fails and keeps the reason to itself: here it is remembered."""

    def __init__(self, raw: Any) -> None:
        self._write, self.seek, self.flush = raw.write, raw.seek, raw.flush
        self.failure: OSError | None = None

    def write(self, data: bytes) -> int:
        """Write, or remember why not."""
        try:
            return int(self._write(data))
        except OSError as error:
            self.failure = error
            raise


def _library() -> Any:
    try:
        sdk = import_module("foxglove")
        import_module("foxglove.channels")
        import_module("foxglove.messages")
    except ImportError as error:
        raise MissingExtraError("MCAP files need the library foxglove-sdk: pip install 'tricover[mcap]'") from error
    return sdk


def _attach_scenario(run: Run, writer: Any) -> None:
    import tomli_w

    try:
        text = tomli_w.dumps(run.mission.self_contained().to_dict())
    except InputError:  # it holds functions
        return
    data = text.encode()
    writer.attach(log_time=0, create_time=0, name="scenario.toml", media_type="application/toml", data=data)


class _Log:
    """The channels of a log, and the messages of a run on them."""

    def __init__(self, run: Run, context: Any, plane: Projection | None) -> None:
        sdk = _library()
        self.run, self.plane, self.messages = run, plane, sdk.messages
        kinds = {"/team": "SceneUpdate", "/tf": "FrameTransforms", "/desired": "SceneUpdate", "/targets": "PointCloud"}
        if plane is not None:
            kinds["/fixes"] = "LocationFixes"
        self.channels = {
            topic: getattr(sdk.channels, f"{kind}Channel")(topic, context=context) for topic, kind in kinds.items()
        }
        extent = np.ptp(run.read("positions", 0, 1)[0], axis=0).max()
        self.size = 0.2 * float(extent) / len(run.network) ** 0.5

    def write(self, tell: Callable[[int, int], None]) -> None:
        """All messages, step by step."""
        self.log("/desired", 0, self.desired())
        changes = self.run.mission.targets_still_from
        before: list[int] = []
        for step, places, present, cells in _steps(self.run):
            now = round(step * seconds(self.run) * 1e9)
            if step <= changes:
                self.log("/targets", now, self.cloud(self.run.mission.targets_at(step), now))
            living = np.flatnonzero(present).tolist()
            self.log("/team", now, self.scene(step, now, places, living, cells, before))
            self.log("/tf", now, self.transforms(now, places, living))
            if self.plane is not None:
                self.log("/fixes", now, self.fixes(step, now, self.plane.to_degrees(places), living))
            before = living
            tell(step + 1, self.run.steps + 1)

    def log(self, topic: str, now: int, message: Any) -> None:
        self.channels[topic].log(message, log_time=now)

    def scene(
        self, step: int, now: int, places: Floats, living: list[int], cells: NDArray[Any], before: list[int]
    ) -> Any:
        """Everybody who is there, and the links."""
        network = self.run.network_at(step)
        colours = self.colours(network)
        entities = [
            self.entity(
                f"agent {agent}",
                now,
                _facts(network, agent, cells),
                **self.body(places[agent], colours[network.layer[agent]], network.layer[agent] == 0),
            )
            for agent in living
        ]
        listening = step >= self.run.mission.launch
        lines = [self.links(network, places, colours)] if listening else []
        entities.append(self.entity("links", now, {}, lines=lines))
        kind = self.messages.SceneEntityDeletionType.MatchingId
        lost = [
            self.messages.SceneEntityDeletion(timestamp=self.time(now), type=kind, id=f"agent {agent}")
            for agent in sorted(set(before) - set(living))
        ]
        return self.messages.SceneUpdate(entities=entities, deletions=lost)

    def desired(self) -> Any:
        """Small grey spheres where the living should settle."""
        living, grey = np.flatnonzero(self.run.network.layer >= 0), self.messages.Color(r=0.6, g=0.6, b=0.6, a=0.8)
        spheres = [self.body(self.run.desired[agent], grey, False, 0.5)["spheres"][0] for agent in living.tolist()]
        return self.messages.SceneUpdate(entities=[self.entity("desired", 0, {}, spheres=spheres)])

    def transforms(self, now: int, places: Floats, living: list[int]) -> Any:
        """A frame for everybody who is there."""
        return self.messages.FrameTransforms(
            transforms=[
                self.messages.FrameTransform(
                    timestamp=self.time(now),
                    parent_frame_id=FRAME,
                    child_frame_id=f"agent_{agent}",
                    translation=self.vector(places[agent]),
                    rotation=self.messages.Quaternion(w=1.0),
                )
                for agent in living
            ]
        )

    def fixes(self, step: int, now: int, degrees: Floats, living: list[int]) -> Any:
        """Where on earth everybody is who is there, in the colours of the layers."""
        network = self.run.network_at(step)
        colours = self.colours(network)
        return self.messages.LocationFixes(
            fixes=[
                self.messages.LocationFix(
                    timestamp=self.time(now),
                    frame_id=f"agent_{agent}",
                    longitude=float(degrees[agent, 0]),
                    latitude=float(degrees[agent, 1]),
                    color=colours[network.layer[agent]],
                )
                for agent in living
            ]
        )

    def cloud(self, targets: Targets, now: int) -> Any:
        """Targets as points with their weights."""
        weights = np.ones(len(targets)) if targets.weights is None else targets.weights
        rows = np.column_stack([targets.points, np.zeros(len(targets)), weights]).astype("<f8")
        kind = self.messages.PackedElementFieldNumericType.Float64
        return self.messages.PointCloud(
            timestamp=self.time(now),
            frame_id=FRAME,
            pose=self.pose(np.zeros(2)),
            point_stride=rows.itemsize * 4,
            fields=[
                self.messages.PackedElementField(name=name, offset=rows.itemsize * index, type=kind)
                for index, name in enumerate(("x", "y", "z", "weight"))
            ],
            data=rows.tobytes(),
        )

    def links(self, network: Network, places: Floats, colours: list[Any]) -> Any:
        """All links as one list of lines, from the in-neighbour to the agent."""
        pairs = [
            (neighbor, agent)
            for agent in network.followers.tolist()
            for neighbor in network.in_neighbors[agent].tolist()
        ]
        point, where = self.messages.Point3, places.tolist()
        return self.messages.LinePrimitive(
            type=self.messages.LinePrimitiveLineType.LineList,
            pose=self.pose(np.zeros(2)),
            thickness=1.0,
            scale_invariant=True,
            points=[point(x=where[end][0], y=where[end][1]) for pair in pairs for end in pair],
            colors=[colours[network.layer[agent]] for _, agent in pairs for _ in range(2)],
        )

    def body(self, place: Floats, colour: Any, anchor: bool, scale: float = 1.0) -> dict[str, list[Any]]:
        """A sphere, or a box for an anchor."""
        side = scale * self.size
        size = self.messages.Vector3(x=side, y=side, z=side)
        kind = self.messages.CubePrimitive if anchor else self.messages.SpherePrimitive
        return {"cubes" if anchor else "spheres": [kind(pose=self.pose(place), size=size, color=colour)]}

    def entity(self, name: str, now: int, facts: dict[str, object], **primitives: list[Any]) -> Any:
        metadata = [self.messages.KeyValuePair(key=key, value=str(value)) for key, value in facts.items()]
        return self.messages.SceneEntity(
            id=name, timestamp=self.time(now), frame_id=FRAME, metadata=metadata, **primitives
        )

    def pose(self, place: Floats) -> Any:
        return self.messages.Pose(position=self.vector(place), orientation=self.messages.Quaternion(w=1.0))

    def vector(self, place: Floats) -> Any:
        return self.messages.Vector3(x=float(place[0]), y=float(place[1]))

    def time(self, now: int) -> Any:
        return self.messages.Timestamp(*divmod(now, 1_000_000_000))

    def colours(self, network: Network) -> list[Any]:
        """The colours of layers 0 to ``depth``."""
        import matplotlib as mpl

        shades = mpl.colormaps["viridis"](np.linspace(0, _LIGHTEST, network.depth + 1))
        return [self.messages.Color(r=r, g=g, b=b, a=a) for r, g, b, a in shades.tolist()]


def _steps(run: Run) -> Iterator[tuple[int, Floats, NDArray[np.bool_], NDArray[Any]]]:
    """Each step with positions (N, 2), who is there (N,), and cells (2, N): where agents stand and want to."""
    for start, positions in run.blocks("positions"):
        stop = start + len(positions)
        present, states, goals = (run.read(name, start, stop) for name in ("present", "state", "goal_cell"))
        for offset, places in enumerate(positions):
            known = offset < len(states)
            cells = np.array([states[offset], goals[offset]]) if known else np.empty((2, 0), np.int32)
            yield start + offset, places, present[offset], cells


def _facts(network: Network, agent: int, cells: NDArray[Any]) -> dict[str, object]:
    """What a click on an agent shows."""
    facts: dict[str, object] = {"layer": network.layer[agent], "role": network.roles[agent]}
    if network.layer[agent] > 0:
        facts["listens to"] = ", ".join(map(str, network.in_neighbors[agent].tolist()))
        if cells.size:
            facts["cell"], facts["goal cell"] = cells[:, agent].tolist()
    return facts
