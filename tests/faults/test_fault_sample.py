"""One fault for every kind of AWS call that the functions make: a first look, before the whole matrix."""

import pytest

from cupel.stack.address import LocalStack
from tests.faults.matrix import MatrixResult, run_matrix


@pytest.fixture(scope="module")
def result(stack: LocalStack) -> MatrixResult:
    return run_matrix(stack.endpoint_url, "sample", "--sample")


def test_no_kind_of_failed_call_violates_an_invariant(result: MatrixResult) -> None:
    assert result.failures == []


def test_every_fault_was_injected(result: MatrixResult) -> None:
    assert result.injected == result.faults > 40
