"""Counts the time of opening a connection, which is not the model's, as set-up of the current call."""

import time
from types import SimpleNamespace

import aiohttp

from cupel_core.providers.call_time import add_setup


def connection_trace() -> aiohttp.TraceConfig:
    """For the `trace_configs` of a session."""
    trace = aiohttp.TraceConfig()
    trace.on_connection_create_start.append(_on_start)
    trace.on_connection_create_end.append(_on_end)
    return trace


async def _on_start(_: aiohttp.ClientSession, call: SimpleNamespace, __: object) -> None:
    call.connecting_since = time.perf_counter()


async def _on_end(_: aiohttp.ClientSession, call: SimpleNamespace, __: object) -> None:
    add_setup(time.perf_counter() - call.connecting_since)
