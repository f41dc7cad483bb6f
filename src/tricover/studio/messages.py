"""What pages and the studio say to each other.

A page sends JSON texts, one ``Message`` each: ``{"do": "seek", "step": 12}``. The models below are the protocol; what
does not fit them is answered with an error and changes nothing. Places are [x, y] in metres.

The studio sends JSON texts with the key ``is``: ``state`` (everything but numbers by agent), ``figures``, ``inside``,
``claims``, ``files``, ``link``, ``done`` and ``error``; of a fleet that is watched ``fleet`` (who it is, and its
network), ``flight`` (how far it is) and ``member`` (one agent). Blocks of numbers are binary messages, little-endian:

    4 × uint32   kind, variant, step, count
    kind 1       positions: count × 2 float32, metres from the corner that ``state`` names
    kind 2       network: count × 3 int32 in-neighbours (-1: none), then count int32 layers (-1: lost)
    kind 3       targets: count × 3 float32: position from the corner, and weight relative to the mean
"""

import struct
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from tricover.errors import InputError
from tricover.formats.points import LARGEST
from tricover.network import Network
from tricover.targets import Targets

__all__ = [
    "MOST_BYTES",
    "Message",
    "links_of",
    "pack_links",
    "pack_network",
    "pack_positions",
    "pack_targets",
    "read_message",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_BYTES = 16 * 2**20
"""Of a message: a dropped file is the largest."""
MOST_POINTS = 100_000
"""Points that are scattered at once."""

Number = Annotated[float, Field(ge=-LARGEST, le=LARGEST)]
Place = tuple[Number, Number]
Agent = Annotated[int, Field(ge=0, lt=2**31)]
Step = Annotated[int, Field(ge=0, le=2**31)]
Variant = Annotated[int, Field(ge=0, le=1)]
Name = Annotated[str, Field(min_length=1, max_length=500)]


class Message(BaseModel):
    """What a page asks for."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class Play(Message):
    """Go on by itself; from the start if the end is reached."""

    do: Literal["play"]


class Pause(Message):
    """Stay at this step."""

    do: Literal["pause"]


class Speed(Message):
    """So many steps per second."""

    do: Literal["speed"]
    value: Annotated[float, Field(gt=0, le=60)]


class Seek(Message):
    """To a step, and stay there."""

    do: Literal["seek"]
    step: Step


class Drag(Message):
    """Show the network as if an agent stood elsewhere; nothing is changed."""

    do: Literal["drag"]
    agent: Agent
    place: Place


class Drop(Message):
    """Move an agent: in the formation before the start; in flight an anchor is sent there, a follower pushed."""

    do: Literal["drop"]
    agent: Agent
    place: Place


class AddAgent(Message):
    """One agent more, in the formation, or joining in flight."""

    do: Literal["place"]
    place: Place


class DeleteAgents(Message):
    """Some agents less, in the formation, or lost in flight."""

    do: Literal["delete"]
    agents: Annotated[list[Agent], Field(min_length=1, max_length=10_000)]


class Scatter(Message):
    """More targets."""

    do: Literal["scatter"]
    points: Annotated[list[Place], Field(min_length=1, max_length=MOST_POINTS)]
    weight: Annotated[float, Field(gt=0, le=1e6)] = 1.0


class Erase(Message):
    """No targets within a radius."""

    do: Literal["erase"]
    centre: Place
    radius: Annotated[float, Field(gt=0, le=LARGEST)]


class Fence(Message):
    """A zone that nobody may enter."""

    do: Literal["fence"]
    corners: Annotated[list[Place], Field(min_length=3, max_length=1000)]


class Unfence(Message):
    """A zone less."""

    do: Literal["unfence"]
    number: Annotated[int, Field(ge=0)]


class Set(Message):
    """A setting of a variant, by its key in the scenario; None: the default."""

    do: Literal["set"]
    key: Annotated[str, Field(pattern=r"^[a-z_]{1,40}(\.[a-z_]{1,40})?$")]
    value: Any
    variant: Variant = 0


class Plain(Message):
    """What needs no more words.

    undo, redo: of changes. restart: the scenario from the start, also of a stored run. compare: a second variant, a
    copy of the first. single: the first variant alone. claims: the certificate of the run so far. files: below the
    folder. link: that opens this state.
    """

    do: Literal["undo", "redo", "restart", "compare", "single", "claims", "files", "link"]


class Inside(Message):
    """Look inside an agent of a variant."""

    do: Literal["inside"]
    agent: Agent
    variant: Variant = 0


class Open(Message):
    """A scenario, a run or a point file below the folder."""

    do: Literal["open"]
    path: Name


class Save(Message):
    """The scenario of the first variant, or its run, below the folder."""

    do: Literal["save"]
    path: Name


class Bring(Message):
    """A file that was dropped on the page: a scenario, or points for targets or for the team."""

    do: Literal["bring"]
    name: Name
    content: str
    """Base64."""
    use: Literal["targets", "agents"] = "targets"


class Follow(Message):
    """What a link holds."""

    do: Literal["follow"]
    link: Annotated[str, Field(max_length=200_000)]


class ToProcess(Message):
    """To a process of a fleet: kill it, freeze it for a while, or begin it again."""

    do: Literal["kill", "freeze", "join"]
    agent: Agent


class Disturb(Message):
    """Messages of a fleet are lost with a chance from now on, and agents such as "0-5,7" cut off from all others."""

    do: Literal["disturb"]
    loss: Annotated[float, Field(ge=0, le=0.9)]
    apart: Annotated[str, Field(max_length=10_000)] = ""


class Order(Message):
    """An order of the operator to a fleet."""

    do: Literal["order"]
    word: Literal["pause", "go", "hold", "home", "land", "end"]
    agents: Annotated[str, Field(max_length=10_000)] = ""
    """Those whom it concerns, such as "0-5,7"; nobody is named: all."""


class Flown(Message):
    """Open the run that was recorded of a flight that is over."""

    do: Literal["flown"]


Every = Annotated[
    Play
    | Pause
    | Speed
    | Seek
    | Drag
    | Drop
    | AddAgent
    | DeleteAgents
    | Scatter
    | Erase
    | Fence
    | Unfence
    | Set
    | Plain
    | Inside
    | Open
    | Save
    | Bring
    | Follow
    | ToProcess
    | Disturb
    | Order
    | Flown,
    Field(discriminator="do"),
]
_EVERY: TypeAdapter[Any] = TypeAdapter(Every)


def read_message(text: str | bytes) -> Any:
    """A message of a page; what is none is an error that names the first thing that is wrong with it."""
    if len(text) > MOST_BYTES:
        raise InputError(f"a message may have {MOST_BYTES} bytes, not {len(text)}")
    try:
        return _EVERY.validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InputError(f"not a message of a page: {place or 'it'}: {first['msg']}") from None


def pack_positions(variant: int, step: int, positions: Floats, corner: Floats) -> bytes:
    """Positions (N, 2) as a block."""
    return _block(1, variant, step, len(positions), (positions - corner).astype("<f4"))


def links_of(network: Network, agents: int) -> tuple[Ints, Ints]:
    """In-neighbours (N, 3) and layers (N,) of so many agents; those not yet on the network's roster have layer -2."""
    heard, layer = np.full((agents, 3), -1), np.full(agents, -2)
    heard[: len(network)] = network.in_neighbors
    layer[: len(network)] = network.layer
    return heard, layer


def pack_network(variant: int, step: int, network: Network, agents: int) -> bytes:
    """A network as a block, with room for so many agents."""
    return pack_links(variant, step, *links_of(network, agents))


def pack_links(variant: int, step: int, heard: Ints, layer: Ints) -> bytes:
    """Who listens to whom (N, 3), and layers (N,), as a block."""
    return _block(2, variant, step, len(layer), heard.astype("<i4"), layer.astype("<i4"))


def pack_targets(variant: int, step: int, targets: Targets, corner: Floats) -> bytes:
    """Targets as a block."""
    weights = np.ones(len(targets)) if targets.weights is None else targets.weights
    mean = weights[weights > 0].mean() if (weights > 0).any() else 1.0
    rows = np.column_stack([targets.points - corner, weights / mean])
    return _block(3, variant, step, len(rows), rows.astype("<f4"))


def _block(kind: int, variant: int, step: int, count: int, *arrays: NDArray[Any]) -> bytes:
    head = struct.pack("<4I", kind, variant, step, count)
    return head + b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)
