"""Numbers and lengths for readers: fixed digits, never ``1.162e+05`` or ``3.31e-10 m``; beyond 10¹² powers of ten."""

import math

__all__ = ["length", "number"]

_LEAST = 1e-6  # a number below it is said to be below it
_MOST = 1e12  # from it on nobody counts digits, and a figure has no room for them
_SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_NANOMETRE = 1e-9  # a length below it is rounding, and is said to be below it
_SMALLER = (("mm", 1e3), ("µm", 1e6), ("nm", 1e9))
_FEWEST = 0.01  # metres: shorter lengths take a smaller unit


def number(value: float, digits: int = 4, padded: bool = False) -> str:
    """A number to so many significant digits, without an exponent; ``padded`` with zeros to have them all.

    >>> number(116203.7), number(26.4951), number(0.0123), number(-3.31e-10), number(0)
    ('116,200', '26.5', '0.0123', 'under 0.000001', '0')
    >>> number(36.1, padded=True), number(9.9996, padded=True), number(-1.84467e19)
    ('36.10', '10.00', '-1.845·10¹⁹')
    """
    if not math.isfinite(value):
        return "not known" if math.isnan(value) else "∞" if value > 0 else "−∞"
    if 0 < abs(value) < _LEAST:
        return f"under {_LEAST:f}"
    rounded = float(f"{value:.{digits - 1}e}") + 0.0  # not -0
    exponent = math.floor(math.log10(abs(rounded))) if rounded else 0
    if abs(rounded) >= _MOST:
        mantissa, _, power = f"{rounded:.{digits - 1}e}".partition("e+")
        return f"{mantissa}·10{power.lstrip('0').translate(_SUPERSCRIPT)}"
    text = f"{rounded:,.{max(digits - 1 - exponent, 0)}f}"
    return text if padded or "." not in text else text.rstrip("0").rstrip(".")


def length(metres: float, digits: int = 3) -> str:
    """A length to so many significant digits, in metres; what is shorter than a centimetre in smaller units.

    >>> length(116203.7), length(0.25), length(0.00125), length(4.2e-8), length(3.31e-10), length(0)
    ('116,000 m', '0.25 m', '1.25 mm', '42 nm', 'under 1 nm', '0 m')
    """
    size = abs(metres)
    if not size < _FEWEST or not size:
        return f"{number(metres, digits)} m"
    if size < _NANOMETRE:
        return "under 1 nm"
    unit, factor = next(pair for pair in _SMALLER if size * pair[1] >= 1 or pair[0] == "nm")
    return f"{number(metres * factor, digits)} {unit}"
