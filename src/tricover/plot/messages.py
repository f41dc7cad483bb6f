"""Messages of a run: how old they were over time, and which links were late where."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tricover.control.hearing import NOTHING
from tricover.errors import InputError
from tricover.plot.agents import (
    draw_agents,
    draw_lines,
    draw_targets,
    first_agents,
    marker_area,
    present_targets,
    tell_sample,
)
from tricover.plot.paths import chosen_step
from tricover.plot.style import (
    ACTUAL,
    COLUMN,
    FAINT,
    INK,
    WANTED,
    figure_style,
    new_axes,
    new_map,
    time_line,
    whole_numbers,
)
from tricover.simulation import Run
from tricover.simulation.hearing import senders_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_ages", "plot_messages"]

Ints = NDArray[np.int64]


def plot_ages(run: Run, ax: "Axes | None" = None) -> "Axes":
    """How old the positions were on which followers acted, step by step: the mean and the oldest."""
    _check(run)
    steps, believed = np.arange(run.steps), run.read("believed")
    ages = [_links(run, step, believed[step])[2] for step in steps.tolist()]
    heard = [some[some != NOTHING] for some in ages]
    mean, oldest = (np.array([pick(some) if some.size else np.nan for some in heard]) for pick in (np.mean, np.max))
    waiting = np.array([(some == NOTHING).any() for some in ages])
    with figure_style():
        ax = ax or new_axes(COLUMN, 0.7 * COLUMN)
        ax.fill_between(steps, mean, oldest, step="post", color=ACTUAL, alpha=0.15, linewidth=0)
        ax.plot(steps, oldest, color=ACTUAL, label="oldest", **time_line(run.steps))
        ax.plot(steps, mean, color=INK, label="mean", **time_line(run.steps))
        if waiting.any():
            ax.plot(steps[waiting], np.zeros(waiting.sum()), "|", color=WANTED, clip_on=False, label="somebody waits")
        if run.settled_at is not None:
            ax.axvline(run.settled_at, color=INK, linewidth=0.6, linestyle=":", label=f"settled at {run.settled_at}")
        ax.set(xlabel="step", ylabel="age of what was heard, steps", xlim=(0, None), ylim=(0, None))
        whole_numbers(ax.xaxis, ax.yaxis)
        ax.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=2, borderaxespad=0.2)
    return ax


def plot_messages(run: Run, step: int = -1, ax: "Axes | None" = None) -> "Axes":
    """Every link at a step: heard in it, heard late, or not heard yet."""
    from matplotlib.lines import Line2D

    _check(run)
    time = min(chosen_step(run, step), run.steps - 1)
    network, positions = run.network_at(time), run.read("positions", time, time + 1)[0]
    shown = first_agents(network)
    receivers, senders, ages = _links(run, time, run.read("believed", time, time + 1)[0])
    drawn = np.isin(receivers, shown)
    receivers, senders, ages = receivers[drawn], senders[drawn], ages[drawn]
    kinds = {"at once": ages == 0, "late": ages > 0, "not heard yet": ages == NOTHING}
    looks: dict[str, Any] = {
        "at once": (FAINT, 0.4, "-"),
        "late": (ACTUAL, 0.9, "-"),
        "not heard yet": (WANTED, 0.9, "--"),
    }
    with figure_style():
        ground, masses = present_targets(run.mission.targets_at(time))
        ax = ax or new_map(ground, positions[shown], strip=True)
        draw_targets(ax, ground, masses, alpha=0.4)
        handles = []
        for name, links in kinds.items():
            colour, width, style = looks[name]
            segments = np.stack([positions[receivers[links]], positions[senders[links]]], axis=1)
            draw_lines(ax, segments, colour, width, linestyles=style)
            label = f"{name}: {int(links.sum())}"
            handles.append(Line2D([], [], color=colour, linewidth=max(width, 0.8), linestyle=style, label=label))
        draw_agents(ax, network, positions, marker_area(len(shown), False), shown)
        tell_sample(ax, len(shown), len(network), "agents")
        title = f"messages at step {time}, at most {int(ages.max(initial=0))} steps old"
        ax.legend(handles=handles, loc="lower left", bbox_to_anchor=(0, 1.0), ncols=3, title=title, alignment="left")
        ax.set_aspect("equal")
        ax.set(xlabel="x, m", ylabel="y, m")
    return ax


def _links(run: Run, step: int, believed: NDArray[np.integer]) -> tuple[Ints, Ints, Ints]:
    """Receivers, senders and ages (L,) of all links at a step, by the epochs (N,) that agents believed in."""
    senders = senders_of(run.mission, step, believed)
    rows, slots = np.nonzero((senders >= 0) & run.present[step][:, None])
    return rows, senders[rows, slots], run.ages[step, rows, slots]


def _check(run: Run) -> None:
    if run.mission.world.channel.perfect:
        raise InputError("every message of this run arrives at once: give it a world with delay, loss or radio")
    if not run.steps:
        raise InputError("this run has no steps: there is no message to draw")
