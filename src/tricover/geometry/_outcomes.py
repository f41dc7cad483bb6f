"""What zones mean for an agent: constants of compiled loops and of those who read what they found."""

UNTOUCHED = 0
"""Nothing: it decides as if there were none."""
AROUND = 1
"""It goes around them: to its goal cell, or to the nearest one that it can get to where that is forbidden."""
CUT_OFF = 2
"""Its goal cell is free, but there is no way to it: it goes as near as it can."""
HELD = 3
"""There is no free way to any free cell: it stays where it is."""

SLACK = 2.0**-40
"""Of coordinates: how near to a zone counts as touching it. Positions are known to 1e-15 of them or so."""
