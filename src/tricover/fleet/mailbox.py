"""What an agent of a fleet has heard of others, by sender and step; and late messages as the simulator plays them."""

from typing import NamedTuple

import numpy as np

from tricover.control import Memory, rows_of
from tricover.control.hearing import HEARD
from tricover.fleet.messages import Intent, Place
from tricover.simulation import Mission, State
from tricover.simulation.hearing import listen
from tricover.targets import TargetLists

__all__ = ["Heard", "Mailbox", "PlayedLate"]

KEPT = 64
"""Messages of a sender that are kept: others may be some steps ahead, and late ones are of use for a while."""

Point = tuple[float, float]


class Heard(NamedTuple):
    """What another said of a step."""

    position: Point
    tells: TargetLists | None
    reports: TargetLists | None


class Mailbox:
    """What was heard, the last ``KEPT`` steps of each sender.

    >>> from tricover.fleet.messages import Action
    >>> mail = Mailbox()
    >>> for step in (3, 5):
    ...     mail.hear(7, step, Place((1.0, step), Action(), np.ones(8, bool)))
    >>> mail.newest(7), mail.newest(6), mail.last_by(4, 7).position, mail.step_by(4, 7)
    (5, -1, (1.0, 3), 3)
    """

    def __init__(self) -> None:
        self.places: dict[int, dict[int, Heard]] = {}
        self.intents: dict[int, dict[int, Point]] = {}

    def hear(self, sender: int, step: int, place: Place) -> None:
        """Another is at a place at a step."""
        heard = self.places.setdefault(sender, {})
        for past in place.earlier:
            heard[past.step] = Heard(past.position, None, None)
        heard[step] = Heard(place.position, place.tells, place.reports)
        while len(heard) > KEPT:
            del heard[min(heard)]

    def hear_intent(self, sender: int, step: int, intent: Intent) -> None:
        """Another announces where it will be at the step after."""
        announced = self.intents.setdefault(sender, {})
        announced[step] = intent.point
        if len(announced) > KEPT:
            del announced[min(announced)]

    def newest(self, sender: int) -> int:
        """The last step that another has spoken of; -1: it has not."""
        return max(self.places.get(sender, {-1: None}))

    def forgotten(self, senders: list[int]) -> int:
        """The step before which it is not known any more what all of these said; 0: all is known."""
        return max((min(self.places[sender]) for sender in senders if self.places.get(sender)), default=0)

    def step_by(self, step: int, sender: int) -> int | None:
        """The newest step, this one at the latest, that another has spoken of."""
        heard = self.places.get(sender, {})
        if step in heard:  # nearly always
            return step
        return max((one for one in heard if one <= step), default=None)

    def last_by(self, step: int, sender: int) -> Heard | None:
        """What another said of the newest step, this one at the latest."""
        found = self.step_by(step, sender)
        return None if found is None else self.places[sender][found]

    def announced(self, step: int, sender: int) -> Point | None:
        """Where another said that it goes in a step; None: it did not, or that was lost."""
        return self.intents.get(sender, {}).get(step)


class PlayedLate:
    """Late and lost messages as the simulator plays them, for one agent: all rows but its own stay empty."""

    def __init__(self, mission: Mission, begin: State) -> None:
        self.post = begin.post
        self.sent = np.full((mission.world.channel.history + 1, mission.agents, 2), np.nan)
        self.memory: Memory = {name: begin.memory[name] for name in HEARD}

    def hear(self, mission: Mission, mail: Mailbox, agent: int, here: Point, step: int) -> Memory:
        """What an agent that is ``here`` at a step has heard by then, (1, …) by name."""
        now = np.full((mission.agents, 2), np.nan)
        for sender, places in mail.places.items():
            if step in places:
                now[sender] = places[step].position
        now[agent] = here
        self.sent = np.concatenate([now[None], self.sent[:-1]])
        if step > 0:  # the start knows what was heard at step 0
            self.memory, self.post = listen(mission, step, self.sent, self.memory, self.post)
        return rows_of(self.memory, np.array([agent]))
