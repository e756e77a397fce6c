"""How large what operations make may be."""

from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.pipeline.sizes import MAX_STATE_LENGTH, PLANNED_STEP_LENGTH, step_share, value_length
from tests.profiles import AFTER, BEFORE, operation, run_profile


def test_the_length_of_a_value_counts_names_numbers_and_elements() -> None:
    assert value_length("äbc") == 3
    assert value_length({"name": ["x" * 10, 1, None]}) == 2 + 4 + 2 + 10 + 5 + 5


@given(st.integers(0, 3_000_000), st.integers(0, 80))
def test_the_operations_of_a_turn_never_exceed_the_limit_together(length: int, steps: int) -> None:
    assert length + steps * step_share(length, steps) <= max(length, MAX_STATE_LENGTH)


def test_a_worker_plans_for_each_step_of_a_profile() -> None:
    both = operation("a", hooks=[BEFORE, AFTER], effects=[])
    assert run_profile(both, operation("b", enabled=False)).planned_length == 2 * PLANNED_STEP_LENGTH
    assert (
        run_profile(*(operation(f"op{each}", hooks=[BEFORE, AFTER], effects=[]) for each in range(40))).planned_length
        == MAX_STATE_LENGTH
    )
