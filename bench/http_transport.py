"""Measures CPU per model call at 50 calls in flight, for official and chosen addresses, beside bare aiohttp.

`python -m bench.http_transport` starts the bench model server in a separate process and prints a table. These
measurements justify the transport in shared/cupel_core/providers/http.py; see docs/decisions.md.
"""

import argparse
import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from statistics import median
from time import perf_counter, process_time
from typing import NamedTuple

import aiohttp
import orjson

from bench.local_server import model_server
from cupel_core.providers import http, safe_http
from cupel_core.providers.wire_format import WireRequest

type Post = Callable[[bytes], Awaitable[bytes]]
type Open = Callable[[AsyncExitStack, str], Awaitable[Post]]

_BODY = {"model": "bench", "messages": [{"role": "user", "content": "Which of the two would you save? " * 20}]}


class ClientCost(NamedTuple):
    cpu_ms: float
    wall_ratio: float


async def _official(stack: AsyncExitStack, url: str) -> Post:
    stack.push_async_callback(http.close)

    async def post(body: bytes) -> bytes:
        return (await http.send_request(WireRequest(url, orjson.loads(body), {"authorization": "Bearer x"}))).content

    return post


async def _aiohttp(stack: AsyncExitStack, url: str) -> Post:
    session = await stack.enter_async_context(aiohttp.ClientSession())

    async def post(body: bytes) -> bytes:
        async with session.post(url, data=body) as response:
            return await response.read()

    return post


async def _safe_http(stack: AsyncExitStack, url: str) -> Post:
    session = await stack.enter_async_context(safe_http.new_session(lambda _: False))

    async def post(body: bytes) -> bytes:
        response = await safe_http.send(
            "POST",
            url,
            orjson.loads(body),
            {"authorization": "Bearer x"},
            timeout_seconds=60,
            allow_private=True,
            session=session,
        )
        return response.content

    return post


CLIENTS: dict[str, Open] = {
    "aiohttp": _aiohttp,
    "official address": _official,
    "safe_http": _safe_http,
}


async def measure(open_client: Open, url: str, calls: int, in_flight: int, latency_seconds: float) -> ClientCost:
    async with AsyncExitStack() as stack:
        post = await open_client(stack, url)
        await _run(post, in_flight * 2, in_flight)
        wall, cpu = perf_counter(), process_time()
        await _run(post, calls, in_flight)
        wall, cpu = perf_counter() - wall, process_time() - cpu
    ideal = calls / in_flight * latency_seconds
    return ClientCost(cpu / calls * 1000, wall / ideal)


async def _run(post: Post, calls: int, in_flight: int) -> None:
    numbers = iter(range(calls))

    async def work() -> None:
        for number in numbers:
            orjson.loads(await post(orjson.dumps({**_BODY, "user": str(number)})))

    await asyncio.gather(*(work() for _ in range(in_flight)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--in-flight", type=int, default=50)
    parser.add_argument("--latency", type=float, default=0.1)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with model_server("--latency", str(options.latency)) as server:
        url = f"{server}/v1/chat/completions"
        print(f"{options.calls} calls, {options.in_flight} in flight, {options.latency:g} s latency")
        print(f"{'client':<22}{'CPU ms/call':>12}{'wall/ideal':>12}")
        for name, open_client in CLIENTS.items():
            rounds = [
                asyncio.run(measure(open_client, url, options.calls, options.in_flight, options.latency))
                for _ in range(options.rounds)
            ]
            cpu, wall = median(cost.cpu_ms for cost in rounds), median(cost.wall_ratio for cost in rounds)
            print(f"{name:<22}{cpu:>12.2f}{wall:>12.2f}")


if __name__ == "__main__":
    main()
