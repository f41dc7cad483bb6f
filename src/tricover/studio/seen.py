"""What is known of a flight at a moment, and what one sees of it in sentences."""

from typing import NamedTuple

from tricover.fleet.messages import Place
from tricover.fleet.tower import Report
from tricover.network import Network
from tricover.studio.beliefs import Belief

__all__ = ["Seen", "last_words", "role_of", "says_of"]

MOST_NAMED = 8
"""Groups of agents that a sentence names, and beliefs that have a sentence."""
LAST_WORDS = ("home", "land", "end")
"""Orders after which a flight ends."""


class Seen(NamedTuple):
    """What was known of a flight at a moment."""

    report: Report
    living: frozenset[int]
    said: dict[int, tuple[int, Place]]
    ordered: str | None
    running: frozenset[int]
    frozen: frozenset[int]


def says_of(seen: Seen, agents: int, beliefs: list[tuple[Belief, list[int]]]) -> list[str]:
    """What one sees of a fleet of so many agents; each belief has those whom it takes for dead beside it."""
    if not seen.said:
        return [f"{len(seen.living)} of {agents} agents are there; the flight begins when all have spoken."]
    gone = sorted(set(range(agents)) - seen.living)
    missing = f"; not there: {named(gone)}" if gone else ""
    found = [f"{len(seen.living)} of {agents} agents are alive{missing}.", *_agreement(seen, beliefs)]
    if seen.frozen:
        found.append(f"Frozen: {named(sorted(seen.frozen))}.")
    return [*found, _progress(seen)]


def _agreement(seen: Seen, beliefs: list[tuple[Belief, list[int]]]) -> list[str]:
    """Whether they believe the same, and if not, who believes what."""
    if seen.report.agreed:
        return ["All of them agree who is."]
    if len(beliefs) > 1:
        return ["They do not agree who is.", *(_told_of(belief, gone) for belief, gone in beliefs[:MOST_NAMED])]
    if beliefs:
        return ["They agree with each other, but have not noticed who has come or gone."]
    return []


def _told_of(belief: Belief, gone: list[int]) -> str:
    """A belief, in a sentence."""
    by = sorted(belief.held_by)
    who = f"Agent {by[0]} believes" if len(by) == 1 else f"{len(by)} agents ({named(by)}) believe"
    return f"{who} that {named(gone) if gone else 'nobody'} {'is' if len(gone) < 2 else 'are'} gone."


def _progress(seen: Seen) -> str:
    if seen.ordered == "pause":
        return "The team is paused."
    if seen.report.done:
        return "The team has settled."
    return f"{seen.report.settled} are at their goals."


def last_words(seen: Seen, was_settled: bool, steps: int) -> list[str]:
    """How a flight of at most so many steps ended that is heard of from elsewhere."""
    step = max(step for step, _ in seen.said.values())
    settled = "had" if was_settled else "had not"
    found = [f"The flight is over after {step} steps: nobody is there any more. The team {settled} settled."]
    if seen.ordered in LAST_WORDS:
        found.append(f"The operator's last order was: {seen.ordered}.")
    elif not was_settled and step < steps:
        found.append("Nobody ordered that: agents were lost, or their router is out of reach.")
    return found


def role_of(network: Network, agent: int) -> str:
    """What an agent is in a network, in words."""
    if agent >= len(network) or network.layer[agent] < 0:
        return "takes no part"
    if network.layer[agent] > 0:
        return f"follower, layer {network.layer[agent]}"
    return "core, anchor" if agent == network.core else "boundary, anchor"


def named(agents: list[int]) -> str:
    """Agents, ascending, in few words: those that follow each other as one.

    >>> named([0, 1, 2, 5, 7, 8])
    '0-2, 5, 7-8'
    """
    runs: list[list[int]] = []
    for agent in agents:
        if runs and agent == runs[-1][1] + 1:
            runs[-1][1] = agent
        else:
            runs.append([agent, agent])
    shown = ", ".join(f"{first}" if first == last else f"{first}-{last}" for first, last in runs[:MOST_NAMED])
    return shown if len(runs) <= MOST_NAMED else f"{shown}, …"
