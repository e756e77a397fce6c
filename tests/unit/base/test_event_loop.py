"""The event loop of the process."""

import asyncio
from contextvars import Context, ContextVar

from cupel_core.base import event_loop

_request: ContextVar[str] = ContextVar("_request", default="none")


async def read() -> str:
    return _request.get()


def read_with(value: str) -> str:
    _request.set(value)
    return event_loop.run(read())


def test_a_coroutine_has_the_context_of_its_caller_and_not_of_the_first_one() -> None:
    assert Context().run(read_with, "first") == "first"
    assert Context().run(read_with, "second") == "second"
    assert event_loop.run(read()) == "none"


def test_a_thread_that_the_loop_has_started_may_run_a_coroutine_on_it() -> None:
    async def outer() -> tuple[str, bool]:
        inner = await asyncio.to_thread(Context().run, read_with, "thread")
        return inner, await asyncio.to_thread(event_loop.run, loop_of()) is asyncio.get_running_loop()

    assert event_loop.run(outer()) == ("thread", True)


async def loop_of() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()
