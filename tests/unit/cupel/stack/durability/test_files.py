import pytest

from cupel.stack.durability.files import read_consistently


def test_a_read_of_what_changes_meanwhile_is_repeated() -> None:
    outcomes = iter([RuntimeError("dictionary changed size during iteration"), "read"])

    def read() -> object:
        if isinstance(outcome := next(outcomes), Exception):
            raise outcome
        return outcome

    assert read_consistently(read) == "read"


def test_a_read_that_never_succeeds_fails() -> None:
    def read() -> object:
        raise RuntimeError("always")

    with pytest.raises(RuntimeError, match="always"):
        read_consistently(read)
