"""Sending, receiving and deleting messages, with the partial failures that batches have."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import batched
from typing import TYPE_CHECKING, NamedTuple

from cupel_core.errors import RetryableError
from cupel_core.messages import Message
from cupel_core.store.clients import AWS_ERRORS, sqs

if TYPE_CHECKING:
    from mypy_boto3_sqs.type_defs import ReceiveMessageResultTypeDef, SendMessageBatchRequestEntryTypeDef

_BATCH = 10
_ROUNDS = 3
_LOOK_SECONDS = 60
MAX_DELAY_SECONDS = 900
MAX_VISIBILITY_SECONDS = 43_200


class Depth(NamedTuple):
    """How many messages a queue holds."""

    waiting: int
    in_flight: int
    delayed: int

    @property
    def total(self) -> int:
        return sum(self)


@dataclass(frozen=True)
class Delivery:
    """A received message; `receipt` is what deletes it."""

    queue_url: str
    id: str
    receipt: str
    body: str
    receive_count: int


def send(queue_url: str, messages: Sequence[Message], delay_seconds: int = 0, group: str | None = None) -> None:
    """All of the messages, or RetryableError: some may have been sent then, and sending again is safe.

    Queues are standard ones. `group` is whom SQS is fair to: a run whose messages fill the queue does not keep those
    of another waiting (fair queues).
    """
    for batch in batched(messages, _BATCH, strict=False):
        _send_batch(queue_url, batch, min(delay_seconds, MAX_DELAY_SECONDS), group)


def _send_batch(queue_url: str, messages: Sequence[Message], delay_seconds: int, group: str | None) -> None:
    entries: list[SendMessageBatchRequestEntryTypeDef] = [
        {"Id": str(number), "MessageBody": message.to_body(), "DelaySeconds": delay_seconds}
        for number, message in enumerate(messages)
    ]
    if group is not None:
        for entry in entries:
            entry["MessageGroupId"] = group
    for _ in range(_ROUNDS):
        failed = {
            entry["Id"] for entry in sqs().send_message_batch(QueueUrl=queue_url, Entries=entries).get("Failed", [])
        }
        entries = [entry for entry in entries if entry["Id"] in failed]
        if not entries:
            return
    raise RetryableError(f"the queue refused {len(entries)} of {len(messages)} messages")


def receive(queue_url: str, most: int, wait_seconds: int = 0) -> list[Delivery]:
    """Up to `most` (at most 10) messages, hidden from others for the queue's visibility timeout."""
    answer = sqs().receive_message(
        QueueUrl=queue_url,
        MaxNumberOfMessages=min(most, _BATCH),
        WaitTimeSeconds=wait_seconds,
        MessageSystemAttributeNames=["ApproximateReceiveCount"],
    )
    return _deliveries(queue_url, answer)


def peek(queue_url: str, most: int) -> list[Delivery]:
    """Up to about `most` messages, which stay where they are."""
    found = take(queue_url, most)
    give_back(found)
    return found


def take(queue_url: str, most: int) -> list[Delivery]:
    """Up to about `most` messages, hidden from others until they are deleted or given back, for a minute at most.

    Hidden, because a queue looked through without that tells the same ten again and again.
    """
    found: dict[str, Delivery] = {}
    while len(found) < most:
        answer = sqs().receive_message(
            QueueUrl=queue_url,
            MaxNumberOfMessages=_BATCH,
            VisibilityTimeout=_LOOK_SECONDS,
            MessageSystemAttributeNames=["ApproximateReceiveCount"],
        )
        fresh = [delivery for delivery in _deliveries(queue_url, answer) if delivery.id not in found]
        if not fresh:
            break
        found |= {delivery.id: delivery for delivery in fresh}
    return list(found.values())


def give_back(deliveries: Sequence[Delivery]) -> None:
    """Shows messages again that were taken; where that fails, they show themselves."""
    for queue_url, group in _by_queue(deliveries):
        for batch in batched(group, _BATCH, strict=False):
            entries = [
                {"Id": str(n), "ReceiptHandle": delivery.receipt, "VisibilityTimeout": 0}
                for n, delivery in enumerate(batch)
            ]
            with suppress(*AWS_ERRORS):
                sqs().change_message_visibility_batch(QueueUrl=queue_url, Entries=entries)  # type: ignore[arg-type]


def _deliveries(queue_url: str, answer: "ReceiveMessageResultTypeDef") -> list[Delivery]:
    return [
        Delivery(
            queue_url,
            message["MessageId"],
            message["ReceiptHandle"],
            message["Body"],
            int(message["Attributes"]["ApproximateReceiveCount"]),
        )
        for message in answer.get("Messages", [])
    ]


def depth(queue_url: str) -> Depth:
    """Approximate, as SQS counts."""
    counts = sqs().get_queue_attributes(
        QueueUrl=queue_url,
        AttributeNames=[
            "ApproximateNumberOfMessages",
            "ApproximateNumberOfMessagesNotVisible",
            "ApproximateNumberOfMessagesDelayed",
        ],
    )["Attributes"]
    return Depth(
        int(counts["ApproximateNumberOfMessages"]),
        int(counts["ApproximateNumberOfMessagesNotVisible"]),
        int(counts["ApproximateNumberOfMessagesDelayed"]),
    )


def delete(deliveries: Sequence[Delivery]) -> None:
    """Acknowledges; a message that could not be deleted comes again and finds its work done."""
    for queue_url, group in _by_queue(deliveries):
        for batch in batched(group, _BATCH, strict=False):
            entries = [{"Id": str(n), "ReceiptHandle": delivery.receipt} for n, delivery in enumerate(batch)]
            sqs().delete_message_batch(QueueUrl=queue_url, Entries=entries)  # type: ignore[arg-type]


def show_again(delivery: Delivery, after_seconds: float) -> None:
    """Lets a message that was not acknowledged come again after this time; where that fails, after the queue's own."""
    seconds = int(max(0, min(after_seconds, MAX_VISIBILITY_SECONDS)))
    with suppress(*AWS_ERRORS):
        sqs().change_message_visibility(
            QueueUrl=delivery.queue_url, ReceiptHandle=delivery.receipt, VisibilityTimeout=seconds
        )


def _by_queue(deliveries: Sequence[Delivery]) -> Iterator[tuple[str, list[Delivery]]]:
    for queue_url in dict.fromkeys(delivery.queue_url for delivery in deliveries):
        yield queue_url, [delivery for delivery in deliveries if delivery.queue_url == queue_url]
