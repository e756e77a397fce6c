"""Jobs, carried out while a page is open."""

from concurrent.futures import ThreadPoolExecutor

from analyze import app as analyze
from cupel_core.settings import settings
from cupel_core.store import queues
from tests.lambda_context import Context


def carry_out_jobs() -> None:
    """Deliver the messages of the analyze queue."""
    deliveries = queues.receive(settings().analyze_queue_url, 10)
    records = [{"messageId": str(n), "body": each.body} for n, each in enumerate(deliveries)]
    with ThreadPoolExecutor(1) as pool:  # Playwright has an event loop in this thread.
        done = pool.submit(analyze.handler, {"Records": records}, Context())
    assert done.result() == {"batchItemFailures": []}
    queues.delete(deliveries)
