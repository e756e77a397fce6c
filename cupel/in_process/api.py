"""`evaluate`: a definition held against targets in this process, without any cloud."""

import asyncio
import sys
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Unpack
from weakref import WeakKeyDictionary

from cupel.errors import WrongUse
from cupel.in_process.definition import Definition
from cupel.in_process.evaluation import Evaluation
from cupel.in_process.options import Options
from cupel.in_process.plan import Targets, order
from cupel.in_process.runner import Holding

_users: WeakKeyDictionary[asyncio.AbstractEventLoop, int] = WeakKeyDictionary()
"""Evaluations under way in a loop: they share its connections, and the last one closes them."""
_CLIENTS = ("cupel_core.providers.http", "cupel_core.providers.safe_http")


def evaluate(definition: Definition, targets: Targets, **options: Unpack[Options]) -> Evaluation:
    """Holds every probe of the plan and answers what they came to.

    `definition` is the path of a file, or a mapping of what a file holds. `targets` is one target or several: a model
    (`openai/gpt-5-mini`), a connector of the definition (`connector/<name>`), a mapping that describes one, or a Python
    function. The options are those of `Options`.

    A probe that errors is in the results and stops nothing. Raises WrongUse before anything is asked when something
    cannot be carried out, and whatever a callback raises, which ends the evaluation as Ctrl-C does: no further call is
    made, and those under way are given up.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(evaluate_async(definition, targets, **options))
    raise WrongUse("an event loop is running here, as in a notebook: use `await evaluate_async(…)`")


async def evaluate_async(definition: Definition, targets: Targets, **options: Unpack[Options]) -> Evaluation:
    """As `evaluate`, within a running event loop."""
    asked = order(definition, targets, options)
    threads = ThreadPoolExecutor(asked.max_concurrency, thread_name_prefix="cupel-agent")
    try:
        async with _connections():
            results = await Holding(asked, threads).results()
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
    return Evaluation(
        id=asked.id,
        name=asked.subject.name,
        targets=asked.plan.targets,
        results=results,
        seed=asked.seed,
        sample_percentage=options.get("sample_percentage", 100),
        repeats=asked.plan.repeats,
        configuration=asked.configuration,
        temperature=options.get("temperature"),
        max_turns=options.get("max_turns"),
    )


@asynccontextmanager
async def _connections() -> AsyncIterator[None]:
    """Those that the providers keep open for their event loop, closed after the last evaluation in it."""
    loop = asyncio.get_running_loop()
    _users[loop] = _users.get(loop, 0) + 1
    try:
        yield
    finally:
        _users[loop] -= 1
        if not _users[loop]:
            # What was never loaded has opened nothing, and loading it takes longer than a short evaluation.
            for client in filter(None, map(sys.modules.get, _CLIENTS)):
                await client.close()
