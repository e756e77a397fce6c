"""Every AWS call of every function fails, before and after its effect, one at a time. Takes half an hour."""

import pytest

from cupel.stack.address import LocalStack
from cupel.stack.paths import StackPaths
from tests.faults.matrix import MatrixResult, run_matrix


@pytest.fixture(scope="module")
def result(stack: LocalStack, stack_paths: StackPaths) -> MatrixResult:
    print(f"with the stack at {stack.api_url}")
    return run_matrix(stack_paths, "matrix")


def test_no_failed_call_violates_an_invariant(result: MatrixResult) -> None:
    assert result.failures == []


def test_almost_every_fault_was_injected(result: MatrixResult) -> None:
    """Some calls depend on timing: how often a worker polls for more messages differs between runs."""
    assert result.injected > 0.9 * result.faults > 300
