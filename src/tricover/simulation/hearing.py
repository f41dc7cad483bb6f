"""What everybody has heard by a step, in a world in which messages are late or lost.

The channel says, for each message when it is sent, how many steps it takes. Until then it is on its way: *post*, which
is part of the state and which no agent knows of.

    delays  (D + 1, N, 3)  how many steps the messages take that each agent is sent by its in-neighbours, those of this
                           step first; -1: they never arrive
    news    (E, N)         the step at which each agent hears of each epoch

Everybody begins to listen to its new in-neighbours when it hears of a repair, and keeps what it heard of those that it
listens to as before. Whoever joins knows of it.
"""

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tricover.control import Memory
from tricover.control.hearing import NOTHING, newest

if TYPE_CHECKING:
    from tricover.simulation.mission import Mission
    from tricover.simulation.state import State

__all__ = ["NEVER", "heard_by", "listen", "no_post", "nothing_new", "senders_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Arrays: TypeAlias = dict[str, NDArray[Any]]

NEVER = np.iinfo(np.int64).max


def no_post(mission: "Mission") -> Arrays:
    """Nothing is on its way, and everybody knows of the first epoch."""
    news = np.full((len(mission.epochs), mission.agents), NEVER)
    news[0] = 0
    return {"delays": np.full((mission.world.channel.history + 1, mission.agents, 3), NOTHING), "news": news}


def listen(mission: "Mission", step: int, sent: Floats, memory: Memory, post: Memory) -> tuple[Arrays, Arrays]:
    """What agents remember to have heard when a step begins, and what is then on its way.

    ``sent`` (D + 1, N, 2) are everybody's positions, those of this step first; ``memory`` and ``post`` are of the step
    before.
    """
    channel = mission.world.channel
    positions = np.where(mission.present_at(step)[:, None], sent[0], np.nan)
    news = _news(mission, step, positions, sent[0], post["news"])
    believed = _believed(news, step)
    senders, before = senders_of(mission, step, believed), senders_of(mission, step - 1, memory["believed"])
    changed = senders != before
    delays = np.concatenate([channel.delays(step, positions, senders)[None], post["delays"][:-1]])
    delays[1:, changed] = NOTHING  # whoever begins to listen hears what is sent from now on
    known = {
        "heard": np.where(changed[..., None], np.nan, memory["heard"]),
        "ages": np.where(changed, NOTHING, memory["ages"]),
    }
    heard = newest(known, *_arriving(delays, sent, senders))
    return {**heard, "believed": believed}, {"delays": delays, "news": news}


def nothing_new(mission: "Mission", state: "State") -> bool:
    """Whether nobody will hear anything new, as long as nobody moves.

    Everybody knows where those are whom it can hear, what is on its way says nothing else, and all who will hear of a
    repair have heard of it.
    """
    channel, present, post = mission.world.channel, state.present, state.post
    if channel.perfect:
        return True
    senders = senders_of(mission, state.step, state.memory["believed"])
    reachable = channel.hops(np.where(present[:, None], state.positions, np.nan), senders) > 0
    places = state.positions[senders]
    known = (state.memory["heard"] == places).all(axis=2) | ~reachable
    ages = np.arange(len(post["delays"]))[:, None, None]
    says = (state.messages[:, senders] == places).all(axis=3)
    coming = (post["delays"] > ages) & ~says
    late = post["news"][:, present]
    informed = (late <= state.step) | (late == NEVER)
    return bool(known[present].all() and informed.all() and not coming[:, present].any())


def heard_by(mission: "Mission", agent: int, positions: Floats, ages: Ints, believed: Ints) -> Floats:
    """The triangles (T, 3, 2) that an agent had heard by each step, by what was recorded; NaN where it had none.

    Everybody was at positions (T+1, N, 2); ages (T, 3) and epochs (T,) are the agent's own.
    """
    steps, links = np.arange(len(ages))[:, None], np.full((len(mission.epochs), 3), -1)
    for which, epoch in enumerate(mission.epochs):
        if agent < len(epoch.network):
            links[which] = epoch.network.in_neighbors[agent]
    senders = links[believed]
    known = (senders >= 0) & (ages != NOTHING) & (steps >= mission.launch)
    places = positions[np.where(known, steps - ages, 0), np.where(known, senders, 0)]
    return np.where(known.all(axis=1)[:, None, None], places, np.nan)


def _arriving(delays: Ints, sent: Floats, senders: Ints) -> tuple[Floats, Ints]:
    """Positions (N, 3, 2) and ages (N, 3) of the newest messages that arrive now."""
    ages = np.arange(len(delays))[:, None, None]
    arrives = delays == ages
    age = np.where(arrives.any(axis=0), arrives.argmax(axis=0), NOTHING)
    return sent[np.maximum(age, 0), senders], age


def senders_of(mission: "Mission", step: int, believed: NDArray[np.integer]) -> Ints:
    """To whom everybody listens at a step, (N, 3), by the epoch that it takes for the present one; -1: to nobody."""
    senders = np.full((mission.agents, 3), -1, np.int64)
    if step < mission.launch:
        return senders
    for which in np.unique(believed):
        network = mission.epochs[which].network
        rows = np.flatnonzero(believed[: len(network)] == which)
        senders[rows] = network.in_neighbors[rows]
    return senders


def _believed(news: Ints, step: int) -> NDArray[np.int32]:
    """The newest epoch that each agent has heard of, (N,)."""
    known = news <= step
    return np.asarray(len(news) - 1 - known[::-1].argmax(axis=0), np.int32)


def _news(mission: "Mission", step: int, positions: Floats, stood: Floats, news: Ints) -> Ints:
    """When everybody hears of each epoch, with that of an epoch that begins now; everybody stood there, (N, 2)."""
    starts = [epoch.start for epoch in mission.epochs]
    if step not in starts[1:]:
        return news
    which = starts.index(step, 1)
    before, now = mission.epochs[which - 1].network, mission.epochs[which].network
    joined = np.arange(len(before), len(now))
    left = np.flatnonzero((before.layer >= 0) & (now.layer[: len(before)] < 0))
    sources = np.concatenate([joined, left])
    if not sources.size:  # a plan, which is the core's to tell
        sources = np.array([before.core])
    around = positions.copy()
    around[left] = stood[left]  # those in range notice that it is gone
    late = mission.world.channel.news(which, around, sources)
    late[joined] = 0
    found, hears = news.copy(), np.isfinite(late)
    found[which, hears] = step + late[hears].astype(np.int64)
    return found
