"""Exported logs, read by the mcap library and decoded by the schemas that are in the file."""

import sys
import tomllib
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from mcap.reader import make_reader
from mcap_protobuf.decoder import DecoderFactory

import tricover as tc
from tests.export.runs import ORIGIN, assert_on_earth, eventful, interrupted, scenario
from tricover.errors import MissingExtraError
from tricover.export import export_run


class Log:
    def __init__(self, path):
        with path.open("rb") as file:
            reader = make_reader(file, validate_crcs=True, decoder_factories=[DecoderFactory()])
            self.summary = reader.get_summary()
            self.messages = {}
            for schema, channel, message, decoded in reader.iter_decoded_messages():
                self.messages.setdefault(channel.topic, []).append((message.log_time, schema.name, decoded))
            self.metadata = {record.name: record.metadata for record in reader.iter_metadata()}
            self.attachments = {record.name: record for record in reader.iter_attachments()}

    def schema(self, topic):
        [name] = {schema for _, schema, _ in self.messages[topic]}
        return name

    def times(self, topic):
        return [time for time, _, _ in self.messages[topic]]

    def decoded(self, topic):
        return [message for _, _, message in self.messages[topic]]


@pytest.fixture(scope="module", params=["plain", "eventful", "interrupted"])
def exported(request, tmp_path_factory):
    made = {
        "plain": lambda: tc.simulate(scenario()),
        "eventful": lambda: tc.simulate(eventful()),
        "interrupted": lambda: interrupted(eventful(), 6),
    }[request.param]()
    path = tmp_path_factory.mktemp("mcap") / "run.mcap"
    export_run(made, path, origin=ORIGIN)
    return made, Log(path)


def xy(point):
    assert point.z == 0
    return point.x, point.y


def rgba(shown):
    return shown.color.r, shown.color.g, shown.color.b, shown.color.a


def test_channels_schemas_and_times(exported):
    run, log = exported
    times = [round(step * 0.25e9) for step in range(run.steps + 1)]
    assert {topic: log.schema(topic) for topic in log.messages} == {
        "/team": "foxglove.SceneUpdate",
        "/tf": "foxglove.FrameTransforms",
        "/fixes": "foxglove.LocationFixes",
        "/desired": "foxglove.SceneUpdate",
        "/targets": "foxglove.PointCloud",
    }
    assert {channel.message_encoding for channel in log.summary.channels.values()} == {"protobuf"}
    for topic in ("/team", "/tf", "/fixes"):
        assert log.times(topic) == times
    assert log.times("/desired") == [0]
    assert (log.summary.statistics.message_start_time, log.summary.statistics.message_end_time) == (0, times[-1])


def test_frames_are_at_the_positions_bit_for_bit(exported):
    run, log = exported
    for step, message in enumerate(log.decoded("/tf")):
        there = np.flatnonzero(run.present[step])
        assert [frame.child_frame_id for frame in message.transforms] == [f"agent_{agent}" for agent in there]
        assert {frame.parent_frame_id for frame in message.transforms} == {"map"}
        assert {frame.rotation.w for frame in message.transforms} == {1}
        found = np.array([xy(frame.translation) for frame in message.transforms])
        np.testing.assert_array_equal(found, run.positions[step, there])
        stamps = {frame.timestamp.ToNanoseconds() for frame in message.transforms}
        assert stamps == {log.times("/tf")[step]}


def test_the_scene_shows_agents_and_links(exported):
    run, log = exported
    before = set()
    for step, message in enumerate(log.decoded("/team")):
        network, places = run.network_at(step), run.positions[step]
        entities = {entity.id: entity for entity in message.entities}
        links = entities.pop("links").lines[0]
        there = np.flatnonzero(run.present[step]).tolist()
        assert list(entities) == [f"agent {agent}" for agent in there]
        assert {deletion.id for deletion in message.deletions} == before - set(entities)
        before = set(entities)
        for agent in there:
            entity = entities[f"agent {agent}"]
            [body] = entity.cubes if network.layer[agent] == 0 else entity.spheres
            assert xy(body.pose.position) == tuple(places[agent])
            assert body.size.x > 0
            assert body.color.a == 1
            facts = {fact.key: fact.value for fact in entity.metadata}
            assert facts["layer"] == str(network.layer[agent])
            if network.layer[agent] > 0:
                assert facts["listens to"] == ", ".join(map(str, network.in_neighbors[agent]))
            if network.layer[agent] > 0 and step < run.steps:
                assert facts["cell"] == str(run.states[step, agent])
        heads = np.repeat(network.followers, 3)
        tails = network.in_neighbors[network.followers].ravel()
        expected = places[np.stack([tails, heads], axis=-1)].reshape(-1, 2)
        np.testing.assert_array_equal([xy(point) for point in links.points], expected)
        assert links.type == 2  # a list of lines
        assert len(links.colors) == len(links.points)


def test_layers_differ_in_colour(exported):
    run, log = exported
    shades = {}
    for entity in log.decoded("/team")[-1].entities:
        for body in [*entity.cubes, *entity.spheres]:
            layer = next(fact.value for fact in entity.metadata if fact.key == "layer")
            shades.setdefault(layer, set()).add((body.color.r, body.color.g, body.color.b))
    assert len(shades) == run.network.depth + 1
    assert {len(found) for found in shades.values()} == {1}
    assert len(set.union(*shades.values())) == len(shades)


def test_targets_when_they_change(exported):
    run, log = exported
    steps = [round(time / 0.25e9) for time in log.times("/targets")]
    points = [run.mission.targets_at(step).points for step in range(run.steps + 1)]
    moved = [not np.array_equal(before, after) for before, after in pairwise(points)]
    assert steps == [0, *(np.flatnonzero(moved) + 1)]
    for step, cloud in zip(steps, log.decoded("/targets"), strict=True):
        assert [field.name for field in cloud.fields] == ["x", "y", "z", "weight"]
        assert [(field.offset, field.type) for field in cloud.fields] == [(8 * k, 8) for k in range(4)]  # doubles
        assert cloud.point_stride == 32
        rows = np.frombuffer(cloud.data, "<f8").reshape(-1, 4)
        targets = run.mission.targets_at(step)
        np.testing.assert_array_equal(rows[:, :2], targets.points)
        np.testing.assert_array_equal(rows[:, 3], 1 if targets.weights is None else targets.weights)


def test_desired_positions(exported):
    run, log = exported
    [entity] = log.decoded("/desired")[0].entities
    found = [xy(sphere.pose.position) for sphere in entity.spheres]
    np.testing.assert_array_equal(found, run.desired[: len(run.network)][run.network.layer >= 0])


def test_fixes_agree_with_proj(exported):
    run, log = exported
    for step, message in enumerate(log.decoded("/fixes")):
        there = np.flatnonzero(run.present[step])
        assert [fix.frame_id for fix in message.fixes] == [f"agent_{agent}" for agent in there]
        assert_on_earth([(fix.longitude, fix.latitude) for fix in message.fixes], run.positions[step, there])
        bodies = [[*entity.cubes, *entity.spheres] for entity in log.decoded("/team")[step].entities[:-1]]
        assert [rgba(fix) for fix in message.fixes] == [rgba(body) for [body] in bodies]


def test_metadata_and_the_scenario_come_along(exported):
    run, log = exported
    facts = log.metadata["tricover"]
    assert facts["name"] == "team"
    assert facts["steps"] == str(run.steps)
    assert facts["interrupted"] == str(run.interrupted)
    again = tc.Scenario(**tomllib.loads(log.attachments["scenario.toml"].data.decode()))
    np.testing.assert_array_equal(tc.simulate(again).positions[: run.steps + 1], run.positions)


def test_without_an_origin_there_are_no_fixes_and_a_rule_of_ones_own_cannot_be_written_down(tmp_path):
    def middle(network):
        return lambda agents, triangles, targets: triangles.mean(axis=1)

    for goal, attached in (("centroid", {"scenario.toml"}), (middle, set())):
        export_run(tc.simulate(scenario(control={"goal": goal})), tmp_path / "run.mcap")
        log = Log(tmp_path / "run.mcap")
        assert "/fixes" not in log.messages
        assert set(log.attachments) == attached


def test_without_the_sdk_the_extra_is_named(tmp_path, monkeypatch):
    run = tc.simulate(scenario(steps=2))
    monkeypatch.setitem(sys.modules, "foxglove", None)
    with pytest.raises(MissingExtraError, match=r"foxglove-sdk: pip install 'tricover\[mcap\]'"):
        export_run(run, tmp_path / "run.mcap")
    assert not list(tmp_path.iterdir())


def test_the_same_run_gives_the_same_bytes(tmp_path):
    run = tc.simulate(scenario())
    for name in ("one", "other"):
        export_run(run, tmp_path / f"{name}.mcap")
    assert (tmp_path / "one.mcap").read_bytes() == (tmp_path / "other.mcap").read_bytes()


def test_on_the_way_from_the_pads_there_are_no_links(tmp_path):
    run = tc.simulate(tc.Scenario.load(Path(__file__).parents[2] / "examples" / "from-pads.toml"))
    export_run(run, tmp_path / "run.mcap")
    teams = Log(tmp_path / "run.mcap").decoded("/team")
    lines = [len(next(entity for entity in team.entities if entity.id == "links").lines) for team in teams]
    assert lines == [0] * run.mission.launch + [1] * (run.steps + 1 - run.mission.launch)
