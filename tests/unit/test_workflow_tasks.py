"""A task of a slice is repeated while it makes progress, and as often as the history of an execution allows."""

import pytest

from cupel_core.domain.runs.leaf_ranges import (
    EVENTS_PER_RANGE,
    EVENTS_PER_ROUND,
    MAX_HISTORY_EVENTS,
    MAX_RANGES,
    SliceProgress,
    max_rounds,
)
from cupel_core.errors import RetryableError
from cupel_core.workflow_tasks import LeafRangeFields, slice_output


def task(rounds: int | None, max_rounds: int = 3) -> LeafRangeFields:
    return LeafRangeFields(first_leaf=20, leaves=10, rounds=rounds, max_rounds=max_rounds)


@pytest.mark.parametrize(
    ("rounds", "left", "again"), [(0, 5, True), (0, 0, False), (1, 5, True), (2, 5, False)], ids=str
)
def test_a_task_is_repeated_while_transcripts_are_left(rounds: int, left: int, again: bool) -> None:
    output = slice_output(task(rounds), SliceProgress(done=1, left=left))
    assert output == {"firstLeaf": 20, "left": left, "rounds": rounds + 1, "again": again}


def test_a_task_without_progress_fails() -> None:
    with pytest.raises(RetryableError, match="at least 5 transcripts are left, 0 were done"):
        slice_output(task(0), SliceProgress(left=5))


def test_a_task_of_an_earlier_releases_execution_fails_while_transcripts_are_left() -> None:
    with pytest.raises(RetryableError):
        slice_output(task(None), SliceProgress(done=5, left=5))


@pytest.mark.parametrize("ranges", [0, 1, 10, 500, MAX_RANGES])
def test_the_history_of_an_execution_stays_below_its_limit(ranges: int) -> None:
    repeated = max_rounds(ranges) - 1
    assert repeated >= 1
    assert ranges * (EVENTS_PER_RANGE + repeated * EVENTS_PER_ROUND) < MAX_HISTORY_EVENTS
