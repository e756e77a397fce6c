"""In-memory SQS: visibility timeouts, receive counts, delays, dead letters; unordered, with duplicate deliveries."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from random import Random
from typing import Any

from tests.simulation.services import ServiceError


@dataclass
class QueuedMessage:
    id: str
    body: str
    visible_at: float
    group: str | None = None
    receives: int = 0
    receipt: str = ""


class Queue:
    def __init__(self, name: str, visibility_seconds: float, dead_letters: "Queue | None") -> None:
        self.name = name
        self.visibility_seconds = visibility_seconds
        self.dead_letters = dead_letters
        self.messages: dict[str, QueuedMessage] = {}


class Queues:
    """`notify` is called with a queue's name and in how many seconds one of its messages becomes visible."""

    def __init__(self, clock: Callable[[], float], rng: Random, notify: Callable[[str, float], None]) -> None:
        self._clock = clock
        self._rng = rng
        self._notify = notify
        self._queues: dict[str, Queue] = {}
        self._numbers = count()
        self.duplicate_rate = 0.0
        """How often a received message is also delivered to another receiver, or reappears after its deletion."""
        self.max_receives = 5
        self.duplicated_count = 0
        self.expired_count = 0

    def create(self, name: str, visibility_seconds: float) -> None:
        dead_letters = Queue(f"{name}-dlq", 30.0, None)
        self._queues[dead_letters.name] = dead_letters
        self._queues[name] = Queue(name, visibility_seconds, dead_letters)

    def get_queue(self, url: str) -> Queue:
        name = url.rpartition("/")[2]
        if name not in self._queues:
            raise ServiceError("AWS.SimpleQueueService.NonExistentQueue", name)
        return self._queues[name]

    def is_quiet(self) -> bool:
        return not any(queue.messages for queue in self._queues.values() if queue.dead_letters is not None)

    def has_dead_letters(self, name: str) -> bool:
        return bool(self._queues[f"{name}-dlq"].messages)

    def execute(self, operation: str, request: Any) -> Any:
        return getattr(self, f"_{operation}")(self.get_queue(request["QueueUrl"]), request)

    def _SendMessage(self, queue: Queue, request: Any) -> Any:  # noqa: N802
        return {"MessageId": self._put(queue, request)}

    def _SendMessageBatch(self, queue: Queue, request: Any) -> Any:  # noqa: N802
        if not 0 < len(request["Entries"]) <= 10:
            raise ServiceError("AWS.SimpleQueueService.TooManyEntriesInBatchRequest")
        sent = [entry for entry in request["Entries"] if self._rng.random() >= self.duplicate_rate / 4]
        failed = [entry["Id"] for entry in request["Entries"] if entry not in sent]
        return {
            "Successful": [{"Id": entry["Id"], "MessageId": self._put(queue, entry)} for entry in sent],
            "Failed": [{"Id": name, "Code": "InternalError", "SenderFault": False} for name in failed],
        }

    def _put(self, queue: Queue, entry: Any) -> str:
        message = QueuedMessage(f"m{next(self._numbers)}", entry["MessageBody"], 0.0, entry.get("MessageGroupId"))
        queue.messages[message.id] = message
        self._show_after(queue, message, entry.get("DelaySeconds") or 0)
        return message.id

    def _show_after(self, queue: Queue, message: QueuedMessage, seconds: float) -> None:
        message.visible_at = self._clock() + seconds
        self._notify(queue.name, seconds)

    def _ReceiveMessage(self, queue: Queue, request: Any) -> Any:  # noqa: N802
        visibility = request.get("VisibilityTimeout", queue.visibility_seconds)
        received = self.receive(queue, request.get("MaxNumberOfMessages", 1), visibility)
        return {"Messages": [_message(message) for message in received]} if received else {}

    def receive(self, queue: Queue, max_messages: int, visibility_seconds: float | None = None) -> list[QueuedMessage]:
        """In random order; a message that was received too often moves to the dead letters instead."""
        visible = [message for message in queue.messages.values() if message.visible_at <= self._clock()]
        self._rng.shuffle(visible)
        received: list[QueuedMessage] = []
        for message in visible:
            if len(received) < max_messages and not self._move_to_dead_letters(queue, message):
                received.append(self._deliver(queue, message, visibility_seconds))
        return received

    def _move_to_dead_letters(self, queue: Queue, message: QueuedMessage) -> bool:
        if queue.dead_letters is None or message.receives < self.max_receives:
            return False
        del queue.messages[message.id]
        queue.dead_letters.messages[message.id] = message
        message.visible_at = self._clock()
        return True

    def _deliver(self, queue: Queue, message: QueuedMessage, visibility_seconds: float | None) -> QueuedMessage:
        message.receives += 1
        message.receipt = f"{message.id}.{message.receives}"
        hidden_seconds = queue.visibility_seconds if visibility_seconds is None else visibility_seconds
        if hidden_seconds and self._rng.random() < self.duplicate_rate:
            self.duplicated_count += 1
            hidden_seconds = self._rng.uniform(0, 3)
        elif hidden_seconds and self._rng.random() < self.duplicate_rate / 2:
            self.expired_count += 1
            hidden_seconds = self._rng.uniform(3, 40)
        self._show_after(queue, message, hidden_seconds)
        return QueuedMessage(message.id, message.body, 0.0, message.group, message.receives, message.receipt)

    def _DeleteMessage(self, queue: Queue, request: Any) -> Any:  # noqa: N802
        self.delete(queue, request["ReceiptHandle"])
        return {}

    def _DeleteMessageBatch(self, queue: Queue, request: Any) -> Any:  # noqa: N802
        for entry in request["Entries"]:
            self.delete(queue, entry["ReceiptHandle"])
        return {"Successful": [{"Id": entry["Id"]} for entry in request["Entries"]], "Failed": []}

    def delete(self, queue: Queue, receipt: str) -> None:
        """An old receipt may or may not delete the message, and rarely a copy of a deleted message remains."""
        message = queue.messages.get(receipt.partition(".")[0])
        if message is None or (message.receipt != receipt and self._rng.random() < 0.5):
            return
        if self._rng.random() < self.duplicate_rate / 4:
            self.duplicated_count += 1
            self._show_after(queue, message, self._rng.uniform(0, 30))
            return
        del queue.messages[message.id]

    def _ChangeMessageVisibility(self, queue: Queue, request: Any) -> Any:  # noqa: N802
        message = queue.messages.get(request["ReceiptHandle"].partition(".")[0])
        if message is None or message.receipt != request["ReceiptHandle"]:
            raise ServiceError("InvalidParameterValue", "the receipt handle has expired")
        self._show_after(queue, message, request["VisibilityTimeout"])
        return {}

    def _ChangeMessageVisibilityBatch(self, queue: Queue, request: Any) -> Any:  # noqa: N802
        for entry in request["Entries"]:
            with suppress(ServiceError):
                self._ChangeMessageVisibility(queue, entry)
        return {"Successful": [{"Id": entry["Id"]} for entry in request["Entries"]], "Failed": []}

    def _GetQueueAttributes(self, queue: Queue, _: Any) -> Any:  # noqa: N802
        now, messages = self._clock(), list(queue.messages.values())
        visible = sum(message.visible_at <= now for message in messages)
        delayed = sum(message.visible_at > now and not message.receives for message in messages)
        attributes = {
            "ApproximateNumberOfMessages": visible,
            "ApproximateNumberOfMessagesDelayed": delayed,
            "ApproximateNumberOfMessagesNotVisible": len(messages) - visible - delayed,
        }
        return {"Attributes": {name: str(value) for name, value in attributes.items()}}


def _message(message: QueuedMessage) -> Any:
    return {
        "MessageId": message.id,
        "ReceiptHandle": message.receipt,
        "Body": message.body,
        "Attributes": {"ApproximateReceiveCount": str(message.receives), "MessageGroupId": message.group or ""},
    }
