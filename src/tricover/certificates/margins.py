"""Condition C1: agents land in their reach sets, which keep the margin η from edges (paper, Assumptions 2 and 3).

A follower inside its triangle T_i[t] is sent into the next cell of its policy. This is the cell in which it stands, or
one that shares an edge with it. Its reach set has the points of that cell whose barycentric coordinates in the cell are
all at least η. A follower outside is sent into T_i[t], with the same margin in T_i[t]. So the weights α of Γ[t] are at
least η/M, or η for an agent that was outside.

Positions alone are enough to check this: which of the at most four cells was meant is seen from where the agent landed.

Among zones, a follower that is not in a free cell of its triangle is sent into a free one, with the margin in that
cell, or holds: then it stays where it is.

The motions ``reach`` and ``morph`` ask for a single point, which is no triangle strictly inside another. C1 does not
apply to them.
"""

import numpy as np
from numpy.typing import NDArray

from tricover.certificates.certificate import FAILS, HOLDS, NOT_APPLICABLE, Claim, counted
from tricover.certificates.check import Step
from tricover.certificates.faults import Faults
from tricover.certificates.log import ROUNDING, Log
from tricover.certificates.transition import Rows, rows_of
from tricover.certificates.waiting import excused_claim
from tricover.geometry import CellGrid, as_zones, volumes

__all__ = ["Margins"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


# Six directions along the edges of a triangle, in barycentric coordinates, and no motion at all.
_DIRECTIONS = np.array([[0, 1, -1], [0, -1, 1], [1, 0, -1], [-1, 0, 1], [1, -1, 0], [-1, 1, 0], [0, 0, 0]])


class Margins:
    """Landing points keep their distance from the edges of the cell that was meant."""

    def __init__(self, log: Log) -> None:
        self.log, self.ideal = log, log.ideal
        self.faults = Faults(unit="of a cell")
        self.grid = CellGrid(log.settings.resolution)
        self.smallest = np.inf

    def see(self, step: Step) -> None:
        """Look at where followers stood at t and landed at t+1."""
        settings = self.log.settings
        if settings.motion != "walk" or (step.same and not self.faults.count):
            return
        heard = None if step.heard is None else step.heard.triangles
        standing = rows_of(step.frame, step.before, step.before, heard)
        proper = np.flatnonzero(~step.rows.flat)
        found = self._kept(standing, step.rows, proper)
        short = np.flatnonzero(found < settings.margin)
        slack = self._slack(step, proper[short])
        # An agent within rounding of an edge may have been in the cell on its other side: try those cells too.
        found[short] = self._kept_nearby(standing, step.rows, proper[short], slack)
        if settings.around is not None:
            found[short] = np.maximum(found[short], self._kept_among_zones(step, standing, proper[short]))
        self.smallest = min(self.smallest, float(found.min(initial=np.inf)))
        bad = short[found[short] < settings.margin - slack * settings.resolution]
        agents = step.frame.followers[proper[bad]]
        self.faults.add(agents, step.index, settings.margin - found[bad], self._reasons(agents), step.gave_way)

    def _kept(self, standing: Rows, landing: Rows, places: Ints) -> Floats:
        """Margins (K,) that landing points kept: in the best cell that could be meant, or in the triangle."""
        margins = landing.weights[places].min(axis=1, initial=1.0)
        inside = np.flatnonzero(standing.outside[places] == 0)
        if inside.size:
            cells = self.grid.locate(standing.weights[places[inside]])
            margins[inside] = _best_margin(self.grid, cells, landing.weights[places[inside]])
        return np.asarray(margins)

    def _kept_nearby(self, standing: Rows, landing: Rows, places: Ints, slack: Floats) -> Floats:
        """The same, with the agent's own position anywhere within rounding of where it is."""
        best = landing.weights[places].min(axis=1, initial=1.0)
        on_edge = np.abs(standing.weights[places].min(axis=1, initial=1.0)) <= slack
        # Surely inside: not the triangle but a cell was meant.
        best[~on_edge & (standing.outside[places] == 0)] = -np.inf
        inside = on_edge | (standing.outside[places] == 0)
        for direction in _DIRECTIONS:
            weights = np.maximum(standing.weights[places] + direction * slack[:, None], 0.0)
            cells = self.grid.locate(weights / weights.sum(axis=1, keepdims=True))
            margins = _best_margin(self.grid, np.maximum(cells, 0), landing.weights[places])
            best = np.where(inside & (cells >= 0), np.maximum(best, margins), best)
        return np.asarray(best)

    def _kept_among_zones(self, step: Step, standing: Rows, places: Ints) -> Floats:
        """Margins (K,) of followers that were not in a free cell, in the cells where they landed; 1/3 for who held."""
        assert self.log.settings.around is not None
        zones, best = as_zones(self.log.settings.around), np.full(len(places), -np.inf)
        for row, place in enumerate(places.tolist()):
            agent, triangle = step.frame.followers[place], step.triangles[place]
            if standing.outside[place] == 0:
                cell = self.grid.locate(standing.weights[place])
                if not zones.cells(triangle[None], self.grid)[0, cell]:
                    continue
            moved = np.abs(step.after[agent] - step.before[agent]).max()
            if moved <= ROUNDING * np.abs(step.after[agent]).max():
                best[row] = 1 / 3
            elif step.rows.outside[place] == 0:
                cell = self.grid.locate(step.rows.weights[place])
                best[row] = _margin(self.grid, np.atleast_1d(cell), step.rows.weights[place : place + 1])[0]
        return best

    def _slack(self, step: Step, places: Ints) -> Floats:
        """What rounding of positions can do to barycentric coordinates: its size over the smallest height."""
        triangles = step.triangles[places]
        sides = np.linalg.norm(triangles - np.roll(triangles, 1, axis=1), axis=2).max(axis=1, initial=0.0)
        largest = np.maximum(
            np.abs(triangles).max(axis=(1, 2), initial=0.0),
            np.abs(step.after[step.frame.followers[places]]).max(axis=1, initial=0.0),
        )
        return np.asarray(2 * ROUNDING * largest * sides / np.abs(volumes(triangles)))

    def _reasons(self, agents: Ints) -> list[str]:
        wrong, missed = "landed outside every reach set it can have had", "its vehicle missed its reach set"
        return [wrong if ideal else missed for ideal in self.ideal[agents]]

    def claims(self) -> list[Claim]:
        """The one verdict."""
        settings = self.log.settings
        head = ("C1", "Condition C1", "r_i[t+1] ∈ P_i, edge-aligned with margin η (Assumptions 2 and 3)")
        if settings.motion != "walk":
            asks = f"{settings.motion} asks for a point, not for a triangle"
            why = "the motion is not known" if settings.motion is None else asks
            return [Claim(*head, NOT_APPLICABLE, f"No reach sets with area: {why}.")]
        if self.smallest == np.inf:
            return [Claim(*head, NOT_APPLICABLE, "No reach sets with area: no triangle had any.")]
        figures = {"margin": settings.margin, "smallest_margin": self.smallest, **self.faults.figures}
        if self.faults.excused and not self.faults.count:
            return [excused_claim(head, self.faults, "landings are outside reach sets")]
        if self.faults.count:
            landings = counted(self.faults.count, "landing")
            text = f"{landings} outside reach sets, the worst by {self.faults.worst:.3g} of a cell."
            return [Claim(*head, FAILS, text, figures, tuple(self.faults.first))]
        return [Claim(*head, HOLDS, f"All landed in reach sets with margin η = {settings.margin:g}.", figures)]


def _best_margin(grid: CellGrid, cells: Ints, weights: Floats) -> Floats:
    """Largest margin (K,) of points with barycentric coordinates (K, 3) in cells (K,) or their neighbours.

    With t = M·weights, a point has the coordinates t - (i, j, k) in an up cell, and (i, j, k) + 1 - t in a down cell.
    """
    candidates = np.column_stack([cells, grid.neighbors[cells]])
    best = np.full(len(cells), -np.inf)
    for cell in candidates.T:
        best = np.where(cell >= 0, np.maximum(best, _margin(grid, cell, weights)), best)
    return best


def _margin(grid: CellGrid, cells: Ints, weights: Floats) -> Floats:
    """Margin (K,) of points with barycentric coordinates (K, 3) in cells (K,)."""
    offsets = grid.resolution * weights - grid.coordinates[cells]
    return np.asarray(np.where(grid.up[cells][:, None], offsets, 1 - offsets).min(axis=1, initial=1.0))
