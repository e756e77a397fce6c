"""A workspace whose slow agent has far more probes than two workers carry, beside one with a few quick probes."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from aiohttp import web

from cupel_core.accounts import keys as accounts
from cupel_core.base.messages import DispatchRequest
from cupel_core.domain.limits.worker_capacity import WorkerCapacity
from cupel_core.domain.resources.connectors import PROVIDER
from cupel_core.domain.runs.run import Action, Run
from cupel_core.providers import safe_http
from cupel_core.resources import connectors
from cupel_core.runs import dispatch
from cupel_core.runs.probing.worker import Worker
from cupel_core.store import barrier, queues, runs
from cupel_core.store.barrier import Tree
from cupel_core.store.settings import settings
from tests.started_runs import NOW, RunSetup, dispatch_request, ref_of
from tests.unit.providers.agents import ReceivedRequest, serving

NEIGHBOUR, SLOW = "ws_neighbour", "ws_slow"
PROBES, PARALLEL = 50, 25
"""The neighbor's run has this many probes and parallel calls."""
CARRIED = 100
"""Conversations of a worker: few, because both workers and both agents share a process."""
WORKERS = 2
_MAX_SECONDS = 120.0


@dataclass(frozen=True)
class Load:
    """Describes what the slow workspace starts. Its agent answers nothing before the neighbor's run is over."""

    runs: int = 3
    probes: int = 5_000
    connectors: int = 1
    parallel: int = 1_000


class Result(NamedTuple):
    seconds: float
    """It counts from the neighbor's dispatch to its last outcome."""
    completed: int
    calls: Counter[str]
    """It counts the calls of each workspace until the neighbor's last outcome was recorded."""
    answered: int
    """Calls of the slow workspace that had been answered by then."""


@dataclass
class _Agents:
    latency_seconds: float
    calls: Counter[str] = field(default_factory=Counter)
    answered: int = 0
    release: asyncio.Event = field(default_factory=asyncio.Event)
    """The slow agent answers nothing until this is set."""
    in_flight: asyncio.Event = field(default_factory=asyncio.Event)
    expected: int = 0
    """Calls of the slow workspace, after which `in_flight` is set."""

    async def answer(self, request: ReceivedRequest) -> web.Response:
        workspace = request.path.split("/")[1]
        self.calls[workspace] += 1
        if workspace == SLOW:
            if self.calls[SLOW] >= self.expected:
                self.in_flight.set()
            await self.release.wait()
            self.answered += 1
        else:
            await asyncio.sleep(self.latency_seconds)
        return web.Response(text='{"answer": "Rating: 4"}', content_type="application/json")


def _start(workspace: str, url: str, probes: int, connector_count: int, parallel: int) -> Run:
    config = {"request": "{q: message}", "reply": "answer"}
    made = [
        connectors.create(
            workspace, {"name": f"agent {time.time_ns()}", "type": "http", "base_url": url, "config": config}, NOW
        )
        for _ in range(connector_count)
    ]
    accounts.update_provider(workspace, PROVIDER, {"max_parallel_requests": parallel})
    models = tuple(f"{PROVIDER}/{each.item.id}" for each in made)
    scenario_count = min(probes, 1_000)
    return RunSetup(
        scenario_count, models, repeats=max(1, probes // scenario_count // len(models)), workspace=workspace
    ).start()


def _worker() -> Worker:
    worker = Worker(PROVIDER, time.time() + 600.0, receive_wait_seconds=0)
    worker._capacity = WorkerCapacity(conversations=CARRIED)
    return worker


@asynccontextmanager
async def _working() -> AsyncIterator[None]:
    """Run as many workers as the stack has, and replace each that ends because the queue was empty for it."""
    url = settings().probe_queue_url(PROVIDER)

    async def work() -> None:
        while True:
            if deliveries := await asyncio.to_thread(queues.receive, url, 1):
                assert await _worker().run(deliveries) == []
            await asyncio.sleep(0.05)

    tasks = [asyncio.create_task(work()) for _ in range(WORKERS)]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _dispatch(*started: Run) -> None:
    def send() -> None:
        for run in started:
            dispatch.execute(dispatch_request(run), NOW, lambda: 600.0)

    await asyncio.to_thread(send)


async def _dispatch_repeatedly() -> None:
    """Dispatch as the function does: a request for which there is no room returns to its queue."""
    url = settings().dispatch_queue_url
    while True:
        for delivery in await asyncio.to_thread(queues.receive, url, 10):
            request = DispatchRequest.model_validate_json(delivery.body)
            await asyncio.to_thread(dispatch.execute, request, NOW, lambda: 600.0)
            await asyncio.to_thread(queues.delete, [delivery])
        await asyncio.sleep(0.2)


async def run_beside(load: Load | None, latency_seconds: float = 0.05) -> Result:
    """The neighbour's run beside this load, which fills both workers before; alone if there is none."""
    agents = _Agents(latency_seconds)
    if load is not None:
        agents.expected = min(load.parallel, WORKERS * CARRIED * 4 // 5) - load.runs
    async with asyncio.timeout(_MAX_SECONDS), serving(agents.answer) as server, _working():
        dispatching = asyncio.create_task(_dispatch_repeatedly())
        try:
            return await _measure(load, agents, server.url)
        finally:
            dispatching.cancel()
            await safe_http.close()


async def _measure(load: Load | None, agents: _Agents, url: str) -> Result:
    slow: list[Run] = []
    if load is not None:
        arguments = (SLOW, f"{url}/{SLOW}", load.probes, load.connectors, load.parallel)
        slow = [await asyncio.to_thread(_start, *arguments) for _ in range(load.runs)]
        await _dispatch(*slow)
        await agents.in_flight.wait()
    run = await asyncio.to_thread(_start, NEIGHBOUR, f"{url}/{NEIGHBOUR}", PROBES, 1, PARALLEL)
    started_at = time.perf_counter()
    await _dispatch(run)
    while True:
        progress = await asyncio.to_thread(barrier.get_progress, Tree.for_run(run))
        if progress.finished:
            break
        await asyncio.sleep(0.05)
    seconds = time.perf_counter() - started_at
    calls, answered = Counter(agents.calls), agents.answered
    for each in slow:
        await asyncio.to_thread(runs.transition, ref_of(each), Action.CANCEL, NOW)
    agents.release.set()
    return Result(seconds, progress.completed, calls, answered)
