"""Algorithm 1 written from the paper in exact arithmetic, plainly and slowly: what the fast one must agree with.

Geometry is rational. Sums of distances have 150 digits; sums that agree to 60 (2⁻¹⁹⁹) are ties and go to the lowest
index.
"""

from decimal import Decimal, localcontext
from fractions import Fraction


def determinant(rows):
    if len(rows) == 1:
        return rows[0][0]
    return sum((-1) ** k * rows[0][k] * determinant([r[:k] + r[k + 1 :] for r in rows[1:]]) for k in range(len(rows)))


def volume(points):
    return determinant([[a - b for a, b in zip(p, points[-1], strict=True)] for p in points[:-1]])


def weights(point, corners):
    """Barycentric coordinates, as fractions."""
    whole = volume(corners)
    return [volume([*corners[:k], point, *corners[k + 1 :]]) / whole for k in range(len(corners))]


def as_fractions(reference):
    return [tuple(Fraction(x) for x in row) for row in reference.tolist()]


def total_distance(point, corners):
    with localcontext() as context:
        context.prec = 150
        total = Decimal(0)
        for corner in corners:
            square = sum((a - b) ** 2 for a, b in zip(point, corner, strict=True))
            total += (Decimal(square.numerator) / Decimal(square.denominator)).sqrt()
        return total


def first_least(agents, score):
    """The first of those whose score is least: a fraction exactly, a sum of distances to 60 digits."""
    scores = {i: score(i) for i in sorted(agents)}
    first = min(scores)
    with localcontext() as context:
        context.prec = 150
        for i in scores:
            margin = 0 if isinstance(scores[i], Fraction) else scores[first] / 2**199
            if scores[i] < scores[first] - margin:
                first = i
    return first


def fermat_score(points, corners, members):
    return lambda i: total_distance(points[i], [points[c] for c in corners])


def balanced_score(points, corners, members):
    mean = tuple(sum(x) / len(members) for x in zip(*(points[i] for i in members), strict=True))
    cell = [points[c] for c in corners]
    home = weights(mean, cell)
    return lambda i: sum((a - b) ** 2 for a, b in zip(weights(points[i], cell), home, strict=True))


SCORES = {"fermat": fermat_score, "balanced": balanced_score}


def core_agent(points, boundary, interior):
    return first_least(interior, lambda i: total_distance(points[i], [points[b] for b in boundary]))


def layers_below(points, cells, rule, alive):
    """Algorithm 1 down from cells {corners: members}: {agent: (layer, corners)}. Ties on edges: the lowest child."""
    placed = {}
    layer = 1
    while cells:
        below = {}
        for corners, members in cells.items():
            living = [i for i in members if alive[i]]
            if not living:
                continue
            mentee = first_least(living, SCORES[rule](points, corners, members))
            placed[mentee] = (layer, corners)
            cell = [points[c] for c in corners]
            own = weights(points[mentee], cell)
            for i in members:
                if i != mentee:
                    share = weights(points[i], cell)
                    ratios = [a / b if b else None for a, b in zip(share, own, strict=True)]
                    k = min((r, k) for k, r in enumerate(ratios) if r is not None)[1]
                    below.setdefault((*corners[:k], mentee, *corners[k + 1 :]), []).append(i)
        cells, layer = below, layer + 1
    return placed
