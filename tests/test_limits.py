import pytest

from tricover.errors import InputError
from tricover.limits import GIB, check_room


def test_the_limit_is_two_gib_unless_the_user_says_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRICOVER_MEMORY", raising=False)
    check_room(2 * GIB, "2 GiB")
    with pytest.raises(InputError, match=r"^many points need about 2\.5 GiB of memory, and the limit is 2 GiB"):
        check_room(2.5 * GIB, "many points")
    monkeypatch.setenv("TRICOVER_MEMORY", "3.5")
    check_room(3.5 * GIB, "3.5 GiB")
    with pytest.raises(InputError, match=r"the limit is 3\.5 GiB"):
        check_room(4 * GIB, "4 GiB")


@pytest.mark.parametrize("text", ["lots", "-1", "0", "nan"])
def test_a_limit_that_is_no_amount_is_refused_by_name(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRICOVER_MEMORY", text)
    with pytest.raises(InputError, match=f"TRICOVER_MEMORY must be a positive number of GiB, such as 8, not '{text}'"):
        check_room(1, "a byte")


def test_a_size_that_is_no_number_is_refused() -> None:
    with pytest.raises(InputError):
        check_room(float("nan"), "nobody knows how many")
