"""The certificate of a run in parts: each part is certified on its own, and what follows of the whole team is said.

A part is a team of its own, whose anchors are the corners of its cells (``part_log``). So ``certify`` looks at it as at
any other log, and never holds more than the part. The top is certified first. Every follower is in exactly one part or
in the top, which is checked by counting, and this is why the union says something of the whole team:

*What composes.*

- Structure, rows of Γ (Theorem 1), reach sets (C1) and zones are claims about each follower and its in-neighbours, one
  by one. The whole team's claim is the conjunction. Corners must be agents of the top, of earlier layers than those who
  listen to them.
- C2, where all rows are stochastic. Let the corners of the parts have the anchors' share η after T steps, and the
  agents of a part the corners' share η' after T' steps. Then the anchors' share in the part is at least η·η' after
  T + T' steps: a row of the product over T' steps puts η' on places of corners within these steps, and each of these
  has the share η of places of anchors T steps before. The figures are these bounds, and may be worse than those of the
  whole network. What is forgotten is forgotten after as many steps as the whole network has layers, as each part's own
  product is zero after its own.
- Containment, where corners stand still: a part is in the hull of its corners, and these are in that of the anchors.
- Theorem 3 for agents that land on points. A part settles so many steps after its corners as it has layers, and the
  corners do so after the anchors. Its desired places are worked out from those of its corners. Besides, each layer of
  the whole network is held to the whole team's bound: s + l·c, c steps for a layer.
- The neighbourhood, for agents that land elsewhere. Radii follow from those of the in-neighbours, so those of a part
  begin with the largest radius of its corners in the top's certificate, from the step on at which that holds. They are
  radii for the whole team, and may be larger than those that ``certify`` finds with all agents at hand.

*What does not.* Where corners never quite stand still, a part is near their hull only: containment in the hull of the
anchors is not claimed of it. Anchors are the top's affair. Counts of ways near zones are left out, as corners have
theirs in several parts, and so are norms by the lag and the arrays of all agents. Claims about where the team ends hold
where they hold in all parts of the last network; others hold if they hold somewhere and fail nowhere.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.certificates import FAILS, HOLDS, NOT_APPLICABLE, Certificate, Claim, Fault, certify
from tricover.certificates.certificate import Layer, counted
from tricover.certificates.faults import MOST_KEPT
from tricover.simulation import Run
from tricover.simulation.in_parts import Part
from tricover.simulation.parts_reader import PartsReader
from tricover.studies.ground import open_sources
from tricover.studies.kept import absent_in, parts_of, top_rows
from tricover.studies.part_log import Corners, Logged, Rules, log_of_part, log_of_top, rules_of
from tricover.studies.workers import each_of

if TYPE_CHECKING:
    from distributed import Client

    from tricover.certificates.certificate import Figure, Verdict

__all__ = ["certify_parts"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_NOT_QUITE = "The corners of this part never quite stand still: its agents are near their hull only."
_OF_THE_END = ("containment", "theorem3", "neighbourhood")
_ADDED = ("landings", "rows", "flat", "faults", "excused", "proper_radii", "containment_only", "messages_per_step")
_LARGEST = (
    "worst",
    "settled",
    "bound",
    "steps",
    "largest_distance",
    "largest_radius",
    "norm",
    "depth",
    "since",
    "longest",
)
_LEAST = ("smallest_weight", "smallest_margin", "least_distance", "shortest")
_SHARED = ("margin", "jitter", "duration", "zones", "arrived", "tolerance")
_RULES: dict[str, Callable[[list[int | float]], int | float]] = {
    **dict.fromkeys(_ADDED, sum),
    **dict.fromkeys(_LARGEST, max),
    **dict.fromkeys(_LEAST, min),
}
_OF_ZONES = ("zones", "least_distance", "worst")


class _Found(NamedTuple):
    """What was found of a part in an epoch.

    Attributes:
        epoch: which one.
        claims: with the agents' own numbers.
        layers: of the whole network, as far as the part has agents in them.
        agents: how many of its own there are.
        sum: of their numbers.
        depth: their last layer in the whole network.
    """

    epoch: int
    claims: tuple[Claim, ...]
    layers: tuple[Layer, ...]
    agents: int
    sum: int
    depth: int


def certify_parts(run: Run, client: "Client | None" = None) -> Certificate:
    """Which guarantees hold of a run in parts, part by part, and where one fails and why.

    Args:
        run: a run in parts, finished.
        client: of a Dask cluster whose workers see the run by the same path; None: here, part by part.

    >>> from tempfile import TemporaryDirectory
    >>> from tricover.simulation import Scenario
    >>> from tricover.studies import simulate_parts
    >>> team = np.random.default_rng(1).random((500, 2))
    >>> scenario = Scenario(reference=team, targets=team[::2], network={"mentee": "balanced"})
    >>> with TemporaryDirectory() as folder:
    ...     run = simulate_parts(scenario, folder + "/run", agents_per_part=100)
    ...     certificate = certify_parts(run)
    >>> certificate.holds, certificate["theorem3"].summary
    (True, 'Settled at step 6; the bound is 7.')
    """
    reader = parts_of(run)
    sources = open_sources(reader.rules)
    rules = rules_of(reader.rules, sources, reader.agents)
    epochs = sorted({stage.epoch for stage in reader.stages})
    found, given = [], []
    for epoch in epochs:
        top, corners = _top(log_of_top(reader, epoch, rules, sources), epoch)
        found.append(top)
        given += [(reader, epoch, name, rules, corners) for name in reader.names(epoch)[1:]]
    others = dict(each_of(client, _part, given))
    found += [others[place] for place in range(len(given))]
    return _merged(reader, found)


# --- a part ----------------------------------------------------------------------------------------------------


def _top(logged: Logged, epoch: int) -> tuple[_Found, Corners | None]:
    """The certificate of a top, and where its agents are bound to be; None: nobody knows, or all land on points."""
    certificate = certify(logged.log, desired=logged.desired)
    found = _found(logged, epoch, certificate.claims, certificate.layers)
    around, layers = certificate.neighbourhood, certificate.layers
    told = certificate["neighbourhood"].verdict != NOT_APPLICABLE
    if not told or around is None or any(layer.bound is None for layer in layers):
        return found, None
    bounds = np.array([layer.bound for layer in layers], np.int64)
    return found, Corners(around.radii, bounds[logged.part.layer])


def _part(reader: PartsReader, epoch: int, name: str, rules: Rules, corners: Corners | None) -> _Found:
    """The certificate of another part."""
    logged = log_of_part(reader, epoch, name, rules, corners)
    certificate = certify(logged.log, desired=logged.desired)
    late = _late(reader, epoch, logged.part)
    claims = tuple(_of_part(claim, logged, late) for claim in certificate if claim.key != "anchors")
    layers = tuple(
        replace(layer, index=int(logged.layers[layer.index - 1]), settled=layer.settled if logged.rests else None)
        for layer in certificate.layers
        if layer.index
    )
    return _found(logged, epoch, claims, layers or _unknown(logged.part))


def _unknown(part: Part) -> tuple[Layer, ...]:
    """The layers of a part of which nobody knows when they settle."""
    layers, agents = np.unique(part.layer, return_counts=True)
    rows = zip(layers.tolist(), agents.tolist(), strict=True)
    return tuple(Layer(index, count, None, None, None, None) for index, count in rows)


def _of_part(claim: Claim, logged: Logged, late: Ints) -> Claim:
    """A claim as it is made of a part; ``late`` are rows of agents that listen to corners of a later layer."""
    if claim.key == "containment" and not logged.rests and claim.verdict == HOLDS:
        return replace(claim, verdict=NOT_APPLICABLE, summary=_NOT_QUITE)
    if claim.key == "structure" and len(late):
        reason = "listens to an agent that is not of an earlier layer"
        faults = tuple(Fault(row, logged.log.launched, 1.0, "", reason) for row in late[:MOST_KEPT].tolist())
        figures = {**claim.figures, "faults": len(late), "worst": 1.0, "reasons": {reason: len(late)}}
        return replace(claim, verdict=FAILS, figures=figures, faults=faults)
    return claim


def _late(reader: PartsReader, epoch: int, part: Part) -> Ints:
    """Rows of a part's agents that listen to corners that are not of an earlier layer."""
    layers = np.full(len(part.everybody), -1)
    layers[part.corner_rows] = reader.tops[epoch].layer[top_rows(reader, epoch, part)]
    heard = layers[part.links].max(axis=1)
    return np.asarray(part.rows[heard >= part.layer])


def _found(logged: Logged, epoch: int, claims: Iterable[Claim], layers: tuple[Layer, ...]) -> _Found:
    part, everybody = logged.part, logged.part.everybody
    own = set(part.rows.tolist())
    numbered = tuple(
        replace(claim, faults=tuple(_numbered(fault, everybody) for fault in claim.faults if fault.agent in own))
        for claim in claims
    )
    depth = int(part.layer.max(initial=0))
    return _Found(epoch, numbered, layers, len(part), sum(part.numbers.tolist()), depth)


def _numbered(fault: Fault, everybody: Ints) -> Fault:
    return replace(fault, agent=int(everybody[fault.agent]))


# --- together --------------------------------------------------------------------------------------------------


def _merged(reader: PartsReader, found: Sequence[_Found]) -> Certificate:
    """One certificate of all parts of all epochs; the tops are the first."""
    last = max(each.epoch for each in found)
    ends = [each for each in found if each.epoch == last]
    layers = _layers(ends)
    claims = [_everybody(reader, found)]
    stochastic = all(claim.verdict == HOLDS for claim in _kept("theorem1", found))
    for claim in found[0].claims:
        kept = _kept(claim.key, ends if claim.key in _OF_THE_END else found)
        merged = _together(claim, kept)
        tops = len({each.epoch for each in found})
        claims.append(_special(merged, ends, layers, _shares(kept, tops) if claim.key == "C2" and stochastic else {}))
    subject = f"{reader.rules.name} ({reader.agents} agents, {reader.steps} steps, in {counted(len(ends), 'part')})"
    return Certificate(subject, tuple(claims), layers=layers)


def _kept(key: str, found: Iterable[_Found]) -> list[Claim]:
    """What is claimed by a key, part by part.

    Some parts may land on points where others do not: convergence is more than a neighbourhood.
    """
    parts = [{claim.key: claim for claim in each.claims} for each in found]
    if key == "neighbourhood" and any(part[key].verdict != NOT_APPLICABLE for part in parts):
        parts = [part for part in parts if part["theorem3"].verdict != HOLDS]
    return [part[key] for part in parts if key in part]


def _everybody(reader: PartsReader, found: Sequence[_Found]) -> Claim:
    """Every agent that takes part is in one part, by count."""
    head = ("parts", "Parts", "V = V_top ∪ V_1 ∪ V_2 ∪ …, disjoint")
    faults = []
    for epoch in sorted({each.epoch for each in found}):
        absent, parts = absent_in(reader, epoch), [each for each in found if each.epoch == epoch]
        agents = sum(each.agents for each in parts) + len(absent)
        numbers = sum(each.sum for each in parts) + sum(absent.tolist())
        if (agents, numbers) != (reader.agents, reader.agents * (reader.agents - 1) // 2):
            start = int(reader.attributes["epochs"][epoch]["start"])
            faults.append(
                Fault(-1, start, float(agents - reader.agents), "agents", "somebody is in no part, or in two")
            )
    figures: dict[str, Figure] = {"parts": len(found), "faults": len(faults)}
    if faults:
        return Claim(*head, FAILS, "The parts are not the whole team.", figures, tuple(faults))
    return Claim(*head, HOLDS, f"Everybody is in one of {counted(len(found), 'part')}.", figures)


def _together(head: Claim, claims: Sequence[Claim]) -> Claim:
    """One claim of all parts."""
    verdicts = [claim.verdict for claim in claims]
    verdict: Verdict = HOLDS if HOLDS in verdicts else NOT_APPLICABLE
    if NOT_APPLICABLE in verdicts and head.key in _OF_THE_END:
        verdict = NOT_APPLICABLE
    if FAILS in verdicts:
        verdict = FAILS
    faults = sorted((fault for claim in claims for fault in claim.faults), key=lambda fault: (fault.step, fault.agent))
    figures = _figures(head.key, [claim.figures for claim in claims])
    return replace(head, verdict=verdict, summary=_summary(claims), figures=figures, faults=tuple(faults[:MOST_KEPT]))


def _summary(claims: Sequence[Claim]) -> str:
    """In how many parts a claim fails, does not apply and holds, each with the words of the first."""
    count, told = len(claims), []
    for verdict, words in ((FAILS, "Fails"), (NOT_APPLICABLE, "Does not apply"), (HOLDS, "Holds")):
        some = [claim.summary for claim in claims if claim.verdict == verdict]
        if some and verdict == HOLDS:
            told.append(f"{words} in {len(some)} of {counted(count, 'part')}.")
        elif some:
            told.append(f"{words} in {len(some)} of {counted(count, 'part')}: {some[0]}")
    return " ".join(told)


def _figures(key: str, figures: Sequence[Mapping[str, "Figure"]]) -> dict[str, "Figure"]:
    """Figures that can be put together: counts are added, and of the others the worst is kept."""
    merged: dict[str, Figure] = {}
    for name in dict.fromkeys(name for each in figures for name in each):
        values = [each[name] for each in figures if each.get(name) is not None]
        numbers = [value for value in values if isinstance(value, int | float)]
        if key == "zones" and name not in _OF_ZONES:
            continue
        if name == "reasons":
            merged[name] = _added([value for value in values if isinstance(value, dict)])
        elif name in _RULES and numbers:
            merged[name] = _RULES[name](numbers)
        elif name in _SHARED:
            merged[name] = values[-1] if values else None
    return merged


def _added(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for each in counts:
        for reason, count in each.items():
            total[reason] = total.get(reason, 0) + count
    return total


def _special(claim: Claim, ends: Sequence[_Found], layers: Sequence[Layer], shares: dict[str, "Figure"]) -> Claim:
    """A claim with the figures of the whole network, where it has some."""
    depth = max(each.depth for each in ends)
    if claim.key == "structure":
        links = _figures("structure", [each.figures for each in _kept("structure", ends)])["messages_per_step"]
        return replace(claim, figures={**claim.figures, "depth": depth, "messages_per_step": links})
    if claim.key == "finite-time" and claim.figures:
        return replace(claim, figures={**claim.figures, "depth": depth})
    if claim.key == "C2":
        return replace(claim, figures=shares)
    return _on_time(claim, layers) if claim.key == "theorem3" else claim


def _shares(claims: Sequence[Claim], tops: int) -> dict[str, "Figure"]:
    """η and T of condition C2 for the whole team; the claims of the tops come first."""
    if any(claim.verdict != HOLDS for claim in claims):
        return {}
    of_tops, of_parts = ([_numbers(claim.figures) for claim in some] for some in (claims[:tops], claims[tops:]))
    least = min(of_tops)[0] * min((eta for eta, _ in of_parts), default=1.0)
    window = max(steps for _, steps in of_tops) + max((steps for _, steps in of_parts), default=0)
    return {"eta": least, "window": window}


def _numbers(figures: Mapping[str, "Figure"]) -> tuple[float, int]:
    """η and T of a claim."""
    eta, window = figures["eta"], figures["window"]
    assert isinstance(eta, float), "C2 has it"
    assert isinstance(window, int), "C2 has it"
    return eta, window


def _on_time(claim: Claim, layers: Sequence[Layer]) -> Claim:
    """Convergence of the whole team: no layer settles later than its bound."""
    if not layers or not claim.figures:  # all that is known are the parts' own bounds
        return replace(claim, figures={})
    ends, bound = [layer.settled for layer in layers[1:]], layers[-1].bound
    known = [end for end in ends if end is not None]
    settled = max(known) if len(known) == len(ends) else None
    claim = replace(claim, figures={"settled": settled, "bound": bound})
    late = [layer for layer in layers[1:] if layer.bound is not None and (layer.settled or 0) > layer.bound]
    if claim.verdict != HOLDS:
        return claim
    if late:
        text = f"Layer {late[0].index} settled at step {late[0].settled}; its bound is {late[0].bound}."
        return replace(claim, verdict=FAILS, summary=text)
    return replace(claim, summary=f"Settled at step {settled}; the bound is {bound}.")


def _layers(found: Sequence[_Found]) -> tuple[Layer, ...]:
    """The layers of the whole network, from those of the parts of its epoch, the top first.

    Distances are those from the bounds of the parts on. The bound of a layer is that of the whole network.
    """
    top, together = found[0].layers, list[Layer]()
    if not top:
        return ()
    begin = top[0].bound
    each_takes = 0 if begin is None or len(top) < 2 or top[1].bound is None else top[1].bound - begin
    for index in range(max(each.depth for each in found) + 1):
        some = [layer for each in found for layer in each.layers if layer.index == index]
        bound = None if begin is None else begin + index * each_takes
        together.append(_layer(index, some, bound))
    return tuple(together)


def _layer(index: int, parts: Sequence[Layer], bound: int | None) -> Layer:
    ends = [part.settled for part in parts if part.settled is not None]
    away = [part.distance for part in parts if part.distance is not None]
    radii = [np.inf if part.radius is None else part.radius for part in parts]
    settled = max(ends) if len(ends) == len(parts) else None
    agents, radius = sum(part.agents for part in parts), max(radii)
    return Layer(index, agents, settled, bound, max(away, default=None), radius if np.isfinite(radius) else None)
