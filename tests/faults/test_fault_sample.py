"""One fault for every kind of AWS call that the functions make: a first look, before the whole matrix."""

import pytest

from cupel.stack.address import LocalStack
from cupel.stack.paths import StackPaths
from tests.faults.matrix import MatrixResult, run_matrix


@pytest.fixture(scope="module")
def result(stack: LocalStack, stack_paths: StackPaths) -> MatrixResult:
    print(f"with the stack at {stack.api_url}")
    return run_matrix(stack_paths, "sample", "--sample")


def test_no_kind_of_failed_call_violates_an_invariant(result: MatrixResult) -> None:
    assert result.failures == []


def test_every_fault_was_injected(result: MatrixResult) -> None:
    assert result.injected == result.faults > 40
