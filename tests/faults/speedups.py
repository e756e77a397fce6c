"""Shorter timeouts for the probe function of a running stack, so that work held by a crash is released during a test.

The same effect as the parameters ProbeTimeoutSeconds and CallTimeoutSeconds, but without another stack.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.queues import queue_url

PROBE = "cupel-probe"
INVOCATION_SECONDS = 30
CALL_SECONDS = 8
VISIBILITY_SECONDS = 33
"""A little longer than an invocation, as in template.yaml."""

type Aws = Callable[[str], Any]


@contextmanager
def short_timeouts(aws: Aws, queue: str) -> Iterator[None]:
    """Invocations of 30 s with calls of at most 8 s, and a queue that redelivers a lost message after 33 s."""
    functions, sqs, url = aws("lambda"), aws("sqs"), queue_url(aws("sqs"), queue)
    before = functions.get_function_configuration(FunctionName=PROBE)
    variables = before["Environment"]["Variables"]
    visibility = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["VisibilityTimeout"])["Attributes"]
    _configure(functions, INVOCATION_SECONDS, variables | {"CALL_TIMEOUT_SECONDS": str(CALL_SECONDS)})
    sqs.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": str(VISIBILITY_SECONDS)})
    try:
        yield
    finally:  # With new clients: a restart of the cloud changes its access key.
        _configure(aws("lambda"), before["Timeout"], variables)
        aws("sqs").set_queue_attributes(QueueUrl=url, Attributes=visibility)


def _configure(functions: Any, timeout: int, variables: dict[str, str]) -> None:
    functions.update_function_configuration(FunctionName=PROBE, Timeout=timeout, Environment={"Variables": variables})
    while functions.get_function_configuration(FunctionName=PROBE).get("LastUpdateStatus") == "InProgress":
        time.sleep(0.1)
