"""Section V: the theorems and their conditions, from where the agents really were.

Γ[t] comes from positions alone, step by step (``certify.transition``). Anchors go to their places in the first step, so
claims about Γ begin at t = 1.
"""

import numpy as np
from numpy.typing import NDArray

from tricover.paper.claims.claim import Claim, at_most, judged
from tricover.paper.measure import triangles_of, weights_in
from tricover.paper.study import Study
from tricover.simulation import Run
from tricover.units import length

__all__ = [
    "anchors",
    "condition_1",
    "condition_2",
    "containment",
    "contraction",
    "convergence",
    "landing_anywhere",
    "proposition",
    "stochastic",
    "triangular",
    "two_definitions",
]

Floats = NDArray[np.float64]
_ARRIVED = 1  # the anchors are at their places from this step on
_POINT = 1e-9  # metres


def stochastic(study: Study) -> Claim:
    """Theorem 1."""
    least, off, wrong, count = np.inf, 0.0, 0.0, 0
    for name, run in study.runs.items():
        matrices, places = study.matrices[name][_ARRIVED:], run.positions[_ARRIVED:]
        least, count = min(least, float(matrices[matrices != 0].min())), count + len(matrices)
        off = max(off, float(np.abs(matrices.sum(axis=2) - 1).max()))
        wrong = max(wrong, float(np.abs(matrices @ places[:-1] - places[1:]).max()))
    return Claim(
        "theorem-1",
        "V, Theorem 1, eq. (23)",
        "y[t+1] = Γ[t] y[t] with row-stochastic Γ[t].",
        f"{count} matrices: weights ≥ {least:.4f}, sums 1 to {at_most(off, 1e-12)}, positions to {at_most(wrong)} m",
        judged(least >= 0 and off <= 1e-12 and wrong <= _POINT),
        "Three runs, from the step at which the anchors stand.",
    )


def triangular(study: Study) -> Claim:
    """The blocks of Γ."""
    network = study.network
    earlier = network.layer[None, :] < network.layer[:, None]
    allowed = earlier | np.diag(network.layer == 0)
    stray = sum(int((matrices[_ARRIVED:] != 0)[:, ~allowed].sum()) for matrices in study.matrices.values())
    anchors = network.anchors
    identity = all((matrices[_ARRIVED:][:, anchors][:, :, anchors] == np.eye(len(anchors))).all()
                   for matrices in study.matrices.values())  # fmt: skip
    return Claim(
        "blocks",
        "V, eqs. (24), (38)",
        "Γ is strictly block lower triangular with Γ_00 = I and a zero last block column.",
        f"{stray} entries outside these blocks; Γ_00 {'=' if identity else '≠'} I",
        judged(stray == 0 and identity),
    )


def _kept(run: Run) -> tuple[float, float]:
    """Least margin of landing points in their cells, and in the triangle for agents that were outside."""
    network, size = run.network, run.scenario.control.resolution
    cell, triangle = np.inf, np.inf
    for step in range(run.steps):
        weights = weights_in(run.positions[step + 1][network.followers], triangles_of(network, run.positions[step]))
        outside = run.states[step, network.followers] == -1
        scaled = weights[~outside] * size
        parts = scaled - np.floor(scaled)
        down = np.floor(scaled).sum(axis=1) == size - 2
        margins = np.where(down[:, None], 1 - parts, parts)
        cell, triangle = (
            min(cell, float(margins.min(initial=np.inf))),
            min(triangle, weights[outside].min(initial=np.inf)),
        )
    return cell, float(triangle)


def condition_1(study: Study) -> Claim:
    """C1 with η = 0.05."""
    (cell, triangle), eta = np.minimum(_kept(study.walk), _kept(study.anywhere)), 0.05
    told = {run.scenario.control.margin for run in (study.walk, study.anywhere)}
    missed = study.walk.missed + study.anywhere.missed
    return Claim(
        "C1",
        "V, C1; VI-B",
        "Agents land in triangles within the next cell (Assumption 3) or T_i[t] (Assumption 2), with η = 0.05.",
        f"least margin {cell:.3f} in cells, {triangle:.3f} in T_i[t]; {missed} landings outside reach sets",
        judged(min(cell, triangle) >= eta - 1e-9 and told == {eta} and missed == 0),
        "The paper does not say where η is measured: here in the triangle that the assumption names.",
    )


def _norms(matrices: Floats, followers: NDArray[np.int64], depth: int) -> list[float]:
    """The largest ‖Φ(s+k, s)‖∞ over all s, for k = 0 … depth."""
    blocks = matrices[_ARRIVED:][:, followers][:, :, followers]
    products, found = np.broadcast_to(np.eye(len(followers)), blocks.shape), [1.0]
    for lag in range(1, depth + 1):
        products = blocks[lag - 1 :] @ products[: len(blocks) - lag + 1]
        found.append(float(np.abs(products).sum(axis=2).max()))
    return found


def _constants(norms: list[float]) -> tuple[int, float]:
    """The smallest T after which anchors have a share of at least 0.05 everywhere, and that share."""
    window = next((lag for lag, norm in enumerate(norms) if norm <= 0.95), len(norms) - 1)
    return window, 1 - norms[window]


def condition_2(study: Study) -> Claim:
    """C2: T and η exist."""
    network = study.network
    found = {name: _constants(_norms(matrices, network.followers, network.depth))
             for name, matrices in study.matrices.items()}  # fmt: skip
    told = "; ".join(f"{name}: T = {window}, η = {eta:.2f}" for name, (window, eta) in found.items())
    return Claim(
        "C2",
        "V, C2, eq. (25)",
        "There are T and η such that after any T steps the anchors' share in every row is at least η.",
        told,
        judged(all(eta > 0 for _, eta in found.values())),
    )


def contraction(study: Study) -> Claim:
    """The bound of Theorem 2, and what the paper misses."""
    network, above, last = study.network, 0, 0.0
    for matrices in study.matrices.values():
        norms = _norms(matrices, network.followers, network.depth)
        window, eta = _constants(norms)
        above += sum(norm > (1 - eta) ** (lag // window) + 1e-12 for lag, norm in enumerate(norms))
        last = max(last, norms[-1])
    return Claim(
        "theorem-2",
        "V, Theorem 2, eq. (27)",
        "The followers are exponentially stable: ‖Φ(t, s)‖ ≤ (1 - η)^⌊(t-s)/T⌋.",
        f"above the bound at {above} lags in three runs; after {network.depth} steps ‖Φ‖ = {last:g}",
        judged(above == 0),
        "The paper misses that any product of depth matrices A[t] is exactly zero: its spectral radius is 0.",
    )


def containment(study: Study) -> Claim:
    """Limits are convex combinations of the anchors."""
    from scipy.spatial import ConvexHull

    network, since = study.network, _ARRIVED + study.network.depth
    sides = ConvexHull(study.walk.desired[network.anchors]).equations
    beyond = max(
        float((run.positions[since:, network.followers] @ sides[:, :2].T + sides[:, 2]).max())
        for run in study.runs.values()
    )
    return Claim(
        "containment",
        "V, Theorem 2; VI-B",
        "Followers stay in the convex hull of the anchors, and so do their limits.",
        f"from step {since} on nobody is outside, in all three runs"
        if beyond <= _POINT
        else f"{length(beyond)} outside",
        judged(beyond <= _POINT),
        "Before that, agents still come from the square formation.",
    )


def proposition(study: Study) -> Claim:
    """z = Γ~ z with weights in W_i."""
    run, network, unit = study.walk, study.network, 3 * study.grid.resolution
    weights = weights_in(run.desired[network.followers], triangles_of(network, run.desired))
    thirds = np.rint(weights * unit)
    off = float(np.abs(weights - thirds / unit).max())
    members = bool(np.isin(thirds, np.unique(study.grid.thirds)).all())
    return Claim(
        "proposition-1",
        "V, Proposition 1, eq. (34)",
        "The desired configuration satisfies z_l = Σ Γ~_l,h z_h, with weights in W_i.",
        f"{len(weights)} followers, weights in W_i to {at_most(off)}",
        judged(members and off <= _POINT),
    )


def convergence(study: Study) -> Claim:
    """Theorem 3."""
    run, network = study.walk, study.network
    error = float(np.linalg.norm(run.positions[-1] - run.desired, axis=1).max())
    bound = _ARRIVED + network.depth * (2 * study.grid.resolution - 1)
    settled = run.settled_at
    return Claim(
        "theorem-3",
        "V, Theorem 3",
        "Agents that reach the centre of the next cell converge asymptotically to p_i.",
        f"{length(error)} from p_i, from step {settled} on",
        judged(error <= _POINT and settled is not None and settled <= bound),
        f"In finite time: a layer needs at most 2M - 1 steps after the one before, so all are there by step {bound}.",
    )


def two_definitions(study: Study) -> Claim:
    """p_i as the raw centroid, and as the centre of the goal cell."""
    apart = np.linalg.norm(study.reach.desired - study.walk.desired, axis=1)
    errors = [float(np.abs(run.positions[-1] - run.desired).max()) for run in (study.reach, study.walk)]
    return Claim(
        "two-p",
        "V, Algorithm 2 against eq. (34)",
        "p_i is the centroid h~_i (Algorithm 2), and the centre of the goal cell around it (eq. 34).",
        f"the two are up to {apart.max():.2f} m apart; each run ends {length(max(errors))} from its own",
        judged(printed=float(apart.max()) <= _POINT, ours=max(errors) <= _POINT),
        "Two modes: VI-A is compared with the first, VI-B with the second. Cell errors add up down the layers.",
    )


def anchors(study: Study) -> Claim:
    """p = a for anchors?"""
    run, places = study.walk, study.network.anchors
    moved = float(np.linalg.norm(run.desired[places] - study.network.reference[places], axis=1).max())
    still = float(np.abs(run.positions[_ARRIVED:, places] - run.desired[places]).max())
    return Claim(
        "anchors-move",
        "V, Algorithm 2 against VI",
        "Anchors stand at p_i = a_i throughout (V), yet the square team is to cover a triangle (VI, Fig. 6).",
        f"anchors go up to {moved:.0f} m in the first step and then stand, {length(still)} from p_i",
        judged(printed=moved == 0, ours=still <= _POINT),
        "Anchors have desired positions of their own, by default their reference positions, and go there first.",
    )


def landing_anywhere(study: Study) -> Claim:
    """Assumption 3 alone does not give convergence to points."""
    run, certificate = study.anywhere, study.certificates["anywhere"]
    half = run.steps // 2
    away = np.linalg.norm(run.positions[half:] - run.desired, axis=2).max()
    moving = (run.positions[-1] != run.positions[-2]).any(axis=1).sum()
    return Claim(
        "landing-anywhere",
        "VI-B; Fig. 9",
        "Under Assumption 3 (land anywhere in a triangle) all agents converge to p_i.",
        f"from step {half} on within {away:.1f} m of p_i; {moving} agents still move in the last step, {run.steps}",
        judged(printed=run.converged, ours=certificate.holds and certificate["neighbourhood"].verdict == "holds"),
        "Convergence to a point needs Theorem 3's premise, landing on centres: so VI-B is run with that.",
    )
