"""One fault of every kind of AWS call that the functions make; `make faults` plays them all."""

import pytest

from cupel.stack.address import Local
from tests.faults.matrix import Result, play


@pytest.fixture(scope="module")
def played(stack: Local) -> Result:
    return play(stack.endpoint_url, "sample", "--sample")


def test_every_kind_of_call_may_fail(played: Result) -> None:
    assert played.broken == []


def test_every_fault_was_met(played: Result) -> None:
    assert played.struck == played.faults > 40
