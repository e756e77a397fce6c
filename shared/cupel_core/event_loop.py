"""One event loop per process, so that connections opened in one invocation are reused by the next."""

import asyncio
from collections.abc import Coroutine
from functools import cache
from typing import Any


@cache
def _runner() -> asyncio.Runner:
    return asyncio.Runner()


def run[T](coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end on the process's event loop."""
    return _runner().run(coroutine)
