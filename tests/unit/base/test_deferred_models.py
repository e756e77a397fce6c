"""Models that several threads use for the first time at once."""

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier
from typing import Any

import pytest
from pydantic import create_model

from cupel_core.contract.common import ResponseModel
from cupel_core.providers.wire_format import WireModel

THREADS = 8
FIELDS: Any = {f"field_{number}": (dict[str, list[int]], {}) for number in range(100)}
ROUNDS = 50
"""Without its lock, a model loses its fields or fails in one of eight rounds."""


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    """The interpreter switches between them often, so that races show."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    with ThreadPoolExecutor(THREADS) as pool:
        yield pool
    sys.setswitchinterval(interval)


def at_once[Result](threads: ThreadPoolExecutor, function: Callable[[], Result]) -> list[Result]:
    barrier = Barrier(THREADS)

    def call(_: int) -> Result:
        barrier.wait()
        return function()

    return list(threads.map(call, range(THREADS)))


def made_and_dumped(model: Any) -> Any:
    return model(field_3={"a": [1]}).model_dump(by_alias=True)


def test_no_field_is_lost_when_threads_make_the_first_objects(threads: ThreadPoolExecutor) -> None:
    for number in range(ROUNDS):
        model: Any = create_model(f"Response{number}", __base__=ResponseModel, **FIELDS)
        for found in at_once(threads, partial(made_and_dumped, model)):
            assert (len(found), found["field3"]) == (len(FIELDS), {"a": [1]})


def test_no_field_is_lost_when_threads_read_the_first_replies(threads: ThreadPoolExecutor) -> None:
    for number in range(ROUNDS):
        usage: Any = create_model(f"Usage{number}", __base__=WireModel, tokens=(int, ...))
        model: Any = create_model(f"Reply{number}", __base__=WireModel, usage=(usage, ...), **FIELDS)
        for reply in at_once(threads, partial(model.model_validate, {"usage": {"tokens": "7"}})):
            assert (reply.usage.tokens, reply.field_99) == (7, {})
