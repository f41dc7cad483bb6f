"""The sections of a scenario, as in the TOML file: what each key means and what it may be."""

from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import (
    ConfigDict,
    Field,
    PlainValidator,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
    model_validator,
)

from tricover.errors import InputError, listed, shown
from tricover.formats.points import LARGEST, own_floats
from tricover.own import is_name
from tricover.simulation.control_section import Control, by_name_or_function
from tricover.simulation.section import (
    AgentList,
    Extent,
    FilePath,
    Floats,
    Length,
    Pair,
    Paths,
    Points,
    PointsOrFile,
    Rows,
    Section,
    StepNumber,
    Steps,
    Weights,
    ZonesOrFile,
)
from tricover.targets.motion import Drift, Path
from tricover.vehicles import Mixed, Vehicle, check_vehicle, is_built_in, settings, vehicle

__all__ = [
    "Anchors",
    "Control",
    "Events",
    "Formation",
    "Join",
    "Leave",
    "Motion",
    "NetworkSettings",
    "Safety",
    "TargetSettings",
    "VehicleSettings",
]

MENTEES = ("fermat", "balanced")


def _one_of(section: Section, *keys: str) -> None:
    given = [key for key in keys if getattr(section, key) is not None and getattr(section, key) is not False]
    if len(given) != 1:
        found = f"{listed(given)} are given" if given else "none is"
        raise InputError(f"exactly one of {', '.join(keys)} is needed, and {found}")


def _only_with(section: Section, owner: str, wanted: tuple[str, ...], kind: str | None, keys: tuple[str, ...]) -> None:
    """Settings of a generator: the wanted ones must be there, the others must not."""
    missing = [key for key in wanted if getattr(section, key) is None]
    if missing:
        raise InputError(f"generator {kind!r} needs {listed(missing)}")
    idle = [key for key in keys if key not in wanted and getattr(section, key) is not None]
    if idle:
        raise InputError(f"{listed(idle)} means nothing here: leave it out" + (f" with {owner}" if owner else ""))


def _core(given: Any) -> int | Floats | None:
    if given is None:
        return None
    if isinstance(given, int | np.integer) and not isinstance(given, bool) and given >= 0:
        return int(given)
    try:
        point = own_floats(given)
    except (TypeError, ValueError):
        point = np.empty(0)
    if point.shape != (2,) or not (np.abs(point) <= LARGEST).all():
        raise InputError(f"must be an agent's index or a point [x, y], not {shown(given)}")
    return point


_Core = Annotated[
    Any,
    PlainValidator(_core),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 0}, {"type": "array", "items": {"type": "number"}}]}),
]


class Formation(Section):
    """Where the agents' reference positions come from; they also start there."""

    file: FilePath | None = Field(None, description="point file: CSV, NPY, JSON, GeoJSON")
    positions: Points | None = Field(None, description="reference positions in metres")
    generator: Literal["square", "disc"] | None = Field(None, description="made by rule, from the keys below")
    agents: int | None = Field(None, ge=4, le=2**53, description="how many agents the generator makes")
    size: Length | None = Field(None, description="side of the square or diameter of the disc, in metres")
    start: PointsOrFile | None = Field(
        None, description="where agents start, if not at their reference positions: metres, or a point file"
    )
    assign: bool = Field(
        False,
        description="let whoever is on a pad of start take the place that suits the whole team, and fly there first",
    )
    pads: Rows | None = Field(None, description="row of start that each agent takes, with assign; else worked out")
    launch: StepNumber | None = Field(
        None, description="steps of the flight from the pads, with assign; else as few as do"
    )

    @model_validator(mode="after")
    def _complete(self) -> Self:
        _one_of(self, "file", "positions", "generator")
        wanted = ("agents", "size") if self.generator else ()
        _only_with(self, "file or positions", wanted, self.generator, ("agents", "size"))
        if self.assign and self.start is None:
            raise InputError("assign goes with start: give the pads where the agents start")
        idle = [key for key in ("pads", "launch") if getattr(self, key) is not None and not self.assign]
        if idle:
            raise InputError(f"{listed(idle)} goes with assign = true: leave it out")
        return self


class Anchors(Section):
    """Where the anchors go: the boundary agents in the order of ``network.boundary``, the core last."""

    positions: Points | None = Field(None, description="desired positions; anchors go there in the first step")
    paths: Paths | None = Field(None, description="positions of all anchors step by step; they stay at the last ones")
    fit: bool = Field(False, description="fit the anchors' polygon to the targets")

    @model_validator(mode="after")
    def _complete(self) -> Self:
        _one_of(self, "positions", "paths", "fit")
        return self


class Motion(Section):
    """How targets move: all with a velocity, or each along a path."""

    velocity: Pair | None = Field(None, description="metres per step")
    until: StepNumber | None = Field(None, description="step from which on they stand still")
    paths: Paths | None = Field(None, description="positions of all targets step by step; they stay at the last ones")

    @model_validator(mode="after")
    def _complete(self) -> Self:
        _one_of(self, "velocity", "paths")
        if self.paths is not None and self.until is not None:
            raise InputError("until goes with velocity; paths end with their last step")
        return self


def _motion(given: Any, check: ValidatorFunctionWrapHandler) -> Any:
    return given if isinstance(given, Drift | Path) else check(given)


_MotionOrFunction = Annotated[Motion | None, WrapValidator(_motion)]


class TargetSettings(Section):
    """Where the targets are."""

    file: FilePath | None = Field(None, description="points: CSV, NPY, JSON, GeoJSON; a map: NPY, GeoTIFF")
    points: int | None = Field(None, ge=1, le=2**53, description="how many points polygons or a map become")
    density: float | None = Field(None, gt=0, description="or points per square metre, for a file with polygons")
    extent: Extent | None = Field(None, description="box of a map in an NPY file, in metres: x0, y0, x1, y1")
    positions: Points | None = Field(None, description="positions in metres")
    generator: Literal["polygon", "clusters"] | None = Field(None, description="made by rule, from the keys below")
    count: int | None = Field(None, ge=1, le=2**53, description="how many targets the generator makes")
    corners: Points | None = Field(None, description="corners of the polygon")
    centres: Points | None = Field(None, description="centres of the clusters")
    spread: Length | None = Field(None, description="standard deviation of a cluster, in metres")
    weights: Weights | None = Field(None, description="how much each target counts; all alike if left out")
    ids: tuple[str, ...] | None = Field(None, description="a name for each target")
    active: Steps | None = Field(None, description="first step at which each target is there, and at which it is gone")
    motion: _MotionOrFunction = None

    @model_validator(mode="after")
    def _complete(self) -> Self:
        _one_of(self, "file", "positions", "generator")
        wanted = {"polygon": ("count", "corners"), "clusters": ("count", "centres", "spread")}
        keys = ("count", "corners", "centres", "spread")
        _only_with(self, self.generator or "", wanted.get(self.generator or "", ()), self.generator, keys)
        idle = [key for key in ("points", "density", "extent") if getattr(self, key) is not None]
        if idle and self.file is None:
            raise InputError(f"{listed(idle)} goes with a file that has polygons or a map: leave it out")
        if self.points is not None and self.density is not None:
            raise InputError("points and density both say how many points there are: give one of the two")
        return self


class NetworkSettings(Section):
    """How the network is built (Algorithm 1)."""

    mentee: by_name_or_function(MENTEES) = Field("fermat", description="mentee rule")  # type: ignore[valid-type]
    core: _Core = Field(None, description="core agent: its index, or the point that it is nearest to")


def _kind(given: Any) -> Any:
    if not isinstance(given, str):
        check_vehicle(given)
    return given


#: A kind by name, or a vehicle of the user's own, which only Python can hold.
_Kind = Annotated[Any, PlainValidator(_kind), WithJsonSchema({"type": "string"})]


class _Ride(Section):
    """A kind of vehicle; further keys are its settings."""

    model_config = ConfigDict(extra="allow")

    kind: _Kind = Field(
        "exact",
        description="exact, anywhere, gusty, double-integrator, unicycle, quadrotor, rotorpy, mavlink, or module:class",
    )

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if not is_name(self.kind):  # a run with a vehicle that is gone can still be looked at
            self.made()
        return self

    def made(self) -> Vehicle:
        """The vehicle itself."""
        given = self.model_extra or {}
        if isinstance(self.kind, str):
            return vehicle(self.kind, **given)
        if given:
            raise InputError(f"{listed(given)}: a vehicle of your own holds its settings itself")
        own: Vehicle = self.kind
        return own


class Group(_Ride):
    """Some agents with another kind of vehicle than the rest."""

    agents: AgentList = Field(description="indices of the agents")


class VehicleSettings(_Ride):
    """What the agents ride, and how long a step takes."""

    duration: float = Field(1.0, gt=0, le=1e9, description="Δt: seconds per step")
    others: tuple[Group, ...] = Field((), description="agents with another kind of vehicle")

    def team(self, agents: int) -> Vehicle:
        """The vehicle of a team of so many agents: one kind for all, or mixed."""
        if not self.others:
            return self.made()
        assignment = np.zeros(agents, np.int64)
        for which, group in enumerate(self.others, 1):
            wrong = [agent for agent in group.agents if not 0 <= agent < agents]
            if wrong:
                raise InputError(f"vehicle.others: agent {listed(wrong)} is not on the roster of {agents} agents")
            assignment[list(group.agents)] = which
        return Mixed((self.made(), *(group.made() for group in self.others)), tuple(assignment.tolist()))


def vehicle_as_settings(ride: Vehicle) -> dict[str, Any]:
    """A vehicle object as the section that makes it; one of the user's own is its own kind."""
    if not isinstance(ride, Mixed):
        check_vehicle(ride)
        return settings(ride) if is_built_in(ride) else {"kind": ride}
    agents: list[list[int]] = [[] for _ in ride.vehicles]
    for agent, which in enumerate(ride.assignment):
        agents[which].append(agent)
    kinds = [vehicle_as_settings(one) for one in ride.vehicles]
    others = [{"agents": who, **kind} for who, kind in zip(agents[1:], kinds[1:], strict=True)]
    return {**kinds[0], "others": [group for group in others if group["agents"]]}


class Leave(Section):
    """Agents that are lost before a step."""

    step: StepNumber
    agents: AgentList


class Join(Section):
    """Agents that join before a step; they take the next numbers of the roster."""

    step: StepNumber
    reference: Points = Field(description="their reference positions")
    positions: Points | None = Field(None, description="where they stand when they join, if not there")

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.positions is not None and len(self.positions) != len(self.reference):
            raise InputError(f"{len(self.reference)} agents join, but {len(self.positions)} positions are given")
        return self

    @property
    def places(self) -> Floats:
        """Where they stand when they join."""
        return np.asarray(self.reference if self.positions is None else self.positions)


class Safety(Section):
    """What must not happen: agents too close to each other, or in zones."""

    separation: Length | None = Field(None, description="metres that agents keep from each other")
    zones: ZonesOrFile | None = Field(None, description="polygons that nobody enters: corners in metres, or GeoJSON")


class Events(Section):
    """Agents that leave or join during the run. In one step, those who leave go first."""

    leave: tuple[Leave, ...] = ()
    join: tuple[Join, ...] = ()
