"""Without the extra there is a remedy."""

import importlib
import sys

import pytest

import tricover.rl
from tricover.errors import MissingExtraError


@pytest.mark.parametrize("library", ["gymnasium", "pettingzoo"])
def test_a_missing_library_names_the_extra(library, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtraError, match=r"pip install 'tricover\[rl\]'"):
        importlib.reload(tricover.rl)


def test_every_name_is_there():
    assert all(hasattr(tricover.rl, name) for name in tricover.rl.__all__)
