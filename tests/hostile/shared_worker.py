"""One worker that runs the probes of a hostile workspace and of an ordinary one, which it must not affect."""

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from aiohttp import web

from cupel_core.accounts import keys as accounts
from cupel_core.domain.resources.connectors import PROVIDER
from cupel_core.domain.runs.run import Progress, Run
from cupel_core.providers import safe_http
from cupel_core.resources import connectors
from cupel_core.runs.probing.worker import Worker
from cupel_core.sandbox import pool
from cupel_core.store import barrier
from cupel_core.store.barrier import Tree
from cupel_core.store.settings import settings
from tests.hostile.attacks import HARMLESS, Behaviour
from tests.profiles import AFTER, content_of, operation, profile
from tests.started_runs import NOW, RATING, RunSetup, receive_bodies, send_and_receive, slice_message
from tests.unit.providers.agents import ReceivedRequest, serving

ORDINARY, OTHER = "ws_ordinary", "ws_other"
PROBES = 200
"""Of the ordinary workspace."""
LATENCY_SECONDS = 0.5
"""Most of a probe's time, as it is of a model's: moto's own CPU time varies more than the attacks take."""
MAX_PARALLEL = 20
"""Of each workspace; together fewer than a worker runs at the same time."""


class Round(NamedTuple):
    seconds: float
    """From the start of the worker to the last answer of the ordinary workspace."""
    calls: Counter[str]
    """By workspace."""
    ordinary: Progress
    is_other_over: bool
    """Whether every probe of the other workspace has an outcome."""
    left: int
    """Messages that are left in the queue."""


class _Agents:
    """The agents of both workspaces, which count their calls by workspace."""

    def __init__(self, behaviours: Sequence[Behaviour]) -> None:
        self.calls: Counter[str] = Counter()
        self.last_answer_at = 0.0
        self._behaviours = behaviours

    async def answer(self, request: ReceivedRequest) -> web.Response:
        workspace, number = request.path.split("/")[1:3]
        self.calls[workspace] += 1
        await asyncio.sleep(LATENCY_SECONDS)
        if workspace == ORDINARY:
            self.last_answer_at = time.perf_counter()
        reply = HARMLESS.reply if workspace == ORDINARY else self._behaviours[int(number)].reply
        return web.Response(text=reply, content_type="application/json")


def _started_run(workspace: str, url: str, behaviour: Behaviour, probes: int) -> Run:
    mapping = {"request": "{q: message}", "reply": "answer"} if behaviour.type == HARMLESS.type else {}
    config = {**mapping, **behaviour.config}
    made = connectors.create(
        workspace, {"name": f"agent {time.time_ns()}", "type": behaviour.type, "base_url": url, "config": config}, NOW
    )
    accounts.update_provider(workspace, PROVIDER, {"max_parallel_requests": MAX_PARALLEL})
    content = {**RATING, **behaviour.content}
    setup = RunSetup(probes, (f"{PROVIDER}/{made.item.id}",), workspace=workspace, content=content)
    return replace(setup, profile=_profile(behaviour.template)).start()


def _profile(template: str | None) -> dict[str, Any] | None:
    """Its only operation renders the template after each answer."""
    if template is None:
        return None
    content = content_of(profile(operation(hooks=[AFTER], params={"template": template}, effects=[])))
    return {"id": "prof_1", "name": "hostile", "version": 1, "enabled": True, "content": content}


async def run_beside(behaviours: Sequence[Behaviour], probes: int) -> Round:
    """The ordinary workspace's run beside one of the other workspace for each behaviour, in one worker."""
    pool.reset_budgets()
    agents = _Agents(behaviours)
    async with serving(agents.answer) as server:
        others = [
            _started_run(OTHER, f"{server.url}/{OTHER}/{number}", behaviour, probes)
            for number, behaviour in enumerate(behaviours)
        ]
        ordinary = _started_run(ORDINARY, f"{server.url}/{ORDINARY}/0", HARMLESS, PROBES)
        slices = [slice_message(other, list(range(probes))) for other in others]
        slices += [slice_message(ordinary, list(range(leaf * 100, leaf * 100 + 100)), leaf) for leaf in range(2)]
        deliveries = send_and_receive(*slices, provider=PROVIDER)
        started_at = time.perf_counter()
        await Worker(PROVIDER, time.time() + 300.0, receive_wait_seconds=0).run(deliveries)
        await safe_http.close()
    progress = barrier.get_progress(Tree.for_run(ordinary))
    is_over = all(barrier.get_progress(Tree.for_run(other)).finished for other in others)
    left = len(receive_bodies(settings().probe_queue_url(PROVIDER)))
    return Round(agents.last_answer_at - started_at, agents.calls, progress, is_over, left)
