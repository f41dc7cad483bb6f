"""Runs to report on, and what is in a page, read by nothing but the standard library and NumPy."""

import base64
import json
import re
from html.parser import HTMLParser

import numpy as np

import tricover as tc


def scenario(**settings):
    """A team of 14 that walks over 40 targets."""
    rng = np.random.default_rng(3)
    control = {"motion": "walk", "resolution": 6, **settings.pop("control", {})}
    given = {"name": "team", "reference": rng.uniform(0, 50, (14, 2)), "targets": rng.uniform(5, 45, (40, 2))}
    return tc.Scenario(**{**given, "control": control, **settings})


def with_events():
    """Agents leave and join."""
    events = {
        "leave": [{"step": 3, "agents": [7]}],
        "join": [{"step": 6, "reference": [[20.0, 21.0], [30.0, 12.0]]}],
    }
    return scenario(events=events, steps=30)


class Page(HTMLParser):
    """All tags with their attributes, and the text inside each kind of tag."""

    def __init__(self, path):
        super().__init__()
        self.source = path.read_text(encoding="utf-8")
        self.tags, self.inside, self.words = [], [], []
        self.feed(self.source)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in ("meta", "link", "input", "br", "path", "use"):
            self.inside.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        while self.inside and self.inside.pop() != tag:
            pass

    def handle_data(self, data):
        self.words.append((self.inside[-1] if self.inside else "", data))

    @property
    def text(self):
        """What a reader sees, spaces made one."""
        seen = " ".join(data for tag, data in self.words if tag not in ("script", "style"))
        return re.sub(r"\s+", " ", seen)

    def attributes(self, name):
        return [given[name] for _, given in self.tags if name in given]

    @property
    def runs(self):
        """The data of each playback, its arrays decoded."""
        texts = [data for tag, data in self.words if tag == "script" and data.startswith("{")]
        return [decoded(json.loads(text)) for text in texts]

    def scenario(self, folder):
        """The scenario in the download link, loaded."""
        [link] = [link for link in self.attributes("href") if link.startswith("data:application/toml")]
        path = folder / "again.toml"
        path.write_bytes(base64.b64decode(link.partition("base64,")[2]))
        return tc.Scenario.load(path)


def decoded(data):
    agents, frames = data["agents"], len(data["steps"])

    def array(text, kind, *shape):
        return np.frombuffer(base64.b64decode(text), kind).reshape(shape).astype(float)

    def metres(text, *shape):
        numbers = array(text, "<u2", *shape, 2)
        return np.where(numbers == 65535, np.nan, data["corner"] + data["unit"] * numbers)

    cells = f"<u{data['cellBytes']}"
    return {
        **data,
        "positions": metres(data["positions"], frames, agents),
        "desired": metres(data["desired"], agents),
        "targets": metres(data["targets"], data["targetFrames"], -1),
        "cells": array(data["cells"], cells, frames, agents) - 3,
        "goals": array(data["goals"], cells, frames, agents) - 3,
        "epochs": [
            {
                **epoch,
                "layer": array(epoch["layer"], "<i2", agents),
                "heard": array(epoch["heard"], "<i4", agents, 3),
            }
            for epoch in data["epochs"]
        ],
    }
