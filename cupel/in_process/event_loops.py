"""Runs event loops: a new one for callers without one, and the connections that all work in one shares."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any
from weakref import WeakKeyDictionary

from cupel.errors import UsageError

_users: WeakKeyDictionary[asyncio.AbstractEventLoop, int] = WeakKeyDictionary()
_CLIENT_MODULES = ("cupel_core.providers.http", "cupel_core.providers.safe_http")


def run_in_new_loop[Result](work: Callable[[], Coroutine[Any, Any, Result]], alternative: str) -> Result:
    """Run the work in a new loop. Raises UsageError, which names the alternative, within a running event loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        pass  # An error of the work must not be "during handling of" this one.
    else:
        raise UsageError(f"an event loop is already running, as in a notebook: use `{alternative}`")
    return asyncio.run(work())


@asynccontextmanager
async def shared_connections() -> AsyncIterator[None]:
    loop = asyncio.get_running_loop()
    _users[loop] = _users.get(loop, 0) + 1
    try:
        yield
    finally:
        _users[loop] -= 1
        if not _users[loop]:
            # Modules that were never imported have opened no connection; importing them now would be slow.
            for client in filter(None, map(sys.modules.get, _CLIENT_MODULES)):
                await client.close()
