"""Mentee rules: which of a cell's agents becomes its mentee.

A rule scores the members of a cell, and the living member with the least score is the mentee; ties go to the lowest
index. Members are the cell's whole roster, dead or alive, so that losing one agent does not change the ranking of the
others.

The two built-in rules are compiled, one file each, and share one interface (see ``fermat``). A rule of your own is
any function
``rule(corners, members) -> scores`` with corners (n+1, n), members (k, n) and scores (k,), of positions alone:

>>> import tricover as tc
>>> def lowest(corners, members):
...     return members[:, 1]
>>> square = [[0, 0], [4, 0], [4, 4], [0, 4], [2, 2], [2, 3], [2.1, 3.5]]
>>> tc.build_network(square, mentee=lowest).in_neighbors[5].tolist()
[2, 3, 4]
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["RULES", "MenteeRule"]

MenteeRule: TypeAlias = Callable[[NDArray[np.float64], NDArray[np.float64]], ArrayLike]

#: Names of the compiled rules, and the numbers by which the kernels know them.
RULES = {"fermat": 0, "balanced": 1}
