"""Runs one event loop per process, so that connections opened in one invocation are reused by the next."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import cache
from typing import Any

MAX_THREADS = 32
"""Calls of AWS block, so they run in this many threads.

With asyncio's own number, six on a function, a worker's heartbeats would wait behind the checkpoints of its
conversations. The clients of `store/clients.py` have as many connections.
"""


@cache
def _runner() -> asyncio.Runner:
    runner = asyncio.Runner()
    runner.get_loop().set_default_executor(ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="aws"))
    return runner


def run[T](coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end on the process's event loop, with the context of the caller.

    Without that context, every coroutine would have the context of the first, such as the idempotency key of another
    request. A thread that the loop itself has started, as for a mutation of GraphQL, waits for the loop to run it.
    """
    loop = _runner().get_loop()
    if loop.is_running() and not _is_in_a_loop():
        return asyncio.run_coroutine_threadsafe(coroutine, loop).result()
    return _runner().run(coroutine, context=copy_context())


def _is_in_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
