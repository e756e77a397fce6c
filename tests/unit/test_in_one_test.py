"""A test of many cases names every case that fails, and has the fixtures that the check asks for."""

from pathlib import Path

import pytest

from tests.in_one_test import in_one_test


def is_even(number: int) -> None:
    assert number % 2 == 0


async def is_odd(number: int, tmp_path: Path) -> None:
    assert number % 2, tmp_path.name


def raises(number: int, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        int("x" * number or "1")


@in_one_test("number", (2, 4))
def test_all_cases_pass(number: int, tmp_path: Path) -> None:
    assert tmp_path.is_dir()
    is_even(number)


def test_every_case_that_fails_is_named() -> None:
    check = in_one_test("number", [1, 2, pytest.param(3, id="three")])(is_even)
    with pytest.raises(
        pytest.fail.Exception, match=r"(?s)2 of 3 cases:.*\n1: AssertionError: .*\nthree: AssertionError: "
    ):
        check()


async def test_so_it_is_for_coroutines(tmp_path: Path) -> None:
    check = in_one_test("number", [1, 2, 3], ids=str)(is_odd)
    with pytest.raises(pytest.fail.Exception, match="1 of 3 cases:\n\n2: AssertionError: "):
        await check(tmp_path=tmp_path)  # type: ignore[misc]


def test_an_expected_error_that_is_not_raised_is_a_failure() -> None:
    check = in_one_test("number, kind", [(0, ValueError), (1, ValueError), (1, KeyError)])(raises)
    with pytest.raises(pytest.fail.Exception, match=r"(?s)2 of 3 cases:.*Failed: .*ValueError: "):
        check()


def test_there_is_at_least_one_case() -> None:
    with pytest.raises(AssertionError):
        in_one_test("number", [])
