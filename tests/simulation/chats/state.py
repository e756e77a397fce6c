"""What is stored of chats, decoded write by write: turns, branches, pages, variants and artifacts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from cupel_core.store.chat_branches import BranchItem, ExchangeItem, PageItem, VariantItem
from cupel_core.store.chat_texts import ArtifactsItem
from cupel_core.store.chat_turns import TurnEventItem, TurnItem
from tests.simulation.chats.ledger import Ledger
from tests.simulation.expressions import Item

if TYPE_CHECKING:
    from tests.simulation.chats.cloud import ChatCloud

OVER = ("done", "failed", "aborted")


@dataclass
class TurnState:
    chat_id: str
    id: str
    head: Mapping[str, Any]
    deadline: float
    """In the time of the schedule."""
    ledger: Ledger
    status: str = "queued"
    item: Item = field(default_factory=dict)
    checkpoint: Mapping[str, Any] = field(default_factory=dict)
    result: Mapping[str, Any] = field(default_factory=dict)
    abort_told_at: float | None = None
    ended_at: float | None = None

    @property
    def is_over(self) -> bool:
        return self.status in OVER

    @property
    def answer(self) -> str | None:
        """As it is recorded."""
        text: str | None = self.checkpoint.get("main", {}).get("text")
        return text

    def recorded(self, hook: str) -> Mapping[str, Any]:
        """The results of operations that are recorded."""
        results: Mapping[str, Any] = self.checkpoint.get("turn", {}).get(hook.partition("_")[0], {})
        return results


class StoredBranch(NamedTuple):
    revision: int
    open_turn: str | None
    length: int
    pages: tuple[str, ...]
    parent_id: str | None
    forked_after: str | None


class StoredPointer(NamedTuple):
    exchange_id: str
    user: int
    answer: int | None
    hidden: tuple[str, ...]
    deleted: tuple[str, ...]
    turn_id: str | None
    sessions: Mapping[str, str]

    def shows(self, side: str) -> int | None:
        """The selected variant, unless it is hidden or deleted."""
        is_left_out = side in self.hidden or side in self.deleted
        number = self.user if side == "user" else self.answer
        return None if is_left_out else number


class StoredVariant(NamedTuple):
    kind: str
    content: str
    turn_id: str | None
    based_on: int | None
    annotations: tuple[str, ...]
    status: str

    @property
    def is_complete(self) -> bool:
        """False for what a call had written that failed or was stopped."""
        return self.status == "done"


class Decoder:
    """Reads items as the product has written them."""

    def __init__(self, cloud: "ChatCloud") -> None:
        self._cloud = cloud

    def json(self, stored: Any) -> Any:
        return orjson.loads(self.text(stored))

    def text(self, stored: Any) -> str:
        if "text" in stored:
            return str(stored["text"])
        return str(orjson.loads(self._cloud.bucket.text(stored["blob"])))

    def turn(self, item: Item) -> TurnItem:
        return TurnItem.from_raw_data(dict(item))

    def event(self, item: Item) -> tuple[int, str, Any]:
        event = TurnEventItem.from_raw_data(dict(item))
        return int(event.sk.rpartition("#")[2]), event.type, self.json(event.data)

    def branch(self, item: Item) -> StoredBranch:
        branch = BranchItem.from_raw_data(dict(item))
        body = branch.body
        pages = tuple(str(page[0]) for page in body["pages"])
        ancestry = body["parentId"], body["forkedAfter"]
        return StoredBranch(int(branch.revision), branch.open_turn, int(body["length"]), pages, *ancestry)

    def page(self, item: Item) -> tuple[StoredPointer, ...]:
        return tuple(
            StoredPointer(name, user, answer, tuple(hidden), tuple(deleted), turn_id, sessions)
            for name, user, answer, hidden, deleted, turn_id, sessions in PageItem.from_raw_data(dict(item)).body
        )

    def exchange(self, item: Item) -> Mapping[str, Any]:
        body: Mapping[str, Any] = ExchangeItem.from_raw_data(dict(item)).body
        return body

    def variant(self, item: Item) -> StoredVariant:
        body = VariantItem.from_raw_data(dict(item)).body
        annotations = tuple(self.json(body["details"]).get("annotations", ()))
        content, status = self.text(body["content"]), body.get("status", "done")
        return StoredVariant(body["kind"], content, body["turnId"], body["basedOn"], annotations, status)

    def artifacts(self, item: Item) -> Mapping[str, Any]:
        artifacts: Mapping[str, Any] = self.json(ArtifactsItem.from_raw_data(dict(item)).body)
        return artifacts


@dataclass
class ChatState:
    """Of one chat."""

    id: str
    mark: str
    """With which all texts of the chat begin."""
    branches: dict[str, StoredBranch] = field(default_factory=dict)
    pages: dict[str, tuple[StoredPointer, ...]] = field(default_factory=dict)
    exchanges: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    variants: dict[tuple[str, str, int], StoredVariant] = field(default_factory=dict)
    artifacts: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """By the turn that has stored them."""
    is_deleted: bool = False

    def path(self, branch_id: str) -> list[StoredPointer]:
        return [pointer for page in self.branches[branch_id].pages for pointer in self.pages[page]]

    def artifacts_before(self, turn: TurnState) -> Mapping[str, Any]:
        """What the turn's profile session had before the turn's exchange."""
        session = turn.head.get("session", "")
        path = self.path(turn.head["branchId"])[: turn.head["position"]]
        names = [pointer.sessions[session] for pointer in path if session in pointer.sessions]
        return self.artifacts[names[-1]] if names else {}
