"""The server, by real sockets: who is let in, what is served, what all pages see, and what does not bring it down."""

import json
import struct
from contextlib import ExitStack

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.studio.served import hear, lives, say, served
from tests.studio.teams import session
from tricover.studio.guard import POLICY
from tricover.studio.messages import MOST_BYTES


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    with served(session(tmp_path_factory.mktemp("work"))) as found:
        yield found


def test_the_page_comes_with_its_rules(studio):
    status, headers, content = studio.get(f"/{studio.token}/")
    assert status == 200
    assert headers["content-security-policy"] == POLICY
    assert "unsafe" not in POLICY
    assert headers["referrer-policy"] == "no-referrer"
    assert b"<title>" in content
    for name in ("studio.js", "marks.js", "studio.css"):
        assert studio.get(f"/{studio.token}/{name}")[0] == 200


@pytest.mark.parametrize("path", ["/", "/x/", "/0123456789abcdef0123456789abcdeX/", "//", "/%00/", "/take/run.zip"])
def test_without_the_token_there_is_nothing(studio, path):
    status, headers, content = studio.get(path)
    assert (status, headers["content-security-policy"]) == (403, POLICY)
    assert b"address" in content


@pytest.mark.parametrize(
    "name", ["../server.py", "..%2fserver.py", "server.py", "take/x", "%2e%2e/cli/main.py", "page"]
)
def test_only_the_files_of_the_page_are_served(studio, name):
    assert studio.get(f"/{studio.token}/{name}")[0] == 404


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Host": "evil.example"},
        {"Host": "evil.example:8765"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_pages_of_other_origins_are_refused(studio, headers):
    assert studio.get(f"/{studio.token}/", **headers)[0] == 403


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1"])
def test_sockets_of_other_origins_are_refused(studio, origin):
    with pytest.raises(InvalidStatus), studio.page(origin=origin):
        pass


def test_sockets_without_the_token_or_an_origin_are_refused(studio):
    with pytest.raises(InvalidStatus), studio.page(token="f" * 32):
        pass
    from websockets.sync.client import connect

    with pytest.raises(InvalidStatus), connect(f"ws://{studio.host}/{studio.token}/live"):
        pass


def test_ten_pages_see_the_same(tmp_path):
    with served(session(tmp_path)) as studio, ExitStack() as stack:
        pages = [stack.enter_context(studio.page()) for _ in range(10)]
        for page in pages:
            hear(page, "figures")
        say(pages[3], "seek", step=2)
        seen = [received(page) for page in pages]
        assert all(each == seen[0] for each in seen)
        say(pages[7], "drop", agent=5, place=[20, 31])
        assert len({json.dumps(hear(page, "state")["variants"]) for page in pages}) == 1


def received(page):
    """Everything up to the next state."""
    found = []
    while not (found and isinstance(found[-1], str) and json.loads(found[-1])["is"] == "state"):
        found.append(page.recv(timeout=60))
    return found


def test_play_goes_on_by_itself_and_a_page_that_leaves_does_not_matter(tmp_path):
    with served(session(tmp_path)) as studio, studio.page() as page:
        with studio.page() as other:
            say(other, "speed", value=60)
            say(other, "play")
            hear(other, "figures")
        while hear(page, "state")["step"] < 3:
            pass


def test_errors_go_to_the_page_that_made_them_with_the_key_they_belong_to(studio):
    with studio.page() as page, studio.page() as other:
        hear(page, "figures")
        hear(other, "figures")
        say(page, "set", key="control.gamma", value=2)
        said = hear(page, "error")
        assert said["key"] == "control.gamma"
        assert "less than 1" in said["text"]
        say(other, "files")
        assert json.loads(other.recv(timeout=60))["is"] == "files", "the other page heard nothing of it"


def test_malformed_messages_are_answered_and_change_nothing(studio):
    broken = ["", "{", "[]", "null", '{"do": 1}', '{"do": "fly"}', '{"do": "seek"}', '{"do": "seek", "step": -1}']
    broken += ['{"do": "seek", "step": 1e400}', '{"do": "place", "place": [NaN, 1]}', '{"do": "play", "x": 1}']
    broken += ['{"do": "seek", "step": "1"}', "[" * 100_000, '{"do": "scatter", "points": [[1]]}']
    with studio.page() as page:
        before = hear(page, "state")
        for text in broken:
            page.send(text)
            assert "message" in hear(page, "error")["text"]
    with studio.page() as page:
        assert hear(page, "state") == before


def listen_on(page, message):
    """Say something, and hear whatever comes until the connection ends."""
    page.send(message)
    while True:
        page.recv(timeout=60)


def test_huge_messages_end_the_page_that_sends_them_and_nothing_else(studio):
    with studio.page() as page:
        hear(page, "figures")
        with pytest.raises(ConnectionClosed):
            listen_on(page, "x" * (MOST_BYTES + 1))
    assert lives(studio)


def test_binary_messages_end_the_page_that_sends_them(studio):
    with studio.page() as page, pytest.raises(ConnectionClosed):
        listen_on(page, struct.pack("<4I", 1, 2, 3, 4))
    assert lives(studio)
