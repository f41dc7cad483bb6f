"""Redraws the pictures of the documentation: run `python docs/images/draw.py`."""

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from draw_guides import draw_choosing, draw_method, draw_start, draw_teaching
from PIL import Image

import tricover as tc
from tricover.certificates import log_of_run, transition_matrices
from tricover.coverage import compare_methods, coverage_over_time
from tricover.export import Flight, flights_of
from tricover.formats import read_points
from tricover.geometry import as_zones
from tricover.paper import study_of
from tricover.paper.figures import FIGURES
from tricover.plot import (
    PAGE,
    animate,
    figure_style,
    plot_ages,
    plot_approaches,
    plot_cells,
    plot_comparison,
    plot_contraction,
    plot_coordinates,
    plot_coverage,
    plot_desired,
    plot_effects,
    plot_evidence,
    plot_heights,
    plot_layers,
    plot_learned,
    plot_messages,
    plot_network,
    plot_paths,
    plot_policies,
    plot_portrait,
    plot_separation,
    plot_settling,
    plot_sight,
    plot_story,
    plot_sweep,
    plot_transition,
    plot_tube,
    plot_voronoi,
    save_figure,
)
from tricover.simulation import Mission
from tricover.statistics import main_effects
from tricover.studies import Study

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples"


def save(drawing, name):
    """Small enough for a repository: screen resolution, 128 colours."""
    path = HERE / name
    save_figure(drawing, path, dpi=160)
    Image.open(path).quantize(128).save(path, optimize=True)


def draw_rules():
    """Both mentee rules on the same thousand agents."""
    places = np.random.default_rng(1).uniform(0, 100, (1000, 2))
    with figure_style():
        _, axes = plt.subplots(1, 2, figsize=(PAGE, 4.3))
        for ax, rule in zip(axes, ("fermat", "balanced"), strict=True):
            network = tc.build_network(places, mentee=rule)
            plot_network(network, ax).set_title(f"{rule}: {network.depth} layers", pad=16)
    save(list(axes), "rules-1000.png")


def draw_comparison(places):
    """All methods on the targets of docs/coverage.md."""
    targets = tc.Targets(np.random.default_rng(0).uniform(0, 100, (2000, 2)))
    save(plot_comparison(compare_methods(places, targets)), "compare-57.png")


def draw_heights():
    """Twenty-five vehicles from pads 4 m apart to a formation for few targets: nearly everybody crosses somebody."""
    pads = 4.0 * np.indices((5, 5)).reshape(2, -1).T
    team = np.random.default_rng(4).uniform(-20, 40, (25, 2))
    scenario = tc.Scenario(
        formation={"positions": team, "start": pads},
        targets=[[0, 0], [12, 3], [5, 20]],
        control={"motion": "walk", "resolution": 10},
        steps=60,
    )
    save(plot_heights(flights_of(tc.simulate(scenario), Flight(clearance=3.0, delay=1.0))), "heights-25.png")


def draw_zones():
    """Thirty agents that walk around two zones, and keep 1 m apart."""
    rng = np.random.default_rng(3)
    zones = [[[14, 8], [24, 6], [26, 16], [18, 18]], [[38, 22], [50, 20], [44, 33]]]
    inside = rng.uniform([2, 2], [58, 38], (60, 2))
    free = inside[as_zones(zones).holding(inside) < 0]
    scenario = tc.Scenario(
        reference=np.vstack([[[0, 0], [60, 0], [60, 40], [0, 40]], free[:26]]),
        targets=rng.uniform([0, 0], [60, 40], (400, 2)),
        network={"mentee": "balanced"},
        control={"motion": "walk", "resolution": 20, "goal": "predictive"},
        safety={"separation": 1.0, "zones": zones},
        steps=300,
    )
    save(plot_paths(tc.simulate(scenario)), "zones-30.png")


def draw_learning():
    """A drone that has learned the wind."""
    run = tc.simulate(tc.Scenario.load(EXAMPLES / "learn-the-wind.toml"))
    for plot, name in ((plot_learned, "learned"), (plot_policies, "policies"), (plot_evidence, "evidence")):
        save(plot(run, 5), f"{name}-wind.png")


def draw_certificate():
    """The four figures of a certificate: the paper's 57 agents, landing anywhere in their reach sets."""
    data = tc.Scenario.load(EXAMPLES / "paper-57.toml").to_dict()
    data["control"] |= {"motion": "walk", "resolution": 8}
    landing = {
        kind: tc.simulate(tc.Scenario(**{**data, "vehicle": kind, "steps": 150})) for kind in ("exact", "anywhere")
    }
    exact, run = landing["exact"], landing["anywhere"]
    log, certificate = log_of_run(run), tc.certify(run)
    with figure_style():
        figure = plt.figure(figsize=(PAGE, 0.8 * PAGE))
        axes = figure.subplots(2, 2)
    plot_contraction(certificate, axes[0, 0])
    plot_settling(tc.certify(exact), axes[0, 1])
    plot_transition(next(transition_matrices(log)), run.network, axes[1, 0])
    plot_tube(certificate, log, int(run.network.layers[1][0]), axes[1, 1])
    save(figure, "certificate-57.png")


def draw_runs():
    """The figures of docs/figures.md: the paper's 57 agents, with both motions. Agents 28 and 42 are its 29 and 43."""
    data = tc.Scenario.load(EXAMPLES / "paper-57.toml").to_dict()
    reach = tc.simulate(tc.Scenario(**data))
    walk = tc.simulate(tc.Scenario(**{**data, "control": {**data["control"], "motion": "walk"}}))
    save(plot_desired(walk), "desired-57.png")
    for run, agent in ((reach, 28), (walk, 42)):
        motion = run.scenario.control.motion
        save(plot_paths(run), f"paths-{motion}-57.png")
        save(plot_coordinates(run, agent), f"coordinates-{motion}-57.png")
    save(plot_portrait(walk), "portrait-57.png")
    save(plot_coverage(coverage_over_time(walk)), "coverage-57.png")
    save(plot_voronoi(walk), "voronoi-57.png")
    save(plot_story(walk, 7), "story-57.png")
    with figure_style():
        axes = plt.figure(figsize=(PAGE, 0.55 * PAGE)).subplots(1, 2)
    plot_separation(walk, axes[0])
    plot_approaches(walk, axes[1])
    save(list(axes), "separation-57.png")
    draw_messages(tc.Scenario(**data))


def draw_messages(paper):
    """Messages that are late, lost and passed on, of docs/world.md."""
    late = paper.replace(control={"motion": "walk"}, world={"delay": [0, 2], "loss": 0.3, "radio": 45.0})
    run = tc.simulate(Mission.of(late))
    with figure_style():
        axes = plt.figure(figsize=(PAGE, 0.55 * PAGE)).subplots(1, 2)
    plot_ages(run, axes[0])
    plot_messages(run, 3, axes[1])
    save(list(axes), "messages-57.png")


def draw_sight():
    """What one of 57 agents knows, that see 12 m far on a field of 100 by 100 m."""
    rng = np.random.default_rng([3, 57])
    scenario = tc.Scenario(
        reference=rng.uniform(0, 100, (57, 2)),
        targets=rng.uniform(0, 100, (800, 2)),
        network={"mentee": "balanced"},
        control={"goal": "predictive"},
        world={"sight": 12.0, "summary": 16},
    )
    save(plot_sight(tc.simulate(scenario), 1), "sight-57.png")


def draw_study():
    """What the mentee rule costs a team as it grows: docs/studies.md, twenty teams of each size."""
    study = Study.load(EXAMPLES / "paper-question.toml")
    table, figure = tc.sweep(study), study.figure
    save(plot_sweep(table, figure.over, figure.measures, figure.by), "study-depth.png")
    effects = main_effects(table, study.design.keys, study.measures)
    save(plot_effects(effects), "study-effects.png")


def draw_paper():
    """Some figures of the reproduction, as docs/reproduce.md shows them."""
    study = study_of(lambda name, scenario: tc.simulate(scenario))
    for figure in FIGURES:
        if figure.name in {"desired", "paths-walk", "agent-29", "agent-43"}:
            save(figure.draw(study), f"paper-{figure.name}.png")


def film_paper():
    """The paper's 57 agents walking to their places."""
    data = tc.Scenario.load(EXAMPLES / "paper-57.toml").to_dict()
    data["control"]["motion"] = "walk"
    data["name"] = "57 agents cover a triangle"
    animate(tc.simulate(tc.Scenario(**data)), HERE / "paper-57.gif", size=600, fps=12.5, seconds=5.8, hold=2)


def film_jump():
    """57 agents whose targets jump: they plan, polish, follow and plan anew."""
    rng = np.random.default_rng(5)
    team, points = rng.uniform(0, 100, (57, 2)), rng.uniform(0, 100, (800, 2))
    track = np.repeat(points[None], 36, axis=0)
    track[35, points[:, 0] < 50, 0] += 100
    scenario = tc.Scenario(
        name="Half of the targets jump at step 35",
        reference=team,
        targets=tc.Targets(track),
        network={"mentee": "balanced"},
        control={"goal": "cellplan"},
        steps=90,
    )
    animate(tc.simulate(scenario), HERE / "jump-57.gif", size=600, fps=10, seconds=7, hold=2)


if __name__ == "__main__":
    mpl.use("Agg")
    small, team = (tc.build_network(read_points(EXAMPLES / f"team-{count}.csv").positions) for count in (13, 57))
    save(plot_cells(small), "cells-13.png")
    save(plot_layers(small), "layers-13.png")
    save(plot_network(team), "formation-57.png")
    save(plot_layers(team), "layers-57.png")
    draw_rules()
    draw_comparison(team.reference)
    draw_runs()
    draw_zones()
    draw_heights()
    draw_learning()
    draw_certificate()
    draw_sight()
    draw_study()
    draw_paper()
    for draw in (draw_start, draw_method, draw_choosing, draw_teaching):
        draw(save)
    film_paper()
    film_jump()
