"""A stack's queues: their messages and their event source mappings."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_COUNTS = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]


def queue_url(sqs: Any, queue: str) -> str:
    """`queue` is the name without the stack name as prefix."""
    return str(sqs.get_queue_url(QueueName=f"cupel-{queue}")["QueueUrl"])


def count_messages(sqs: Any, *queues: str) -> int:
    """The number of messages in these queues, visible or being processed."""
    responses = [sqs.get_queue_attributes(QueueUrl=queue_url(sqs, queue), AttributeNames=_COUNTS) for queue in queues]
    return sum(int(number) for response in responses for number in response["Attributes"].values())


def count_visible(sqs: Any, url: str) -> int:
    """The number of messages waiting for a worker."""
    attributes = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=_COUNTS[:1])["Attributes"]
    return int(attributes[_COUNTS[0]])


def peek(sqs: Any, queue: str) -> list[dict[str, Any]]:
    """Up to ten messages, which remain visible to others."""
    response = sqs.receive_message(QueueUrl=queue_url(sqs, queue), MaxNumberOfMessages=10, VisibilityTimeout=0)
    messages: list[dict[str, Any]] = response.get("Messages", [])
    return messages


@contextmanager
def source_disabled(functions: Any, queue: str) -> Iterator[None]:
    """Disable the queue's event source mapping for the duration. `functions` is a Lambda client."""
    sources = functions.list_event_source_mappings()["EventSourceMappings"]
    source_id = next(source["UUID"] for source in sources if source["EventSourceArn"].endswith(f":cupel-{queue}"))
    functions.update_event_source_mapping(UUID=source_id, Enabled=False)
    try:
        yield
    finally:
        functions.update_event_source_mapping(UUID=source_id, Enabled=True)
