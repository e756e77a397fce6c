"""A stack whose probe function has less time, so that what a crash holds is free again while a test waits.

As the parameters ProbeTimeoutSeconds and CallTimeoutSeconds would set it, but without another stack.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.queues import url_of

PROBE = "cupel-probe"
INVOCATION_SECONDS = 15
CALL_SECONDS = 2
HIDDEN_SECONDS = 18
"""A little longer than an invocation, as in template.yaml."""

type Aws = Callable[[str], Any]


@contextmanager
def hurried(aws: Aws, queue: str) -> Iterator[None]:
    """Invocations of 15 s with calls of at most 2 s, and a queue that shows a lost message again after 18 s."""
    functions, sqs, url = aws("lambda"), aws("sqs"), url_of(aws("sqs"), queue)
    was = functions.get_function_configuration(FunctionName=PROBE)
    variables = was["Environment"]["Variables"]
    hidden = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["VisibilityTimeout"])["Attributes"]
    _configure(functions, INVOCATION_SECONDS, variables | {"CALL_TIMEOUT_SECONDS": str(CALL_SECONDS)})
    sqs.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": str(HIDDEN_SECONDS)})
    try:
        yield
    finally:
        _configure(functions, was["Timeout"], variables)
        sqs.set_queue_attributes(QueueUrl=url, Attributes=hidden)


def _configure(functions: Any, timeout: int, variables: dict[str, str]) -> None:
    functions.update_function_configuration(FunctionName=PROBE, Timeout=timeout, Environment={"Variables": variables})
    while functions.get_function_configuration(FunctionName=PROBE).get("LastUpdateStatus") == "InProgress":
        time.sleep(0.1)
