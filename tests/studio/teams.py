"""Small teams for the studio, and what one does with a session in a test."""

import json
import struct

import numpy as np

import tricover as tc
from tricover.studio import Session
from tricover.studio.messages import read_message

CORNERS = [[0, 0], [40, 0], [40, 40], [0, 40]]
INSIDE = [[20, 20], [10, 15], [30, 12], [12, 30], [28, 28], [20, 8]]


def team(**settings):
    """Ten agents in a square over sixty targets."""
    targets = np.random.default_rng(5).uniform(4, 36, (60, 2))
    return tc.Scenario(reference=CORNERS + INSIDE, targets=targets, steps=60, **settings)


def session(folder, subject=None):
    return Session(team() if subject is None else subject, folder)


def do(session, what, /, **words):
    """Say something, as a page does, and hear what comes back."""
    return session.do(read_message(json.dumps({"do": what, **words})))


def texts(messages, kind):
    """JSON messages of a kind."""
    plain = [json.loads(message) for message in messages if isinstance(message, str)]
    return [message for message in plain if message["is"] == kind]


def blocks(messages, kind):
    """Blocks of numbers of a kind: variant, step and numbers."""
    found = []
    for message in messages:
        if isinstance(message, bytes) and struct.unpack("<4I", message[:16])[0] == kind:
            _, variant, step, count = struct.unpack("<4I", message[:16])
            numbers = np.frombuffer(message[16:], "<i4" if kind == 2 else "<f4").reshape(-1)
            found.append((variant, step, count, numbers))
    return found


def shown_positions(messages, corner=(0, 0)):
    """Where agents are, in metres, by the last block of positions."""
    _, _, count, numbers = blocks(messages, 1)[-1]
    return numbers.reshape(count, 2) + np.array(corner)


def shown_network(messages):
    """In-neighbours and layers of the last network."""
    _, _, count, numbers = blocks(messages, 2)[-1]
    return numbers[: 3 * count].reshape(count, 3), numbers[3 * count :]
