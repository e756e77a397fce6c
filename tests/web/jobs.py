"""Jobs, carried out while a page is open."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from analyze import app as analyze
from cupel_core.store import queues
from cupel_core.store.settings import settings
from tests.lambda_context import Context
from turn import app as turn


def carry_out_jobs() -> None:
    """Deliver the messages of the analyze queue."""
    _deliver(settings().analyze_queue_url, analyze.handler)


def carry_out_turns() -> None:
    """Deliver the messages of the turn queue."""
    _deliver(settings().turn_queue_url, turn.handler)


def _deliver(queue_url: str, handler: Callable[[Any, Any], Any]) -> None:
    deliveries = queues.receive(queue_url, 10)
    records = [{"messageId": str(n), "body": each.body} for n, each in enumerate(deliveries)]
    with ThreadPoolExecutor(1) as pool:  # Playwright has an event loop in this thread.
        done = pool.submit(handler, {"Records": records}, Context())
    assert done.result() == {"batchItemFailures": []}
    queues.delete(deliveries)
