"""SQS in memory: visibility, receive counts, delays, dead letters; no order, and sometimes twice."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from random import Random
from typing import Any

from tests.simulation.services import Refused


@dataclass
class Letter:
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
        self.letters: dict[str, Letter] = {}


class Queues:
    """`stir` is told when a queue's message becomes visible: name, seconds from now."""

    def __init__(self, clock: Callable[[], float], rng: Random, stir: Callable[[str, float], None]) -> None:
        self._clock = clock
        self._rng = rng
        self._stir = stir
        self._queues: dict[str, Queue] = {}
        self._numbers = count()
        self.twice_rate = 0.0
        """How often a received message is delivered to somebody else too, or comes back after its deletion."""
        self.most_receives = 5
        self.doubled = 0
        self.expired = 0

    def create(self, name: str, visibility_seconds: float) -> None:
        dead = Queue(f"{name}-dlq", 30.0, None)
        self._queues[dead.name] = dead
        self._queues[name] = Queue(name, visibility_seconds, dead)

    def named(self, url: str) -> Queue:
        name = url.rpartition("/")[2]
        if name not in self._queues:
            raise Refused("AWS.SimpleQueueService.NonExistentQueue", name)
        return self._queues[name]

    def is_quiet(self) -> bool:
        return not any(queue.letters for queue in self._queues.values() if queue.dead_letters is not None)

    def execute(self, operation: str, request: Any) -> Any:
        return getattr(self, f"_{operation}")(self.named(request["QueueUrl"]), request)

    def _SendMessage(self, queue: Queue, request: Any) -> Any:  # noqa: N802
        return {"MessageId": self._put(queue, request)}

    def _SendMessageBatch(self, queue: Queue, request: Any) -> Any:  # noqa: N802
        if not 0 < len(request["Entries"]) <= 10:
            raise Refused("AWS.SimpleQueueService.TooManyEntriesInBatchRequest")
        sent = [entry for entry in request["Entries"] if self._rng.random() >= self.twice_rate / 4]
        failed = [entry["Id"] for entry in request["Entries"] if entry not in sent]
        return {
            "Successful": [{"Id": entry["Id"], "MessageId": self._put(queue, entry)} for entry in sent],
            "Failed": [{"Id": name, "Code": "InternalError", "SenderFault": False} for name in failed],
        }

    def _put(self, queue: Queue, entry: Any) -> str:
        letter = Letter(f"m{next(self._numbers)}", entry["MessageBody"], 0.0, entry.get("MessageGroupId"))
        queue.letters[letter.id] = letter
        self._show(queue, letter, entry.get("DelaySeconds") or 0)
        return letter.id

    def _show(self, queue: Queue, letter: Letter, seconds: float) -> None:
        letter.visible_at = self._clock() + seconds
        self._stir(queue.name, seconds)

    def _ReceiveMessage(self, queue: Queue, request: Any) -> Any:  # noqa: N802
        visibility = request.get("VisibilityTimeout", queue.visibility_seconds)
        found = self.receive(queue, request.get("MaxNumberOfMessages", 1), visibility)
        return {"Messages": [_message(letter) for letter in found]} if found else {}

    def receive(self, queue: Queue, most: int, visibility_seconds: float | None = None) -> list[Letter]:
        """In no order; a message that was received too often goes to the dead letters instead."""
        visible = [letter for letter in queue.letters.values() if letter.visible_at <= self._clock()]
        self._rng.shuffle(visible)
        found: list[Letter] = []
        for letter in visible:
            if len(found) < most and not self._bury(queue, letter):
                found.append(self._deliver(queue, letter, visibility_seconds))
        return found

    def _bury(self, queue: Queue, letter: Letter) -> bool:
        if queue.dead_letters is None or letter.receives < self.most_receives:
            return False
        del queue.letters[letter.id]
        queue.dead_letters.letters[letter.id] = letter
        letter.visible_at = self._clock()
        return True

    def _deliver(self, queue: Queue, letter: Letter, visibility_seconds: float | None) -> Letter:
        letter.receives += 1
        letter.receipt = f"{letter.id}.{letter.receives}"
        hidden = queue.visibility_seconds if visibility_seconds is None else visibility_seconds
        if hidden and self._rng.random() < self.twice_rate:
            self.doubled += 1
            hidden = self._rng.uniform(0, 3)
        elif hidden and self._rng.random() < self.twice_rate / 2:
            self.expired += 1
            hidden = self._rng.uniform(3, 40)
        self._show(queue, letter, hidden)
        return Letter(letter.id, letter.body, 0.0, letter.group, letter.receives, letter.receipt)

    def _DeleteMessage(self, queue: Queue, request: Any) -> Any:  # noqa: N802
        self.delete(queue, request["ReceiptHandle"])
        return {}

    def _DeleteMessageBatch(self, queue: Queue, request: Any) -> Any:  # noqa: N802
        for entry in request["Entries"]:
            self.delete(queue, entry["ReceiptHandle"])
        return {"Successful": [{"Id": entry["Id"]} for entry in request["Entries"]], "Failed": []}

    def delete(self, queue: Queue, receipt: str) -> None:
        """An old receipt may or may not delete, and rarely a copy of a deleted message is left."""
        letter = queue.letters.get(receipt.partition(".")[0])
        if letter is None or (letter.receipt != receipt and self._rng.random() < 0.5):
            return
        if self._rng.random() < self.twice_rate / 4:
            self.doubled += 1
            self._show(queue, letter, self._rng.uniform(0, 30))
            return
        del queue.letters[letter.id]

    def _ChangeMessageVisibility(self, queue: Queue, request: Any) -> Any:  # noqa: N802
        letter = queue.letters.get(request["ReceiptHandle"].partition(".")[0])
        if letter is None or letter.receipt != request["ReceiptHandle"]:
            raise Refused("InvalidParameterValue", "the receipt handle has expired")
        self._show(queue, letter, request["VisibilityTimeout"])
        return {}

    def _ChangeMessageVisibilityBatch(self, queue: Queue, request: Any) -> Any:  # noqa: N802
        for entry in request["Entries"]:
            with suppress(Refused):
                self._ChangeMessageVisibility(queue, entry)
        return {"Successful": [{"Id": entry["Id"]} for entry in request["Entries"]], "Failed": []}

    def _GetQueueAttributes(self, queue: Queue, _: Any) -> Any:  # noqa: N802
        now, letters = self._clock(), list(queue.letters.values())
        visible = sum(letter.visible_at <= now for letter in letters)
        delayed = sum(letter.visible_at > now and not letter.receives for letter in letters)
        attributes = {
            "ApproximateNumberOfMessages": visible,
            "ApproximateNumberOfMessagesDelayed": delayed,
            "ApproximateNumberOfMessagesNotVisible": len(letters) - visible - delayed,
        }
        return {"Attributes": {name: str(value) for name, value in attributes.items()}}


def _message(letter: Letter) -> Any:
    return {
        "MessageId": letter.id,
        "ReceiptHandle": letter.receipt,
        "Body": letter.body,
        "Attributes": {"ApproximateReceiveCount": str(letter.receives), "MessageGroupId": letter.group or ""},
    }
