"""How far a turn has come, by what its workers have stored."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from cupel_core.base.clock import to_iso
from cupel_core.base.messages import ChatRef
from cupel_core.chats.prompts import load_artifacts
from cupel_core.domain.chats.branches import ChatBranch
from cupel_core.domain.chats.drafts import MAX_REPLY_LENGTH, TextPosition
from cupel_core.domain.chats.turns import TurnEvent, TurnEventType
from cupel_core.domain.pipeline.operations import Hook
from cupel_core.domain.pipeline.turns import Artifacts, OpenTurn
from cupel_core.store import chat_drafts, chat_turns
from cupel_core.store.chat_turns import StoredTurn


class TurnProgress(NamedTuple):
    events: list[TurnEvent]
    """After the first, which says only that the turn was accepted."""
    operations: OpenTurn
    main: Mapping[str, Any]
    """The main call, as the turn's result shows it; with `text` if it was answered."""
    started: set[tuple[Hook, str]]
    """The operations that have begun."""
    artifacts: Artifacts
    """Those from before the turn."""
    uncertain_nano_usd: int
    """What calls without an answer may have cost."""


def load_progress(ref: ChatRef, stored: StoredTurn, branch: ChatBranch) -> TurnProgress:
    head, checkpoint = stored.turn.head, stored.checkpoint or {}
    events = chat_turns.list_events(ref, head.id, after=1) if stored.turn.last_seq > 1 else []
    operations = checkpoint.get("turn")
    return TurnProgress(
        events,
        OpenTurn.from_json(operations) if operations else OpenTurn(to_iso(head.created_at)),
        checkpoint.get("main", {"performed": False}),
        {
            (Hook(event.data["hook"]), event.data["operationId"])
            for event in events
            if event.type is TurnEventType.OPERATION_STARTED
        },
        load_artifacts(ref, branch, head.session, head.position) if head.session else {},
        checkpoint.get("uncertainNanoUsd", 0),
    )


def load_partial_answer(ref: ChatRef, turn_id: str, main: Mapping[str, Any]) -> str:
    """What the main call had written, as far as it was stored, if it ended without an answer."""
    if "text" in main or not main["performed"]:
        return ""
    draft = chat_drafts.read(ref, turn_id, TextPosition(), MAX_REPLY_LENGTH)
    return draft.piece.text if draft is not None else ""
