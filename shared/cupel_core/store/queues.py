from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import batched
from typing import TYPE_CHECKING, Any, NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.base.errors import RetryableError
from cupel_core.base.messages import QueueMessage
from cupel_core.store.clients import AWS_ERRORS, sqs

if TYPE_CHECKING:
    from mypy_boto3_sqs.type_defs import ReceiveMessageResultTypeDef, SendMessageBatchRequestEntryTypeDef

_MAX_BATCH_SIZE = 10
_MAX_ATTEMPTS = 3
_TAKEN_SECONDS = 60
MAX_DELAY_SECONDS = 900
MAX_VISIBILITY_SECONDS = 43_200


class QueueDepth(NamedTuple):
    waiting: int
    in_flight: int
    delayed: int

    @property
    def total(self) -> int:
        return sum(self)


@dataclass(frozen=True)
class Delivery:
    """A received message. Deleting it requires its `receipt` handle."""

    queue_url: str
    id: str
    receipt: str
    body: str
    receive_count: int


def send(queue_url: str, messages: Sequence[QueueMessage], delay_seconds: int = 0, group: str | None = None) -> None:
    """Send all messages. Raise RetryableError if some could not be sent; sending all again is safe. The queues are
    standard fair queues: a `group` (a workspace) that fills a queue does not delay those of others."""
    for batch in batched(messages, _MAX_BATCH_SIZE):
        _send_batch(queue_url, batch, min(delay_seconds, MAX_DELAY_SECONDS), group)


def _send_batch(queue_url: str, messages: Sequence[QueueMessage], delay_seconds: int, group: str | None) -> None:
    entries: list[SendMessageBatchRequestEntryTypeDef] = [
        {"Id": str(number), "MessageBody": message.to_body(), "DelaySeconds": delay_seconds}
        for number, message in enumerate(messages)
    ]
    if group is not None:
        for entry in entries:
            entry["MessageGroupId"] = group
    for _ in range(_MAX_ATTEMPTS):
        failed = {
            entry["Id"] for entry in sqs().send_message_batch(QueueUrl=queue_url, Entries=entries).get("Failed", [])
        }
        entries = [entry for entry in entries if entry["Id"] in failed]
        if not entries:
            return
    raise RetryableError(f"the queue refused {len(entries)} of {len(messages)} messages")


def receive(
    queue_url: str, max_messages: int, wait_seconds: int = 0, hidden_seconds: int | None = None
) -> list[Delivery]:
    """Receive up to `max_messages` (at most 10). They are hidden from others for `hidden_seconds`, or for the queue's
    default."""
    hidden: dict[str, Any] = {} if hidden_seconds is None else {"VisibilityTimeout": hidden_seconds}
    response = sqs().receive_message(
        QueueUrl=queue_url,
        MaxNumberOfMessages=min(max_messages, _MAX_BATCH_SIZE),
        WaitTimeSeconds=wait_seconds,
        MessageSystemAttributeNames=["ApproximateReceiveCount"],
        **hidden,
    )
    return _deliveries(queue_url, response)


def hide(deliveries: Sequence[Delivery], seconds: int) -> None:
    """Hide received messages from others for `seconds` from now. One that cannot be hidden may be delivered twice."""
    for queue_url, group in _by_queue(deliveries):
        for batch in batched(group, _MAX_BATCH_SIZE):
            entries = [
                {"Id": str(n), "ReceiptHandle": delivery.receipt, "VisibilityTimeout": seconds}
                for n, delivery in enumerate(batch)
            ]
            with suppress(*AWS_ERRORS):
                sqs().change_message_visibility_batch(QueueUrl=queue_url, Entries=entries)  # type: ignore[arg-type]


def peek(queue_url: str, max_messages: int) -> list[Delivery]:
    """Return about `max_messages` messages, without removing them from the queue."""
    deliveries = take(queue_url, max_messages)
    release(deliveries)
    return deliveries


def take(queue_url: str, max_messages: int) -> list[Delivery]:
    """Return about `max_messages` messages, hidden until they are deleted or released, for at most a minute. They are
    hidden because otherwise the queue would return the same ten each time."""
    deliveries: dict[str, Delivery] = {}
    while len(deliveries) < max_messages:
        response = sqs().receive_message(
            QueueUrl=queue_url,
            MaxNumberOfMessages=_MAX_BATCH_SIZE,
            VisibilityTimeout=_TAKEN_SECONDS,
            MessageSystemAttributeNames=["ApproximateReceiveCount"],
        )
        fresh = [delivery for delivery in _deliveries(queue_url, response) if delivery.id not in deliveries]
        if not fresh:
            break
        deliveries |= {delivery.id: delivery for delivery in fresh}
    return list(deliveries.values())


def release(deliveries: Sequence[Delivery]) -> None:
    """Make taken messages visible again. If that fails, they become visible after a minute."""
    hide(deliveries, 0)


def _deliveries(queue_url: str, response: "ReceiveMessageResultTypeDef") -> list[Delivery]:
    return [
        Delivery(
            queue_url,
            message["MessageId"],
            message["ReceiptHandle"],
            message["Body"],
            int(message["Attributes"]["ApproximateReceiveCount"]),
        )
        for message in response.get("Messages", [])
    ]


def get_depth(queue_url: str) -> QueueDepth:
    counts = sqs().get_queue_attributes(
        QueueUrl=queue_url,
        AttributeNames=[
            "ApproximateNumberOfMessages",
            "ApproximateNumberOfMessagesNotVisible",
            "ApproximateNumberOfMessagesDelayed",
        ],
    )["Attributes"]
    return QueueDepth(
        int(counts["ApproximateNumberOfMessages"]),
        int(counts["ApproximateNumberOfMessagesNotVisible"]),
        int(counts["ApproximateNumberOfMessagesDelayed"]),
    )


def delete(deliveries: Sequence[Delivery]) -> None:
    """Acknowledge messages. One that could not be deleted is redelivered, which is harmless."""
    for queue_url, group in _by_queue(deliveries):
        for batch in batched(group, _MAX_BATCH_SIZE):
            entries = [{"Id": str(n), "ReceiptHandle": delivery.receipt} for n, delivery in enumerate(batch)]
            sqs().delete_message_batch(QueueUrl=queue_url, Entries=entries)  # type: ignore[arg-type]


def redeliver_after(delivery: Delivery, after_seconds: float) -> None:
    """Redeliver an unacknowledged message after this time. If the call fails, the queue's own timeout applies."""
    seconds = int(max(0, min(after_seconds, MAX_VISIBILITY_SECONDS)))
    with suppress(*AWS_ERRORS):
        sqs().change_message_visibility(
            QueueUrl=delivery.queue_url, ReceiptHandle=delivery.receipt, VisibilityTimeout=seconds
        )


def _by_queue(deliveries: Sequence[Delivery]) -> Iterator[tuple[str, list[Delivery]]]:
    for queue_url in dict.fromkeys(delivery.queue_url for delivery in deliveries):
        yield queue_url, [delivery for delivery in deliveries if delivery.queue_url == queue_url]
