"""``Session``: what a studio shows, and all that can be done with it. Pure Python: no page, no server, no clock.

One session is shared by all pages of a studio: variants (one or two), the step that is shown, whether it plays, and
what can be undone. ``do`` takes a message and gives an ``Answer``; ``tick`` is one step of play. Whatever fails leaves
everything as it was.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from tricover.certificates import certify
from tricover.errors import InputError
from tricover.simulation import Run, Scenario
from tricover.studio import editing, files, links
from tricover.studio.claims import claims_of
from tricover.studio.controls import controls, values_of
from tricover.studio.inside import look_inside
from tricover.studio.messages import Message, pack_network, pack_positions, pack_targets
from tricover.studio.variant import Variant, box_of

__all__ = ["Answer", "Sent", "Session", "done_by", "said"]

MOST_UNDONE = 100
"""Changes that can be undone."""

Sent: TypeAlias = str | bytes
"""A message to pages: JSON, or a block of numbers."""


class Answer(NamedTuple):
    """Messages to all pages, and to the one that asked; and a session that takes the place of what was shown."""

    everybody: Sequence[Sent] = ()
    asker: Sequence[Sent] = ()
    instead: "Session | None" = None


def done_by(who: object, message: Message, otherwise: str) -> Answer:
    """What the method of a message's name answers; ``otherwise`` is the error where there is none."""
    name: str = message.do  # type: ignore[attr-defined]
    act: Callable[[Any], Answer] | None = getattr(who, f"_do_{name}", None)
    if act is None:
        raise InputError(otherwise)
    return act(message)


class _Moment(NamedTuple):
    """What an undo brings back."""

    variants: tuple[Variant, ...]
    step: int


def said(kind: str, **facts: Any) -> str:
    """A message to pages, as JSON."""
    return json.dumps({"is": kind, **facts}, allow_nan=False, ensure_ascii=False)


@dataclass
class Session:
    """A scenario or a run to be looked at and changed, with files below a folder."""

    subject: Scenario | Run
    folder: Path
    step: int = 0
    playing: bool = False
    speed: float = 4.0
    _past: list[_Moment] = field(default_factory=list)
    _future: list[_Moment] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.variants: tuple[Variant, ...] = (Variant.of(self.subject),)
        self._controls = controls()
        self._measure()

    # --- what pages are told ---

    def everything(self) -> list[Sent]:
        """All that a new page has to know."""
        return [said("controls", controls=self._controls), *self._scene()]

    def _scene(self) -> list[Sent]:
        """The state, and all numbers by agent and target."""
        blocks = [block for number in range(len(self.variants)) for block in self._blocks(number)]
        return [self._state(), *blocks, self._figures()]

    def _state(self) -> str:
        facts = [each.facts(self.at(number), self._low) for number, each in enumerate(self.variants)]
        for fact, variant in zip(facts, self.variants, strict=True):
            fact["values"] = values_of(variant.scenario)
        return said(
            "state",
            step=self.step,
            playing=self.playing,
            speed=self.speed,
            undo=len(self._past),
            redo=len(self._future),
            corner=self._low.tolist(),
            size=(self._high - self._low).tolist(),
            variants=facts,
        )

    def at(self, number: int, step: int | None = None) -> int:
        """The step at which a variant is shown: one that has ended earlier stays at its end."""
        return min(self.step if step is None else step, self.variants[number].timeline.length)

    def _blocks(self, number: int) -> list[bytes]:
        return [self._network(number), self._targets(number), self._positions(number)]

    def _network(self, number: int) -> bytes:
        step = self.at(number)
        line = self.variants[number].timeline
        return pack_network(number, step, line.epoch(step).network, len(line.positions(step)))

    def _targets(self, number: int) -> bytes:
        step = self.at(number)
        targets = self.variants[number].timeline.mission.targets_at(step)
        return pack_targets(number, step, targets, self._low)

    def _positions(self, number: int) -> bytes:
        step = self.at(number)
        positions = self.variants[number].timeline.positions(step)
        return pack_positions(number, step, positions, self._low)

    def _figures(self) -> str:
        figures = [each.figures.at(self.at(number)) for number, each in enumerate(self.variants)]
        return said("figures", step=self.step, variants=figures)

    def _frame(self, before: int) -> list[Sent]:
        """What changes with the step that is shown."""
        sent: list[Sent] = []
        for number, variant in enumerate(self.variants):
            line = variant.timeline
            epoch = line.epoch(self.at(number))
            if line.epoch(self.at(number, before)) is not epoch:
                sent.append(self._network(number))
            if line.mission.targets_still_from:
                sent.append(self._targets(number))
            sent.append(self._positions(number))
        return [*sent, self._figures(), self._state()]

    # --- play ---

    def tick(self) -> list[Sent]:
        """One step of play; at the end it pauses."""
        if not self.playing:
            return []
        before = self.step
        self._go(before + 1)
        self.playing = self.step > before
        return self._frame(before)

    def _go(self, step: int) -> None:
        """To a step, or to the last that there is in any variant."""
        self.step = max(variant.timeline.reach(step) for variant in self.variants)

    # --- what pages ask for ---

    def do(self, message: Message) -> Answer:
        """Do what a message asks for; what cannot be is an error, and nothing has changed."""
        return done_by(self, message, "no fleet is watched here: begin one with tricover fleet SCENARIO --studio")

    def _do_play(self, _: Any) -> Answer:
        before = self.step
        lines = [variant.timeline for variant in self.variants]
        if all(line.ended and before >= line.length for line in lines):
            self.step = 0
        self.playing = True
        return Answer(self._frame(before))

    def _do_pause(self, _: Any) -> Answer:
        self.playing = False
        return Answer([self._state()])

    def _do_speed(self, message: Any) -> Answer:
        self.speed = message.value
        return Answer([self._state()])

    def _do_seek(self, message: Any) -> Answer:
        before = self.step
        self.playing = False
        self._go(message.step)
        return Answer(self._frame(before))

    def _do_drag(self, message: Any) -> Answer:
        sent: list[Sent] = []
        for number, variant in enumerate(self.variants):
            step = self.at(number)
            positions = np.array(variant.timeline.positions(step))
            if message.agent >= len(positions):
                raise InputError(f"there is no agent {message.agent}")
            if step == 0:
                reference = variant.timeline.mission.ground.reference
                _, network = editing.network_with(variant.scenario, reference, message.agent, message.place)
                sent.append(pack_network(number, 0, network, len(positions)))
            positions[message.agent] = message.place
            sent.append(pack_positions(number, step, positions, self._low))
        return Answer(sent)

    def _do_drop(self, message: Any) -> Answer:
        agent, place = message.agent, message.place

        def drop(variant: Variant, step: int) -> Variant:
            if step == 0:
                return variant.after(editing.moved(variant.scenario, agent, place), 0)
            network = variant.timeline.epoch(step).network
            if not 0 <= agent < len(network) or network.layer[agent] < 0:
                raise InputError(f"agent {agent} does not take part at step {step}")
            if network.layer[agent] > 0:
                return variant.after(variant.scenario, step, {agent: np.array(place)})
            told = variant.timeline.mission.epochs[0].told
            places = told.places(step)
            return variant.after(editing.sent(variant.scenario, told.network, places, agent, place), step)

        return self._change(drop)

    def _do_place(self, message: Any) -> Answer:
        place = message.place

        def join(variant: Variant, step: int) -> Variant:
            if step == 0:
                return variant.after(editing.placed(variant.scenario, place), 0)
            network = variant.timeline.epoch(step).network
            positions = variant.timeline.positions(step)
            reference = editing.reference_at(network, positions, place)
            return variant.after(editing.joining(variant.scenario, reference, place, step), step)

        return self._change(join)

    def _do_delete(self, message: Any) -> Answer:
        if self.step == 0:
            return self._edit(lambda scenario: editing.removed(scenario, message.agents))
        return self._edit(lambda scenario: editing.leaving(scenario, message.agents, self.step))

    def _do_scatter(self, message: Any) -> Answer:
        return self._edit(lambda scenario: editing.scattered(scenario, message.points, message.weight))

    def _do_erase(self, message: Any) -> Answer:
        return self._edit(lambda scenario: editing.erased(scenario, message.centre, message.radius))

    def _do_fence(self, message: Any) -> Answer:
        return self._edit(lambda scenario: editing.fenced(scenario, message.corners))

    def _do_unfence(self, message: Any) -> Answer:
        return self._edit(lambda scenario: editing.unfenced(scenario, message.number))

    def _do_set(self, message: Any) -> Answer:
        if message.variant >= len(self.variants):
            raise InputError("there is no second variant: compare first")
        changed = list(self.variants)
        one = changed[message.variant]
        scenario = editing.changed(one.scenario, message.key, message.value)
        changed[message.variant] = one.after(scenario, self.at(message.variant))
        return self._become(tuple(changed), self.step)

    def _do_restart(self, _: Any) -> Answer:
        return self._become(tuple(Variant.of(each.scenario) for each in self.variants), 0)

    def _do_compare(self, _: Any) -> Answer:
        first = self.variants[0]
        return self._become((Variant.of(first.scenario), Variant.of(first.scenario)), 0)

    def _do_single(self, _: Any) -> Answer:
        return self._become(self.variants[:1], self.step)

    def _do_undo(self, _: Any) -> Answer:
        return self._back(self._past, self._future)

    def _do_redo(self, _: Any) -> Answer:
        return self._back(self._future, self._past)

    def _do_inside(self, message: Any) -> Answer:
        if message.variant >= len(self.variants):
            raise InputError("there is no second variant: compare first")
        line = self.variants[message.variant].timeline
        inside = look_inside(line, message.agent, self.at(message.variant))
        return Answer(asker=[said("inside", variant=message.variant, **inside)])

    def _do_claims(self, _: Any) -> Answer:
        return Answer(asker=[said("claims", **claims_of(certify(self.run(0))))])

    def _do_files(self, _: Any) -> Answer:
        return Answer(asker=[said("files", files=files.listed(self.folder))])

    def _do_open(self, message: Any) -> Answer:
        found = files.opened(self.folder, message.path, self.variants[0].scenario)
        return self._become((Variant.of(found),), 0)

    def _do_bring(self, message: Any) -> Answer:
        scenario = self.variants[0].scenario
        found = files.brought(self.folder, message.name, message.content, scenario, message.use)
        return self._become((Variant.of(found),), 0)

    def _do_save(self, message: Any) -> Answer:
        path = files.saved(self.folder, message.path, self.variants[0].scenario)
        return Answer(asker=[said("done", text=f"Saved {path}")])

    def _do_link(self, _: Any) -> Answer:
        first = self.variants[0]
        link = links.link_to(first.scenario, self.step, first.timeline.by_hand)
        return Answer(asker=[said("link", link=link)])

    def _do_follow(self, message: Any) -> Answer:
        scenario, step = links.linked(message.link, self.folder)
        variant = Variant.of(scenario)
        return self._become((variant,), variant.timeline.reach(step))

    # --- changes ---

    def run(self, number: int) -> Run:
        """The run of a variant as far as it is known; one that was changed by hand is none that could be repeated."""
        line = self.variants[number].timeline
        if line.by_hand:
            raise InputError("the run was changed by hand on its way: run it again from the start for this")
        return line.run(line.length)

    def _edit(self, change: Callable[[Scenario], Scenario]) -> Answer:
        return self._change(lambda variant, step: variant.after(change(variant.scenario), step))

    def _change(self, change: Callable[[Variant, int], Variant]) -> Answer:
        """Every variant changed at the step at which it is shown."""
        changed = [change(variant, self.at(number)) for number, variant in enumerate(self.variants)]
        return self._become(tuple(changed), self.step)

    def _become(self, variants: tuple[Variant, ...], step: int) -> Answer:
        """Other variants; what was can be undone."""
        self._past = [*self._past, _Moment(self.variants, self.step)][-MOST_UNDONE:]
        self._future = []
        return self._show(variants, step)

    def _back(self, where: list[_Moment], other: list[_Moment]) -> Answer:
        if not where:
            raise InputError("there is nothing to bring back")
        other.append(_Moment(self.variants, self.step))
        return self._show(*where.pop())

    def _show(self, variants: tuple[Variant, ...], step: int) -> Answer:
        self.variants = variants
        self.step = min(step, max(each.timeline.length for each in variants))
        self._measure()
        return Answer(self._scene())

    def _measure(self) -> None:
        """The box that pages show."""
        self._low, self._high = box_of((each.timeline.mission, each.timeline.positions(0)) for each in self.variants)
