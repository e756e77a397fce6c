"""A task of a slice is repeated while it makes progress, and as often as the history of an execution allows."""

import json
from pathlib import Path

import pytest

from cupel_core.base.errors import RetryableError
from cupel_core.domain.runs.leaf_ranges import (
    EVENTS_PER_RANGE,
    EVENTS_PER_ROUND,
    MAX_HISTORY_EVENTS,
    MAX_RANGES,
    SliceProgress,
    max_rounds,
)
from cupel_core.runs.workflow_tasks import MAX_WAITED_SECONDS, LeafRangeFields, slice_output

ROOT = Path(__file__).parents[3]


def task(rounds: int | None, max_rounds: int = 3) -> LeafRangeFields:
    return LeafRangeFields(first_leaf=20, leaves=10, rounds=rounds, max_rounds=max_rounds)


def waiting(waited: int) -> LeafRangeFields:
    return LeafRangeFields(first_leaf=20, leaves=10, rounds=0, max_rounds=3, waited=waited)


@pytest.mark.parametrize(
    ("rounds", "left", "again"), [(0, 5, True), (0, 0, False), (1, 5, True), (2, 5, False)], ids=str
)
def test_a_task_is_repeated_while_transcripts_are_left(rounds: int, left: int, again: bool) -> None:
    output = slice_output(task(rounds), SliceProgress(done=1, left=left))
    assert output == {
        "firstLeaf": 20,
        "left": left,
        "rounds": rounds + 1,
        "again": again,
        "waitSeconds": 0,
        "waited": 0,
    }


def test_a_task_without_progress_fails() -> None:
    with pytest.raises(RetryableError, match="at least 5 transcripts are left, 0 were done"):
        slice_output(task(0), SliceProgress(left=5))


def test_a_task_without_progress_waits_as_long_as_a_provider_asks() -> None:
    output = slice_output(waiting(0), SliceProgress(left=5, wait_seconds=90.2))
    assert [output[name] for name in ("rounds", "again", "waitSeconds", "waited")] == [1, True, 91, 91]


def test_a_task_with_progress_waits_and_begins_to_count_anew() -> None:
    output = slice_output(waiting(3_000), SliceProgress(done=2, left=5, wait_seconds=90))
    assert [output[name] for name in ("rounds", "again", "waitSeconds", "waited")] == [1, True, 90, 90]


def test_all_waits_of_a_range_together_are_bounded() -> None:
    """A provider that asks for an hour is asked again after five minutes, twelve times."""
    waited, waits = 0, 0
    while waited < MAX_WAITED_SECONDS:
        output = slice_output(waiting(waited), SliceProgress(left=5, wait_seconds=3_600))
        waited, waits = output["waited"], waits + 1
    assert (waited, waits) == (3_600, 12)
    with pytest.raises(RetryableError, match="at least 5 transcripts are left, 0 were done"):
        slice_output(waiting(waited), SliceProgress(left=5, wait_seconds=3_600))


@pytest.mark.parametrize("name", ["finish", "score"])
def test_a_machine_waits_as_long_as_its_task_says(name: str) -> None:
    machine = json.loads((ROOT / f"statemachines/{name}.asl.json").read_text())
    mapped = machine["States"]["Summarize" if name == "finish" else "Score"]
    states = mapped["ItemProcessor"]["States"]
    task_name = mapped["ItemProcessor"]["StartAt"]
    choice = states[states[task_name]["Next"]]
    output = slice_output(waiting(0), SliceProgress(left=5, wait_seconds=90))
    known = {f"$.slice.{field}" for field in output}
    variables = {each["Variable"] for rule in choice["Choices"] for each in rule.get("And", [rule])}
    wait = states[choice["Choices"][0]["Next"]]
    assert variables | {wait["SecondsPath"], states[task_name]["Parameters"]["waited.$"]} <= known
    assert (wait["Type"], wait["Next"], mapped["ItemSelector"]["slice"]) == (
        "Wait",
        task_name,
        {"rounds": 0, "waited": 0},
    )


def test_waits_without_progress_become_longer() -> None:
    waited, waits = 0, []
    while waited < MAX_WAITED_SECONDS:
        output = slice_output(waiting(waited), SliceProgress(left=5, wait_seconds=1))
        waited = output["waited"]
        waits.append(output["waitSeconds"])
    assert (waits[:5], waits[-1], waits) == ([10, 10, 10, 15, 22], 300, sorted(waits))
    assert len(waits) < 25


def test_a_range_that_waits_too_often_is_left_to_the_next_execution() -> None:
    last = LeafRangeFields(first_leaf=20, leaves=10, rounds=2, max_rounds=3, waited=20)
    output = slice_output(last, SliceProgress(left=5, wait_seconds=90))
    assert (output["rounds"], output["again"]) == (3, False)


@pytest.mark.parametrize("ranges", [0, 1, 10, 500, MAX_RANGES])
def test_the_history_of_an_execution_stays_below_its_limit(ranges: int) -> None:
    repeated = max_rounds(ranges) - 1
    assert repeated >= 1
    assert ranges * (EVENTS_PER_RANGE + repeated * EVENTS_PER_ROUND) < MAX_HISTORY_EVENTS
