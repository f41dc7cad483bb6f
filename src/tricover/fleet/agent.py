"""One agent of a fleet: the loop that hears, decides, drives and speaks; see ``fly``.

    say where it is ▶ wait for those to whom it listens ▶ decide ▶ drive ▶ say where it is ▶ …

Around it: who is alive (``membership``), what the operator wants, and what to do when nobody is heard.

    pause            it waits where it is, and time stands still, until "go"
    hold             it stays where it is, and time goes on, until "go"
    targets          new targets instead of the old ones, from a step on
    home             it goes to where it started, and lands
    land, end        it lands

*Silence.* Who hears and sees nobody for ``silence`` seconds holds; after ``homing`` seconds more it goes home. If
others are heard again before, it goes on.
"""

import asyncio
import time
from collections.abc import Callable

from tricover.fleet.conversation import Conversation, Manners
from tricover.fleet.member import Member
from tricover.fleet.radio import Radio
from tricover.vehicles import come_down, take_off

__all__ = ["Manners", "fly"]


async def fly(member: Member, radio: Radio, manners: Manners, now: Callable[[], float] = time.monotonic) -> Member:
    """Fly an agent until its mission is over, or the operator says so."""
    talk, pilot = Conversation(member, radio, manners, now), member.pilot
    if pilot is not None:
        member.vehicle = await asyncio.to_thread(take_off, member.mission.vehicle, member.vehicle, member.row)
    withdraw = radio.show_token()
    radio.watch_tokens(talk.token)
    try:
        while member.step < member.end and not talk.over:
            began = now()
            talk.refresh()
            talk.note_place()
            await talk.wait()
            if talk.catch_up():
                continue
            talk.mind_silence()
            if talk.done:
                break
            plan = member.plan()
            intent = member.intent(plan)
            if intent is not None:
                radio.say(member.step, intent)
            moved = member.drive(plan) if pilot is None else await asyncio.to_thread(member.drive, plan)
            member.land(plan, *moved)
            await asyncio.sleep(max(began + manners.clock.period - now(), 0.0))
        if member.step == member.mission.scenario.steps:  # else it leaves as planned
            await talk.linger()
    finally:
        try:
            if pilot is not None:
                await asyncio.to_thread(come_down, pilot, member.agent)
        finally:  # whoever flies it now, the others hear that this agent does not any more
            await _farewell(talk)
            withdraw()
    return member


async def _farewell(talk: Conversation) -> None:
    """Say for the last time where it is, and what it remembers."""
    manners = talk.manners
    talk.note_place()
    for said in range(manners.farewells):
        await asyncio.sleep(manners.repeat / manners.farewells if said else 0)
        talk.say_again()
    talk.radio.say(talk.member.step, talk.member.memories())
