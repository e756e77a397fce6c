"""One event loop per process: connections opened in one invocation serve the next."""

import asyncio
from collections.abc import Coroutine
from functools import cache
from typing import Any


@cache
def _runner() -> asyncio.Runner:
    return asyncio.Runner()


def run[T](work: Coroutine[Any, Any, T]) -> T:
    return _runner().run(work)
