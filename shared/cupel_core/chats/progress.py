"""The state in which a worker finds a turn: the stored progress, and the data to continue it."""

import asyncio
from collections.abc import Mapping
from typing import Any, NamedTuple

from cupel_core.accounts.keys import load_accounts
from cupel_core.base.clock import to_iso
from cupel_core.base.messages import ChatRef
from cupel_core.chats.drafts import DraftWriter
from cupel_core.chats.prompts import load_artifacts, load_messages
from cupel_core.chats.turn_profile import load_profile
from cupel_core.domain.chats.branches import ChatBranch
from cupel_core.domain.chats.drafts import MAX_REPLY_LENGTH, TextPosition
from cupel_core.domain.chats.turns import ChatTurn, TurnEvent, TurnEventType
from cupel_core.domain.codec import decode
from cupel_core.domain.conversations.model_request import Message
from cupel_core.domain.pipeline.operations import Hook
from cupel_core.domain.pipeline.run_profile import RunProfile
from cupel_core.domain.pipeline.turns import Artifacts, OpenTurn
from cupel_core.providers.account import Account
from cupel_core.store import chat_branches, chat_drafts, chat_turns, chats
from cupel_core.store.chat_turns import StoredTurn


class TurnProgress(NamedTuple):
    events: list[TurnEvent]
    """The events after the first, which only says that the turn was accepted."""
    operations: OpenTurn
    main: Mapping[str, Any]
    """The main call, as the turn's result shows it, with `text` if it was answered."""
    started: set[tuple[Hook, str]]
    artifacts: Artifacts
    uncertain_nano_usd: int
    """The maximum cost of calls without an answer."""


def load_progress(ref: ChatRef, stored: StoredTurn, branch: ChatBranch) -> TurnProgress:
    head, checkpoint = stored.turn.head, stored.checkpoint or {}
    events = chat_turns.list_events(ref, head.id, after=1) if stored.turn.last_seq > 1 else []
    operations = checkpoint.get("turn")
    return TurnProgress(
        events,
        decode(OpenTurn, operations) if operations else OpenTurn(to_iso(head.created_at)),
        checkpoint.get("main", {"performed": False}),
        {
            (Hook(event.data["hook"]), event.data["operationId"])
            for event in events
            if event.type is TurnEventType.OPERATION_STARTED
        },
        load_artifacts(ref, branch, head.session, head.position) if head.session else {},
        checkpoint.get("uncertainNanoUsd", 0),
    )


def load_partial_answer(ref: ChatRef, turn_id: str, main: Mapping[str, Any], written: str = "") -> str:
    """Return the text of a main call that ended without an answer: `written`, or else the part that was stored."""
    if "text" in main or not main["performed"]:
        return ""
    if written:
        return written
    draft = chat_drafts.read(ref, turn_id, TextPosition(), MAX_REPLY_LENGTH)
    return draft.piece.text if draft is not None else ""


class LoadedTurn(NamedTuple):
    profile: RunProfile
    accounts: Mapping[str, Account]
    draft: DraftWriter
    messages: tuple[Message, ...]
    progress: TurnProgress


async def load_turn(ref: ChatRef, claimed: StoredTurn) -> LoadedTurn:
    """Load a claimed turn. The reads that a person waits for run concurrently. Raise NotFound if the chat was
    deleted."""
    head = claimed.turn.head
    _, branch, profile = await asyncio.gather(
        asyncio.to_thread(chats.get, ref),
        asyncio.to_thread(chat_branches.get, ref, head.branch_id),
        asyncio.to_thread(load_profile, ref.workspace, head),
    )
    accounts, draft, messages, progress = await asyncio.gather(
        asyncio.to_thread(load_accounts, ref.workspace, {head.settings.model, *profile.models}),
        asyncio.to_thread(_load_draft, ref, claimed.turn),
        asyncio.to_thread(load_messages, ref, head, branch),
        asyncio.to_thread(load_progress, ref, claimed, branch),
    )
    return LoadedTurn(profile, accounts, draft, messages, progress)


def _load_draft(ref: ChatRef, turn: ChatTurn) -> DraftWriter:
    return DraftWriter(ref, turn.id, chat_drafts.last_attempt(ref, turn.id) if turn.attempts > 1 else 0)
