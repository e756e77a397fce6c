"""Workflows of chats, and what must hold of one: turns that end, are generated again, forked, lost and aborted."""

import time
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from cupel_core.base.clock import utc_now
from cupel_core.base.messages import ChatRef
from cupel_core.chats import catalog, exchanges
from cupel_core.domain.chats.chats import ChatSettings
from cupel_core.domain.chats.turns import ChatTurn, TurnEventType, TurnStatus
from cupel_core.store import chat_branches, chat_texts, chat_turns, chats
from tests.faults.harness import WORKSPACE

if TYPE_CHECKING:
    from tests.faults.workflows import WorkflowContext

MODEL = "custom/bench"
COUNTED = "x"
_MAX_SECONDS = 120
"""Only guards against a hang."""
_CALL: dict[str, Any] = {"target": {"model": MODEL}}
OPERATIONS: list[dict[str, Any]] = [
    {
        "id": "notes",
        "name": "Notes before the answer",
        "kind": "llm",
        "required": True,
        "hooks": ["before_main_llm"],
        "order": 10,
        "params": {**_CALL, "prompt": "Notes on: {{ user.text }}"},
        "artifact": {"tag": "notes"},
        "effects": [{"type": "prompt.append_after_last_user", "role": "system"}],
    },
    {
        "id": "count",
        "name": "Count of the exchanges",
        "kind": "template",
        "hooks": ["before_main_llm"],
        "order": 20,
        "params": {"template": COUNTED},
        "artifact": {"tag": "count", "persistence": "persisted", "writeMode": "append"},
    },
    {
        "id": "review",
        "name": "Review of the answer",
        "kind": "llm",
        "hooks": ["after_main_llm"],
        "order": 10,
        "params": {**_CALL, "prompt": "Review: {{ answer.text }}"},
        "artifact": {"tag": "review"},
        "effects": [{"type": "turn.assistant.annotate"}],
    },
]
"""Two of them call a model, so a turn makes three calls."""


class FinishedChat(NamedTuple):
    ref: ChatRef
    turns: tuple[str, ...]
    """The last was aborted before a worker had it, the others have an answer."""
    fork_id: str
    """The branch of the last turn with an answer; the others are on the first branch."""


class ChatUser:
    """Who holds a chat, by requests."""

    def __init__(self, context: "WorkflowContext") -> None:
        settings = ChatSettings({"model": MODEL}, profile_id=context.chat_profile)
        chat = catalog.create(WORKSPACE, settings, "faults", utc_now())
        self._harness, self._token = context.harness, context.token
        self.ref = ChatRef(WORKSPACE, chat.id)

    def start(self, **fields: str) -> str:
        body = {"clientRequestId": uuid.uuid4().hex, **fields}
        return str(self._post("turns", body)["id"])

    def fork(self) -> str:
        return str(self._post("branches", {})["id"])

    def abort(self, turn_id: str) -> None:
        self._post(f"turns/{turn_id}/abort", {})

    def lose_order(self) -> None:
        self._harness.purge("turn")

    def finish(self, turn_id: str) -> str:
        """Deliver all messages, advance time and call the sweeper until the turn is over."""
        deadline = time.monotonic() + _MAX_SECONDS
        self._harness.deliver_all()
        while not self.get_turn(turn_id).status.is_over:
            assert time.monotonic() < deadline, f"the turn {turn_id} does not end"
            self._harness.advance_turn(self.ref, turn_id)
            self._harness.sweep()
            self._harness.deliver_all()
        self._harness.advance_turn(self.ref, turn_id)
        self._harness.deliver_all()  # Late messages change nothing.
        return turn_id

    def get_turn(self, turn_id: str) -> ChatTurn:
        return chat_turns.get(self.ref, turn_id)

    def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        return self._harness.request(self._token, "POST", f"/v1/chats/{self.ref.chat_id}/{path}", body)


def run_chat(context: "WorkflowContext") -> FinishedChat:
    """A message is answered, and answered again; a fork gets another one, whose order is lost; the last is aborted."""
    user = ChatUser(context)
    first = user.finish(user.start(content="One."))
    again = user.finish(user.start(trigger="regenerate"))
    fork_id = user.fork()
    lost = user.start(content="Two.", branchId=fork_id)
    user.lose_order()
    user.finish(lost)
    stopped = user.start(content="Three.")
    user.abort(stopped)
    user.finish(stopped)
    return FinishedChat(user.ref, (first, again, lost, stopped), fork_id)


def chat_violations(chat: FinishedChat) -> list[str]:
    """Empty if every turn has ended once, as it should have, and events, messages and artifacts agree."""
    return [*_turn_violations(chat), *_branch_violations(chat), *_artifact_violations(chat)]


def _turn_violations(chat: FinishedChat) -> Iterator[str]:
    listed = [turn.id for turn in chat_turns.list_turns(chat.ref, None, None, 100, None).items]
    if sorted(listed) != sorted(chat.turns):
        yield f"the chat has the turns {listed}, not {chat.turns}"
    left = [work.request.turn_id for work in chat_turns.list_open() if work.request.chat_id == chat.ref.chat_id]
    if left:
        yield f"the turns {left} are still listed for the sweeper"
    for turn_id in chat.turns:
        turn = chat_turns.get(chat.ref, turn_id)
        is_stopped = turn_id == chat.turns[-1]
        if turn.status is not (TurnStatus.ABORTED if is_stopped else TurnStatus.DONE):
            yield f"the turn {turn_id} is {turn.status}: {turn.failure}"
        events = chat_turns.list_events(chat.ref, turn_id)
        if [event.seq for event in events] != list(range(1, turn.last_seq + 1)):
            yield f"the events of {turn_id} are {[event.seq for event in events]}, its last is {turn.last_seq}"
        kinds = [event.type for event in events]
        counted = [kinds.count(kind) for kind in (TurnEventType.FINISHED, TurnEventType.COMMIT_FINISHED)]
        if counted != [1, 0 if is_stopped else 1] or kinds[-1] is not TurnEventType.FINISHED:
            yield f"the events of {turn_id} are {kinds}"
        answered = [
            event for event in events if event.type is TurnEventType.MAIN_FINISHED and event.data["status"] == "done"
        ]
        if len(answered) != (0 if is_stopped else 1):
            yield f"the main call of {turn_id} was answered {len(answered)} times"


def _branch_violations(chat: FinishedChat) -> Iterator[str]:
    first_id = chats.get(chat.ref).active_branch_id
    expected = {first_id: [("One.", 2), ("Three.", None)], chat.fork_id: [("One.", 2), ("Two.", 1)]}
    for branch_id, wanted in expected.items():
        branch = chat_branches.get(chat.ref, branch_id)
        if branch.open_turn is not None:
            yield f"branch {branch_id} is locked by {branch.open_turn}"
        page = exchanges.list_exchanges(WORKSPACE, chat.ref.chat_id, branch_id, frozenset(), 10, None)
        shown = [
            (each.user.variant.content if each.user else None, each.answer.variant.number if each.answer else None)
            for each in reversed(page.items)
        ]
        if shown != wanted:
            yield f"branch {branch_id} has {shown}, not {wanted}"
        notes = [len(each.answer.variant.details["annotations"]) for each in page.items if each.answer]
        if set(notes) != {1}:
            yield f"the answers of branch {branch_id} have {notes} notes"


def _artifact_violations(chat: FinishedChat) -> Iterator[str]:
    """An answer that is generated again counts its exchange no second time."""
    counts = [chat_texts.get_artifacts(chat.ref, turn_id).get("count", {}).get("value") for turn_id in chat.turns]
    if counts != [COUNTED, COUNTED, f"{COUNTED}\n{COUNTED}", None]:
        yield f"the turns have counted {counts}"
