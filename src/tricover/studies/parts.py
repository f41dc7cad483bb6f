"""``simulate_parts``: one huge team in parts, on this machine or on a Dask cluster, with the same bits as ``simulate``.

1. Everybody is sorted into the first cells of the network; each of them is built on its own and cut into a top and
   parts. (Networks after events are those of the whole team, cut.)
2. The top moves first, through a stage of steps; then each part on its own, with the ways of its corners.
3. When nothing changes any more, or the team has been at its goals for long enough, the run is over. Whether it is,
   follows from what the parts say of each step.
4. Each part works out its desired configuration, from that of the top.

Each piece of work is written whole or not at all, in a folder of its own. So whatever is lost, workers, the scheduler
or everything, the same call goes on where it was. All processes have to see the folder by the same path.

Where agents of different parts would have to hear of each other, there is nothing to cut: such a team is run in one
piece, by this process, and the run is stored as ``simulate`` stores it. It takes as much memory as there.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from tricover.errors import InputError
from tricover.goals._subtrees import MORE
from tricover.goals.rules import RULES
from tricover.own import label_of
from tricover.simulation import Progress, Run, Scenario, simulate
from tricover.simulation.telling import has_phases
from tricover.studies.ground import open_sources
from tricover.studies.layout import Sizes
from tricover.studies.part_document import Document, all_there, opened
from tricover.studies.part_work import PartsProgress, Report, Work

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["PartsProgress", "simulate_parts"]

AGENTS_PER_PART = 100_000


def simulate_parts(
    scenario: Scenario,
    store: str | os.PathLike[str],
    client: "Client | None" = None,
    *,
    agents_per_part: int = AGENTS_PER_PART,
    progress: Report | None = None,
) -> Run:
    """Run a scenario in parts; the run has the same bits as that of ``simulate``.

    Args:
        scenario: what to run, with a formation and targets that may be larger than memory where they are plain NPY
            files or Zarr arrays of pairs of coordinates. With the goals "centroid", "predictive", "rollout" and
            "reference" it is cut; see docs/cluster.md for what is run in one piece.
        store: a folder for the run. What is there of the same run, finished or not, is kept and gone on with.
        client: of a Dask cluster whose workers see the folder by the same path; None: here, part by part.
        agents_per_part: how large parts are, about.
        progress: called after each piece of work.

    The arrays of the run are read when they are asked for. What of it was worked out part by part, such as
    ``settled_at``, ``converged`` and ``largest_error``, costs nothing to ask for.

    >>> import numpy as np
    >>> from tempfile import TemporaryDirectory
    >>> team = np.random.default_rng(1).random((500, 2))
    >>> scenario = Scenario(reference=team, targets=team[::2], network={"mentee": "balanced"})
    >>> with TemporaryDirectory() as folder:
    ...     simulate_parts(scenario, folder + "/run", agents_per_part=100)
    <Run of 500 agents: 7 steps, settled at step 6>
    """
    if not isinstance(scenario, Scenario):
        raise InputError(f"simulate_parts takes a Scenario, not {type(scenario).__name__}: Scenario.load reads a file")
    if type(agents_per_part) is not int or agents_per_part < 1:
        raise InputError(f"agents_per_part must be a whole number from 1 on, not {agents_per_part!r}")
    report = progress or (lambda _: None)
    if (reason := _not_to_be_cut(scenario)) is not None:
        return _in_one_piece(scenario, store, reason, report)
    whole = MORE if scenario.control.goal == "rollout" else 0
    sizes = Sizes(max(agents_per_part, whole), whole)
    path = Path(store).absolute()
    sources = open_sources(scenario)
    with opened(path, Document.of(scenario, sources, sizes.most)) as document:
        if not (document["finished"] and all_there(path, document)):
            Work(scenario, sources, path, document, client, sizes, report).do()
    return Run.open(path)


def _not_to_be_cut(scenario: Scenario) -> str | None:
    """By which key of a scenario agents of different parts would have to hear of each other; None: there is none."""
    control, world = scenario.control, scenario.world
    perfect = world.channel(0).perfect and world.sight is None
    together = {
        f"control.motion = {control.motion!r}": control.motion == "morph",
        f"control.goal = {label_of(control.goal)!r}": control.goal not in RULES,
        "control.polish": has_phases(scenario),
        "control.policy": control.policy is not None,
        "world": not perfect,
        "safety.separation": scenario.safety.separation is not None,
        "formation.assign": scenario.formation.assign,
        "steps = 0": not scenario.steps,
    }
    return next((key for key, there in together.items() if there), None)


def _in_one_piece(scenario: Scenario, store: str | os.PathLike[str], reason: str, report: Report) -> Run:
    """Run a team that cannot be cut; what is there of the same run is gone on with."""

    def tell(now: Progress) -> None:
        report(PartsProgress(f"in one piece, for {reason}", now.step, now.steps, now.step))

    report(PartsProgress(f"in one piece, for {reason}", 0, scenario.steps, 0))
    run = simulate(scenario, store, resume=Path(store).exists(), progress=tell)
    if run.interrupted:
        raise KeyboardInterrupt  # as from a run in parts
    return run
