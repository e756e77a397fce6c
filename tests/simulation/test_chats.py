"""Chats keep their invariants in schedules of people, turns and workers, with crashes, lost replies and duplicates.

The failure message says how to replay a failing seed. `make simulate CHATS=1 SCHEDULES=100000` runs more schedules.
"""

from collections import Counter
from random import Random

import pytest

from cupel_core.domain.codec import decode
from cupel_core.domain.pipeline.profiles import Pipeline
from cupel_core.sandbox.templating.operation_templates import condition_template, is_quick
from tests.effort import IS_SEARCHING
from tests.simulation.chats.profiles import draw_profile
from tests.simulation.chats.schedule import ChatResult, run_chat_schedule

_SCHEDULES = 60 if IS_SEARCHING else 30


@pytest.fixture(scope="module")
def results(simulation: None) -> list[ChatResult]:
    return [run_chat_schedule(seed) for seed in range(_SCHEDULES)]


def test_no_schedule_breaks_an_invariant(results: list[ChatResult]) -> None:
    broken = [
        f"{result.violation} (make simulate CHATS=1 SEED={result.seed})" for result in results if result.violation
    ]
    assert not broken


def test_turns_end_in_every_way(results: list[ChatResult]) -> None:
    endings = sum((result.endings for result in results), Counter[str]())
    assert endings.keys() == {"done", "failed", "aborted user", "aborted deadline"}


@pytest.mark.parametrize("seed", [3, 11])
def test_a_seed_always_gives_the_same_schedule(simulation: None, seed: int) -> None:
    traces: list[list[str]] = [[], []]
    for trace in traces:
        run_chat_schedule(seed, trace.append)
    assert traces[0] == traces[1]


def test_templates_need_no_sandbox() -> None:
    """Which would take real time."""
    operations = [each for seed in range(50) for each in decode(Pipeline, draw_profile(Random(seed))).operations]
    templates = {text for each in operations for text in each.templates.values()}
    templates |= {condition_template(text) for each in operations for text in each.expressions.values()}
    assert [text for text in templates if not is_quick(text)] == []
