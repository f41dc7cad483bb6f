"""Ten thousand messages that are nearly those of a page: the studio answers or does them, and lives."""

import json
import random

from tests.fleet.test_tower import AGENTS, Flight
from tests.studio.served import hear, lives, say, served
from tests.studio.teams import session, team
from tricover.fleet.controls import Controls
from tricover.studio.messages import Every
from tricover.studio.watching import Watching

NAMES = sorted({name for model in Every.__args__[0].__args__ for name in model.model_fields["do"].annotation.__args__})
KEYS = ("step", "agent", "place", "agents", "points", "weight", "centre", "radius", "corners", "number", "key", "value")
KEYS += ("loss", "apart", "word")
QUIET = [name for name in NAMES if name not in ("claims", "restart", "compare")]  # quick ones: there are many


def noise(draw, depth=0):
    """Any JSON value, with a liking for those that nearly fit."""
    kinds = [None, True, -1, 0, 3, 12.5, 1e300, 2**70, "", "control.goal", "../../x", "a\0", "é" * 50]
    if depth < 3 and draw.random() < 0.4:
        return [noise(draw, depth + 1) for _ in range(draw.randrange(4))]
    if depth < 3 and draw.random() < 0.1:
        return {draw.choice(KEYS): noise(draw, depth + 1)}
    return draw.choice(kinds) if draw.random() < 0.7 else round(draw.uniform(-50, 50), 2)


def fuzzed(draw):
    words = {draw.choice(KEYS): noise(draw) for _ in range(draw.randrange(4))}
    if draw.random() < 0.5:
        words |= {"place": [draw.uniform(1, 39), draw.uniform(1, 39)], "agent": draw.randrange(12)}
    text = json.dumps({"do": draw.choice(QUIET), **words})
    if draw.random() < 0.2:
        cut = draw.randrange(len(text))
        text = text[:cut] + draw.choice(["", "\0", "]", '"', "é"]) + text[cut + 1 :]
    return text


def test_ten_thousand_fuzzed_messages_are_answered_or_done_and_the_studio_lives(tmp_path):
    draw = random.Random(20)
    (tmp_path / "work").mkdir()
    with served(session(tmp_path / "work", team())) as studio:
        with studio.page() as page:
            hear(page, "figures")
            for _ in range(100):
                for _ in range(100):
                    page.send(fuzzed(draw))
                say(page, "files")
                hear(page, "files")
        assert lives(studio)
    assert [entry.name for entry in tmp_path.iterdir()] == ["work"]


def fuzzed_for_a_fleet(draw):
    """What a page may ask of a fleet, or nearly."""
    agent, word = draw.choice([0, 3, AGENTS, -1, "1", None]), draw.choice(["pause", "end", "targets", "faults", 1])
    loss, apart = draw.choice([0, 0.3, 1.0, -1, "0.1"]), draw.choice(["", "0-2", "9-1", "0,,1", "x" * 20_000, [1], "²"])
    kinds = {"kill": {"agent": agent}, "freeze": {"agent": agent}, "join": {"agent": agent}, "order": {"word": word}}
    kinds |= {"disturb": {"loss": loss, "apart": apart}, "flown": {}}
    what = draw.choice(sorted(kinds))
    return json.dumps({"do": what, **kinds[what], **({draw.choice(KEYS): noise(draw)} if draw.random() < 0.2 else {})})


def test_fuzzed_messages_do_nothing_to_a_fleet_that_is_watched_but_what_a_page_may_ask_for(tmp_path):
    flight, draw, agents = Flight(), random.Random(21), range(AGENTS)
    flight.all_say(3)
    controls = Controls(True, True, frozenset(agents))
    watching = Watching(flight.mission, controls, tmp_path)
    watching.see(flight.tower.report(), flight.tower)
    with served(watching) as studio:
        with studio.page() as page:
            before = hear(page, "fleet")
            for _ in range(20):
                for _ in range(100):
                    page.send(draw.choice([fuzzed, fuzzed_for_a_fleet])(draw))
                say(page, "inside", agent=1)
                hear(page, "member")
            assert studio.get(f"/{studio.token}/take/run.zip")[0] == 409
        with studio.page() as page:
            assert hear(page, "fleet") == before
    assert list(tmp_path.iterdir()) == []
    asked = controls.taken()
    assert {wish.what for wish in asked} == {"kill", "freeze", "faults", "order"}, "nobody joins who is there"
    assert all(wish.values.get("agent", 0) in agents for wish in asked)
    assert {wish.values["word"] for wish in asked if wish.what == "order"} == {"pause", "end"}
    assert {tuple(wish.values["apart"]) for wish in asked if wish.what == "faults"} == {(), (0, 1, 2)}
