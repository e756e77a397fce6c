"""The queues of a stack from the outside: what is in them, and who works on them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_COUNTS = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]


def url_of(sqs: Any, queue: str) -> str:
    """`queue` is its name without the stack's."""
    return str(sqs.get_queue_url(QueueName=f"cupel-{queue}")["QueueUrl"])


def count(sqs: Any, *queues: str) -> int:
    """Messages that are in these queues, in work or not."""
    told = [sqs.get_queue_attributes(QueueUrl=url_of(sqs, each), AttributeNames=_COUNTS) for each in queues]
    return sum(int(number) for answer in told for number in answer["Attributes"].values())


def visible(sqs: Any, url: str) -> int:
    """Messages that wait for a worker."""
    told = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=_COUNTS[:1])["Attributes"]
    return int(told[_COUNTS[0]])


def peek(sqs: Any, queue: str) -> list[dict[str, Any]]:
    """Up to ten messages, which others can still receive."""
    answer = sqs.receive_message(QueueUrl=url_of(sqs, queue), MaxNumberOfMessages=10, VisibilityTimeout=0)
    found: list[dict[str, Any]] = answer.get("Messages", [])
    return found


@contextmanager
def held(functions: Any, queue: str) -> Iterator[None]:
    """Nobody works on the queue in the meantime. `functions` is a client of Lambda."""
    sources = functions.list_event_source_mappings()["EventSourceMappings"]
    source = next(each["UUID"] for each in sources if each["EventSourceArn"].endswith(f":cupel-{queue}"))
    functions.update_event_source_mapping(UUID=source, Enabled=False)
    try:
        yield
    finally:
        functions.update_event_source_mapping(UUID=source, Enabled=True)
