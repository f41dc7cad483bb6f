"""What agents were told before an epoch: constants, which can be written down and given to a process.

Everybody is told the same: the network, the goal rule, how to move, the settings of cells and decision process, and
where the anchors go. From the network, each agent derives its own part.
"""

import json
from dataclasses import dataclass, fields
from functools import cached_property
from math import sqrt
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from tricover.control.family import Family, family_of
from tricover.control.policies import LocalMoves, Policy, prepare_policy
from tricover.control.speed import limits_of
from tricover.errors import FileFormatError, InputError, shown
from tricover.formats.plain_json import parsed
from tricover.formats.points import LARGEST
from tricover.geometry import CellGrid, Zones, as_zones
from tricover.goals import GoalRule, LocalGoal, prepare
from tricover.goals.nested import extent_of, floor_of
from tricover.goals.room import points_with_room
from tricover.limits import check_room
from tricover.network import Network
from tricover.own import label_of
from tricover.targets import TargetLists, Targets

if TYPE_CHECKING:
    from tricover.mdp import KernelBatch

__all__ = ["MOTIONS", "Motion", "Told"]

Floats = NDArray[np.float64]
Motion: TypeAlias = Literal["reach", "walk", "morph"]
MOTIONS: tuple[Motion, ...] = get_args(Motion)

RECALL = 1024
"""Points that an agent remembers, if it is not told otherwise: 25 kB. What is beyond becomes fewer points."""
_REST = 1e-3  # of the mean spacing of the team
_CELL_BYTES = 200.0  # of a cell while its decision process is solved: measured with 250,000 to 4 million of them


@dataclass(frozen=True, eq=False, repr=False)
class Told:
    """What agents were told.

    Attributes:
        network: who listens to whom.
        paths: where the anchors go, step by step from the end of the launch on, (K, A, 2), in the order of
            ``network.anchors``. They stay at the last places. NaN: the anchor stays where it stood when the epoch
            began.
        goal: the goal rule, by name or the user's own.
        motion: "reach", "walk" or "morph".
        resolution: cells per side of a triangle, M.
        alpha: cost per metre to the goal.
        beta: reward at the goal; None: scaled to the triangle.
        gamma: discount factor.
        margin: η of the reach sets.
        speed: metres per step that nobody exceeds, for ``morph``; None: a tenth of the team's extent.
        separation: metres that agents are to keep from each other; None: nothing is asked for.
        zones: polygons that nobody enters, (K, 2) each, in metres; None: there are none.
        launch: steps of the flight from where everybody stood at step 0 to its reference position. Until then nobody
            listens to anybody. 0: there is none.
        kernel: how moves end, for ``walk``: "certain", "learned", or the chance to slip.
        window: how many of its last moves an agent learns from.
        policy: who chooses the next cells, for ``walk``: a policy of the user's own; None: the optimal one.
        sight: metres that an agent sees; None: it sees every target.
        summary: what agents tell their parents of targets: at most so many points, or "sums"; None: nothing.
        recall: how many points an agent remembers of what it has seen.
        range: metres within which agents hear of others near by, for the goals "voronoi" and "descent"; None: as far as
            it takes.
        free: whether anchors have no places of their own: they go to the centroids of their own Voronoi cells.
        until: the step from which on everybody comes to rest, with the goals "voronoi" and "descent": whoever is in its
            triangle stays. None: never.
    """

    network: Network
    paths: Floats
    goal: str | GoalRule = "centroid"
    motion: Motion = "reach"
    resolution: int = 35
    alpha: float = 1.0
    beta: float | None = None
    gamma: float = 0.95
    margin: float = 0.05
    speed: float | None = None
    separation: float | None = None
    zones: tuple[Floats, ...] | None = None
    launch: int = 0
    kernel: str | float = "certain"
    window: int = 1000
    policy: str | Policy | None = None
    sight: float | None = None
    summary: int | str | None = None
    recall: int = RECALL
    range: float | None = None
    free: bool = False
    until: int | None = None

    def __post_init__(self) -> None:
        if self.motion not in MOTIONS:
            raise InputError(f"motion must be {' or '.join(map(repr, MOTIONS))}, not {shown(self.motion)}")
        cells = len(CellGrid(self.resolution))
        if self.motion == "walk":
            check_room(_CELL_BYTES * cells, f"{cells} cells for the resolution {self.resolution}")
        if type(self.launch) is not int or self.launch < 0:
            raise InputError(f"launch must be a whole number of steps from 0 on, not {shown(self.launch)}")
        slips = type(self.kernel) is float and 0 <= self.kernel < 1
        if self.kernel not in ("certain", "learned") and not slips:
            raise InputError(f"kernel must be 'certain', 'learned' or a chance to slip, not {shown(self.kernel)}")
        if type(self.window) is not int or self.window < 1:
            raise InputError(f"window must be a whole number of moves from 1 on, not {shown(self.window)}")
        if self.policy is not None and (self.motion != "walk" or self.plans):
            raise InputError('a policy of your own goes with motion "walk" and kernel "certain": it plans by itself')
        self._check_sight()
        for name in ("speed", "separation", "sight", "range"):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, int | float) and 0 < value <= LARGEST):
                raise InputError(f"{name} must be a positive number of metres, not {shown(value)}")
        shape, anchors = self.paths.shape, len(self.network.anchors)
        if len(shape) != 3 or not shape[0] or shape[1:] != (anchors, 2) or (np.abs(self.paths) > LARGEST).any():
            raise InputError(f"paths of {anchors} anchors have the shape (K, {anchors}, 2), in metres, not {shape}")

    def _check_sight(self) -> None:
        """Refuse what agents cannot know, tell or remember."""
        summary = self.summary
        if summary is not None and summary != "sums" and (type(summary) is not int or summary < 1):
            raise InputError(f'summary must be a whole number of points from 1 on, or "sums", not {shown(summary)}')
        if summary is not None and self.sight is None:
            raise InputError("summary goes with sight: who sees every target need not be told of any")
        if summary == "sums" and self.goal != "centroid":
            raise InputError(
                f'summary "sums" goes with the goal "centroid", not with {label_of(self.goal)!r}: '
                "three numbers tell a centroid and nothing else; give a number of points"
            )
        if type(self.recall) is not int or self.recall < 1:
            raise InputError(f"recall must be a whole number of points from 1 on, not {shown(self.recall)}")

    def __repr__(self) -> str:
        rule = label_of(self.goal)
        return f"<Told {self.motion}, goal {rule}, resolution {self.resolution}: {self.network}>"

    def __getstate__(self) -> dict[str, Any]:
        """The constants alone: what is derived from them need not travel."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def local_goal(self) -> LocalGoal:
        """The goal rule made ready for the network."""
        local_goal = prepare(self.goal, self.network)

        def roomy(agents: NDArray[np.int64], triangles: Floats, targets: Targets | TargetLists) -> Floats:
            return self.with_room(local_goal(agents, triangles, targets), agents, triangles)

        return roomy if self.separation is not None else local_goal

    @property
    def hears_near(self) -> bool:
        """Whether agents have to hear of those near by."""
        return self.goal in ("voronoi", "descent")

    @cached_property
    def rest(self) -> float:
        """Metres: who would move by less for its Voronoi cell stays where it is."""
        living = max(int((self.network.layer >= 0).sum()), 1)
        return _REST * extent_of(self.network) / sqrt(living)

    @property
    def anchor_turns(self) -> int:
        """How many steps of a round of "descent" belong to anchors: neighbours on the boundary do not move at once."""
        return 3 + len(self.network.boundary) % 2 if self.free else 0

    @property
    def round(self) -> int:
        """How many steps it takes until everybody has had its turn, with the goal "descent"."""
        return self.anchor_turns + max(self.network.depth, 1)

    def comes_to_rest(self, step: int) -> bool:
        """Whether everybody comes to rest, at a step."""
        return self.hears_near and self.until is not None and step >= self.until

    def with_room(self, points: Floats, agents: NDArray[np.int64], triangles: Floats) -> Floats:
        """Goal points (A, 2) of agents (A,) in triangles (A, 3, 2), with the room that a separation asks for."""
        if self.separation is None or self.motion == "morph":  # who morphs is told by its weights
            return points
        resolution = self.resolution if self.motion == "walk" else None
        below = self.network.descendants[agents]
        return points_with_room(points, triangles, below, self.separation, resolution)

    @cached_property
    def local_moves(self) -> LocalMoves | None:
        """The policy of the user's own made ready for the network and the cells; None: there is none."""
        return None if self.policy is None else prepare_policy(self.policy, self.network, self.grid)

    @cached_property
    def obstacles(self) -> Zones | None:
        """The zones that agents have to go around: with ``walk``, where they decide by cells."""
        return None if self.zones is None or self.motion != "walk" else as_zones(self.zones)

    @property
    def learns(self) -> bool:
        """Whether agents learn how their moves end."""
        return self.kernel == "learned"

    @property
    def plans(self) -> bool:
        """Whether agents know that moves may fail, and plan for it."""
        return self.kernel not in ("certain", 0.0)

    @cached_property
    def kernels(self) -> "KernelBatch":
        """The kernel that was given, for all agents."""
        from tricover.mdp import kernel_batch, slip

        return kernel_batch(slip(self.grid, float(self.kernel)))

    @cached_property
    def family(self) -> Family:
        """Who reports to whom, and which targets on the edges of its triangle each agent leaves to others."""
        return family_of(self.network)

    @cached_property
    def grid(self) -> CellGrid:
        """The cells of every communication triangle."""
        return CellGrid(self.resolution)

    @cached_property
    def some_stay(self) -> bool:
        """Whether an anchor is told to stay where it stood when the epoch began."""
        return bool(np.isnan(self.paths).any())

    @cached_property
    def floor(self) -> float:
        """Metres that those who morph keep from the edges of their triangles, whatever is asked for."""
        return floor_of(self.network)

    @cached_property
    def limits(self) -> Floats:
        """c_l (depth + 1,): metres that those who morph go in a step at most, layer by layer."""
        return limits_of(self.network, self.speed)

    def places(self, step: int) -> Floats:
        """Where the anchors are sent at a step: (A, 2); NaN: where they stood when the epoch began."""
        return np.asarray(self.paths[min(max(step - self.launch, 0), len(self.paths) - 1)])

    def paths_from(self, positions: Floats) -> Floats:
        """The paths (K, A, 2) of anchors that stood, with everybody, at positions (N, 2) when the epoch began."""
        return np.where(np.isnan(self.paths), positions[self.network.anchors], self.paths)

    def to_json(self) -> str:
        """The constants as a JSON text; ``Told.from_json`` reads it back, to the bit."""
        for what, rule in (("goal rule", self.goal), ("policy", self.policy)):
            if callable(rule):
                name = getattr(rule, "__name__", rule)
                raise InputError(f"a {what} that is a function ({name}) cannot be written down as JSON: pickle it")
        plain = self.__getstate__()
        plain["network"] = json.loads(self.network.to_json())
        paths: NDArray[Any] = self.paths.astype(object)
        paths[np.isnan(self.paths)] = None  # JSON knows no NaN
        plain["paths"] = paths.tolist()
        plain["zones"] = None if self.zones is None else [ring.tolist() for ring in self.zones]
        return json.dumps(plain, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> "Told":
        """What the text of ``to_json`` says; anything else is an error."""
        try:
            plain = parsed(text)
            network = Network.from_json(json.dumps(plain.pop("network")))
            paths = np.array(plain.pop("paths"), dtype=np.float64)
            zones = plain.pop("zones", None)
            plain["zones"] = None if zones is None else as_zones(zones).polygons
            return cls(network, paths, **plain)
        except (KeyError, TypeError, ValueError, OverflowError, AttributeError, RecursionError) as error:
            raise FileFormatError(f"this is not what agents were told ({type(error).__name__}: {error})") from None
