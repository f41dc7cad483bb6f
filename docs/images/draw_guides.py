"""The pictures that explain: method, choice of rules, class hour. Drawn by `python docs/images/draw.py`."""

import re
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import PolyCollection

import tricover as tc
from tricover.cli.init import init
from tricover.control import inset
from tricover.formats import read_points
from tricover.geometry import barycentric
from tricover.plot import COLUMN, PAGE, figure_style, plot_paths, plot_story
from tricover.plot.style import FAINT, INK, layer_colours, plain_axes

HERE = Path(__file__).parent
DOCS, EXAMPLES = HERE.parent, HERE.parents[1] / "examples"
GOAL, NEXT, SEEN = "#d55e00", "#f0e442", "#0072b2"  # Okabe and Ito's colours
TRIANGLE = np.array([[0.0, 0.0], [10.0, 1.0], [4.0, 8.0]])


def draw_start(save):
    """The first figure of docs/start.md, of the scenario that `tricover init` writes."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "mine.toml"
        init(file, quiet=True)
        save(plot_paths(tc.simulate(tc.Scenario.load(file))), "start-paths.png")


def draw_method(save):
    """All pictures of docs/method.md that are not drawn elsewhere."""
    save(one_decision(), "method-decision.png")
    save(four_moments(), "method-steps.png")
    save(settling(), "method-settling.png")


def draw_choosing(save):
    """The pictures of docs/choosing.md, from the tables of other pages."""
    save(growing_depth(), "choosing-depth.png")
    save(coverage_of_rules(), "choosing-coverage.png")


def draw_teaching(save):
    """The pictures of docs/tutorials/teacher.md."""
    save(worksheet(), "worksheet-13.png")
    save(resolutions(), "resolutions.png")
    save(plot_story(class_run(), 6), "story-13.png")


def class_run():
    """The run of the class hour."""
    rng = np.random.default_rng(13)
    spots = [rng.normal(centre, 1.0, (100, 2)) for centre in ([3.0, 3.5], [6.5, 7.0])]
    team = read_points(EXAMPLES / "team-13.csv").positions
    control = {"motion": "walk", "resolution": 8}
    return tc.simulate(tc.Scenario(reference=team, targets=np.concatenate(spots), control=control))


def one_decision():
    """What a follower sees, how it decides, where it is asked to land."""
    rng = np.random.default_rng(4)
    targets = tc.Targets(
        np.concatenate([rng.normal([6.3, 2.8], 1.1, (70, 2)), rng.uniform([-1, -1], [11, 9], (60, 2))])
    )
    grid = tc.CellGrid(8)
    counts, sums = targets.in_triangles(TRIANGLE)
    goal_point = sums / counts
    goal, here = (int(grid.locate(barycentric(place, TRIANGLE))) for place in (goal_point, [3.9, 6.4]))
    solution = tc.LocalMDP(grid, TRIANGLE, goal).solve()
    with figure_style():
        figure, axes = plt.subplots(1, 3, figsize=(PAGE, 2.9), layout="compressed")
        _draw_sight(axes[0], targets, goal_point)
        _draw_walk(axes[1], grid, solution, here)
        _draw_landing(axes[2], grid, int(solution.policy[here]), here, rng)
    return figure


def _draw_sight(ax, targets, goal_point):
    inside = np.array([targets.members(TRIANGLE[None])[1]]).ravel()
    x, y = targets.points.T
    ax.scatter(x, y, s=3, c=FAINT, linewidths=0)
    ax.scatter(x[inside], y[inside], s=4, c=SEEN, linewidths=0, label="targets in sight")
    _outline(ax)
    ax.plot(*goal_point, "*", color=GOAL, markersize=9, markeredgecolor="white", label="goal point")
    ax.plot(3.9, 6.4, "o", color=INK, markersize=5, label="the agent")
    _finish(ax, "sense: the centroid of the targets\nin my triangle is my goal point")
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, 0.0), borderaxespad=0, labelspacing=0.2)


def _draw_walk(ax, grid, solution, here):
    cells = PolyCollection(
        list(grid.corners(np.arange(len(grid))) @ TRIANGLE),
        array=solution.value,
        cmap="viridis_r",
        edgecolors="white",
        linewidths=0.4,
    )
    ax.add_collection(cells)
    path = grid.weights[solution.path(here)] @ TRIANGLE
    ax.plot(*path.T, color=GOAL, linewidth=1.4)
    ax.plot(*path[-1], "*", color=GOAL, markersize=9, markeredgecolor="white")
    ax.plot(*path[0], "o", color=INK, markersize=5, markeredgecolor="white", markeredgewidth=0.5)
    _outline(ax)
    _finish(ax, "decide: cost to go of the 64 cells;\nthe policy leads to the goal cell")


def _draw_landing(ax, grid, cell, here, rng):
    around = [neighbour for neighbour in grid.neighbors[[cell, here]].ravel() if neighbour >= 0]
    outlines = grid.corners(np.array([cell, here, *around])) @ TRIANGLE
    ax.add_collection(PolyCollection(list(outlines), facecolors="none", edgecolors=FAINT, linewidths=0.6))
    reach = inset(outlines[:1], 0.05)[0]
    ax.fill(*outlines[0].T, facecolor="none", edgecolor=INK, linewidth=1)
    ax.fill(*reach.T, facecolor=NEXT, edgecolor=GOAL, linewidth=0.8, label="reach set, margin η = 0.05")
    weights = rng.dirichlet([1, 1, 1], 25)
    ax.scatter(*(weights @ reach).T, s=3, c=INK, linewidths=0, label="anywhere in it is fine")
    ax.plot(*outlines[1].mean(axis=0), "o", color=INK, markersize=5)
    _finish(ax, "move: land within the next cell,\nwith a margin from its edges")
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, 0.0), borderaxespad=0, labelspacing=0.2)


def _outline(ax):
    ax.fill(*TRIANGLE.T, facecolor="none", edgecolor=INK, linewidth=1)
    ax.plot(*TRIANGLE.T, "s", color="#440154", markersize=4)


def _finish(ax, title):
    ax.set_title(title)
    ax.autoscale_view()
    plain_axes(ax)


def four_moments():
    """The paper's 57 agents settle layer by layer: those at their place are full, the others hollow."""
    run = tc.simulate(tc.Scenario.load(EXAMPLES / "paper-57.toml"))
    network = run.network
    colours = layer_colours(network.depth)
    with figure_style():
        figure, axes = plt.subplots(1, 4, figsize=(PAGE, 1.95), sharex=True, sharey=True, layout="compressed")
        for ax, step in zip(axes, (0, 1, 3, run.settled_at), strict=True):
            places = run.positions[step]
            there = np.abs(places - run.desired).max(axis=1) < 1e-9
            shades = colours[network.layer]
            ax.scatter(*run.targets.points.T, s=0.6, c="#7fbf7b", linewidths=0)
            for settled, face in ((False, "white"), (True, None)):
                some = there == settled
                ax.scatter(
                    *places[some].T, s=14, c=face or shades[some], edgecolors=shades[some], linewidths=0.9, zorder=3
                )
            ax.set_title(f"step {step}: {there.sum()} at their place")
            plain_axes(ax)
    return figure


def settling():
    """The largest distance to the desired positions in each layer over time: exactly zero from step l + 1 on."""
    data = tc.Scenario.load(EXAMPLES / "paper-57.toml").to_dict()
    titles = {"reach": "reach: one layer per step", "walk": "walk: cell by cell"}
    walk = tc.Scenario(**{**data, "control": {**data["control"], "motion": "walk"}})
    with figure_style():
        figure, axes = plt.subplots(1, 2, figsize=(PAGE, 2.4), sharey=True)
        for ax, scenario in zip(axes, (tc.Scenario(**data), walk), strict=True):
            run = tc.simulate(scenario)
            errors = np.linalg.norm(run.positions - run.desired, axis=2)
            for layer, agents in enumerate(run.network.layers):
                largest = errors[:, agents].max(axis=1)
                colour = layer_colours(run.network.depth)[layer]
                ax.plot(largest, color=colour, linewidth=1.4, marker="." if len(largest) < 20 else None, label=layer)
            ax.set_xlabel("step")
            ax.set_title(titles[scenario.control.motion])
        axes[0].set_ylabel("largest distance to go, m")
        axes[1].legend(title="layer", ncols=2)
    return figure


def growing_depth():
    """Depth of both mentee rules: the table of docs/network.md."""
    rows = _rows(DOCS / "network.md", r"[\d,]+")
    agents, fermat, balanced = (np.array([float(row[k].replace(",", "")) for row in rows]) for k in range(3))
    with figure_style():
        figure, ax = plt.subplots(figsize=(1.25 * COLUMN, 0.8 * COLUMN))
        ax.loglog(agents, fermat, "o-", color=GOAL, label="fermat (the paper's)")
        ax.loglog(agents, balanced, "s-", color=SEEN, label="balanced")
        ax.loglog(agents, np.log(agents) / np.log(3), ":", color=INK, label="log₃N")
        ax.set(xlabel="agents", ylabel="layers")
        ax.set_xticks(agents, [f"{count:,.0f}" for count in agents])
        ax.set_yticks([5, 10, 20, 50, 100, 200], ["5", "10", "20", "50", "100", "200"])
        ax.minorticks_off()
        ax.legend()
    return figure


def coverage_of_rules():
    """Coverage over Lloyd's for cornered teams: the first table of docs/goals.md."""
    rows = [row for row in _rows(DOCS / "goals.md", r"57|200|1000") if row[0] != "agents"]
    rows = rows[: len(rows) // 2]
    methods = ("paper", "centroid", "predictive", "rollout", "cellplan", "planned")
    colours = (GOAL, "#e69f00", SEEN, "#009e73", "#cc79a7", INK)
    looks = dict(zip(methods, zip("osDvP^", colours, strict=True), strict=True))
    with figure_style():
        figure, axes = plt.subplots(1, 3, figsize=(PAGE, 2.4), sharey=True)
        for column, (ax, field) in enumerate(zip(axes, ("uniform", "clusters", "airports"), strict=True), start=2):
            for method, (marker, colour) in looks.items():
                points = [(int(row[0]), float(row[column].split()[0])) for row in rows if row[1] == method]
                ax.loglog(*zip(*points, strict=True), marker + "-", color=colour, markersize=4, label=method)
            ax.axhline(1, color=FAINT, zorder=0)
            ax.set(title=field, xlabel="agents")
            ax.set_xticks([57, 200, 1000], ["57", "200", "1000"])
            ax.set_yticks([0.25, 0.5, 1, 2, 4, 8], ["0.25", "0.5", "1", "2", "4", "8"])
            ax.minorticks_off()
        axes[0].set_ylabel("mean squared distance,\nover Lloyd's from the same start")
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=6)
    return figure


def _rows(page, first):
    """Rows of the tables of a page whose first cell matches, as lists of texts."""
    lines = page.read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return [row for row in rows if re.fullmatch(first, row[0])]


def worksheet():
    """The 13 agents on squared paper, without lines: to be drawn by hand."""
    places = read_points(EXAMPLES / "team-13.csv").positions
    with figure_style():
        figure, ax = plt.subplots(figsize=(1.2 * COLUMN, 1.2 * COLUMN))
        ax.set_xticks(range(11))
        ax.set_yticks(range(11))
        ax.grid(visible=True)
        ax.scatter(*places.T, s=95, c="white", edgecolors=INK, linewidths=0.8, zorder=3)
        for agent, (x, y) in enumerate(places):
            ax.text(x, y, agent, ha="center", va="center_baseline", fontsize=7, zorder=4)
        ax.set(xlim=(-0.6, 10.6), ylim=(-0.6, 10.6), aspect="equal")
    return figure


def resolutions():
    """One goal point at four resolutions: the cell that holds it and its centre."""
    goal = np.array([5.9, 1.9])
    with figure_style():
        figure, axes = plt.subplots(1, 4, figsize=(PAGE, 2.0), layout="compressed")
        for ax, resolution in zip(axes, (1, 3, 8, 20), strict=True):
            grid = tc.CellGrid(resolution)
            outlines = grid.corners(np.arange(len(grid))) @ TRIANGLE
            cell = int(grid.locate(barycentric(goal, TRIANGLE)))
            faces = [NEXT if k == cell else "none" for k in range(len(grid))]
            ax.add_collection(PolyCollection(list(outlines), facecolors=faces, edgecolors=INK, linewidths=0.3))
            ax.plot(*goal, "*", color=GOAL, markersize=7)
            ax.plot(*outlines[cell].mean(axis=0), ".", color=INK, markersize=4)
            off = np.linalg.norm(outlines[cell].mean(axis=0) - goal)
            _finish(
                ax, f"M = {resolution}: {len(grid)} {'cell' if len(grid) == 1 else 'cells'}\ncentre {off:.2f} m off"
            )
    return figure
