"""Turns of chats: the turn, its events, and its entry in the list of turns that are not over.

A worker owns a turn as long as it renews its claim. All its writes require the claim, so of two workers only one
records anything. A paid answer is stored with the turn before it is used.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, NamedTuple

from pynamodb.attributes import JSONAttribute, NumberAttribute, UnicodeAttribute
from pynamodb.exceptions import UpdateError
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action
from pynamodb.transactions import TransactWrite

from cupel_core.base.clock import from_iso, from_optional_iso, to_iso
from cupel_core.base.errors import NotFound
from cupel_core.base.messages import ChatRef, TurnOrder
from cupel_core.base.paging import Page, fill_page
from cupel_core.domain.chats.turns import (
    AbortReason,
    ChatTurn,
    TurnEvent,
    TurnEventType,
    TurnFailure,
    TurnHead,
    TurnPhase,
    TurnStatus,
)
from cupel_core.domain.codec import decode, encode
from cupel_core.store import chat_branches, idempotency_keys, keys, open_work
from cupel_core.store.chat_branches import BranchChange
from cupel_core.store.chat_texts import ARTIFACTS, ArtifactsItem, read_json, read_settings, write_json
from cupel_core.store.listing import all_of, list_newest
from cupel_core.store.open_work import OpenWork
from cupel_core.store.table import Item, conditional_transaction, error_code, updated

REQUEST_RETENTION = timedelta(days=1)
_EVENT, _REQUEST = "event#", "request#"


class TurnItem(Item):
    head = JSONAttribute()
    branch_id = UnicodeAttribute(attr_name="branchId")
    status = UnicodeAttribute()
    phase = UnicodeAttribute()
    created_at = UnicodeAttribute(attr_name="createdAt")
    deadline_at = UnicodeAttribute(attr_name="deadlineAt")
    started_at = UnicodeAttribute(attr_name="startedAt", null=True)
    finished_at = UnicodeAttribute(attr_name="finishedAt", null=True)
    ending = JSONAttribute(null=True)
    result = JSONAttribute(null=True)
    claimed_by = UnicodeAttribute(attr_name="claimedBy", null=True)
    claimed_until = UnicodeAttribute(attr_name="claimedUntil", null=True)
    abort_requested_at = UnicodeAttribute(attr_name="abortRequestedAt", null=True)
    last_seq = NumberAttribute(attr_name="lastSeq")
    attempts = NumberAttribute()
    checkpoint = JSONAttribute(null=True)
    prompt = JSONAttribute(null=True)


class TurnEventItem(Item):
    type = UnicodeAttribute()
    at = UnicodeAttribute()
    data = JSONAttribute()


class RequestItem(Item):
    body_hash = UnicodeAttribute(attr_name="bodyHash")
    turn_id = UnicodeAttribute(attr_name="turnId")
    ttl = NumberAttribute()


class OpenTurnItem(Item):
    workspace = UnicodeAttribute()
    chat_id = UnicodeAttribute(attr_name="chatId")
    turn_id = UnicodeAttribute(attr_name="turnId")
    touched_at = UnicodeAttribute(attr_name="touchedAt")


class StoredRequest(NamedTuple):
    body_hash: str
    turn_id: str


class StoredTurn(NamedTuple):
    turn: ChatTurn
    checkpoint: Mapping[str, Any] | None
    """The progress that its workers have stored. It is None before the first worker and once the turn is over."""


def create(
    ref: ChatRef, turn: ChatTurn, change: BranchChange, events: Sequence[TurnEvent], request: StoredRequest | None
) -> bool:
    """Create a turn together with the change of its branch. Return False if anything was changed since it was read, or
    this request has already created a turn."""
    head = turn.head
    with conditional_transaction() as transaction:
        chat_branches.add_change(transaction, ref, change, head.created_at)
        transaction.save(_to_item(ref, turn), condition=TurnItem.pk.does_not_exist())
        transaction.save(
            OpenTurnItem(
                keys.OPEN_TURNS,
                keys.open_turn(ref, turn.id),
                workspace=ref.workspace,
                chat_id=ref.chat_id,
                turn_id=turn.id,
                touched_at=to_iso(head.created_at),
            )
        )
        _add_events(transaction, ref, turn.id, events)
        if request is not None and head.client_request_id is not None:
            now = int(head.created_at.timestamp())
            item = RequestItem(
                keys.chat(ref),
                _request_key(head.client_request_id),
                body_hash=request.body_hash,
                turn_id=request.turn_id,
                ttl=now + int(REQUEST_RETENTION.total_seconds()),
            )
            transaction.save(item, condition=RequestItem.pk.does_not_exist() | (RequestItem.ttl < now))
        else:  # A clientRequestId finds the turn again, so no key is taken.
            idempotency_keys.mark_applied(transaction)
    return transaction.is_committed


def find_request(ref: ChatRef, client_request_id: str, now: datetime) -> StoredRequest | None:
    """Return the request with this id, and its turn, if it was made within the last day."""
    try:
        item = RequestItem.get(keys.chat(ref), _request_key(client_request_id), consistent_read=True)
    except RequestItem.DoesNotExist:
        return None
    return StoredRequest(item.body_hash, item.turn_id) if item.ttl >= now.timestamp() else None


def get(ref: ChatRef, turn_id: str) -> ChatTurn:
    return _from_item(_get_item(ref, turn_id))


def get_stored(ref: ChatRef, turn_id: str) -> StoredTurn:
    return _stored(_get_item(ref, turn_id))


def list_turns(
    ref: ChatRef, branch_id: str | None, status: TurnStatus | None, limit: int, cursor: str | None
) -> Page[ChatTurn]:
    entries = list_newest(
        TurnItem,
        keys.chat_turns(ref),
        limit,
        cursor,
        condition=all_of(
            None if branch_id is None else TurnItem.branch_id == branch_id,
            None if status is None else TurnItem.status == status,
        ),
        is_selective=branch_id is not None or status is not None,
        by_sort_key=True,
    )
    return fill_page((entry.map(_from_item) for entry in entries), limit)


def claim(ref: ChatRef, turn_id: str, worker_id: str, now: datetime, until: datetime) -> StoredTurn | None:
    """Claim a turn. Return None if it is over or another worker has claimed it."""
    item = TurnItem(keys.chat_turns(ref), turn_id)
    actions: list[Action] = [
        TurnItem.status.set(TurnStatus.RUNNING),
        TurnItem.started_at.set(TurnItem.started_at | to_iso(now)),
        TurnItem.claimed_by.set(worker_id),
        TurnItem.claimed_until.set(to_iso(until)),
        TurnItem.attempts.add(1),
    ]
    if not updated(item, actions, _is_open() & _is_unclaimed(now)):
        return None
    return _stored(item)  # PynamoDB fills it with all attributes.


def renew(ref: ChatRef, turn_id: str, worker_id: str, until: datetime) -> ChatTurn | None:
    """Renew a claim. Return None if it was lost or released: a stopping worker may still have a renewal under way."""
    item = TurnItem(keys.chat_turns(ref), turn_id)
    try:
        item.update(
            actions=[TurnItem.claimed_until.set(to_iso(until))],
            condition=_is_open() & (TurnItem.claimed_by == worker_id) & TurnItem.claimed_until.exists(),
        )
    except UpdateError as error:
        if error_code(error) != "ConditionalCheckFailedException":
            raise
        return None
    return _from_item(item)  # PynamoDB fills it with all attributes.


def end_claim(ref: ChatRef, turn_id: str, until_before: datetime) -> None:
    """End a claim that lasts until before that moment, because its worker is known to be dead."""
    item = TurnItem(keys.chat_turns(ref), turn_id)
    updated(item, [TurnItem.claimed_until.remove()], TurnItem.claimed_until < to_iso(until_before))


def release(ref: ChatRef, turn_id: str, worker_id: str) -> None:
    """Release a claim, so that another worker may continue at once."""
    updated(
        TurnItem(keys.chat_turns(ref), turn_id), [TurnItem.claimed_until.remove()], TurnItem.claimed_by == worker_id
    )


def record(
    ref: ChatRef,
    turn_id: str,
    worker_id: str,
    events: Sequence[TurnEvent],
    phase: TurnPhase,
    checkpoint: Mapping[str, Any] | None,
    prompt: Sequence[Mapping[str, Any]] | None,
) -> bool:
    """Store events, phase, checkpoint and prompt. A None leaves what is stored. Return False if the claim was lost."""
    actions: list[Action] = [TurnItem.phase.set(phase)]
    if events:
        actions.append(TurnItem.last_seq.set(events[-1].seq))
    if checkpoint is not None:
        actions.append(TurnItem.checkpoint.set(write_json(ref, checkpoint)))
    if prompt is not None:
        actions.append(TurnItem.prompt.set(write_json(ref, list(prompt))))
    with conditional_transaction() as transaction:
        transaction.update(
            TurnItem(keys.chat_turns(ref), turn_id), actions, _is_open() & (TurnItem.claimed_by == worker_id)
        )
        _add_events(transaction, ref, turn_id, events)
    return transaction.is_committed


def is_recorded(ref: ChatRef, turn_id: str, worker_id: str, seq: int) -> bool:
    """Return whether a worker still has the turn and `seq` is its last event. Raise NotFound."""
    item = _get_item(ref, turn_id)
    is_open = not TurnStatus(item.status).is_over
    return is_open and item.claimed_by == worker_id and int(item.last_seq) == seq


def end(
    ref: ChatRef,
    turn: ChatTurn,
    worker_id: str | None,
    change: BranchChange,
    events: Sequence[TurnEvent],
    artifacts: Mapping[str, Any] | None,
) -> bool:
    """End a turn and store its results. Return False if the claim was lost, or the branch was changed meanwhile.
    Without a worker's id, the turn is only ended if no worker has claimed it."""
    now = turn.finished_at or turn.head.created_at
    is_own = TurnItem.claimed_by == worker_id if worker_id is not None else _is_unclaimed(now)
    ending = {
        "failure": encode(turn.failure) if turn.failure else None,
        "abortReason": turn.abort_reason,
    }
    result = write_json(ref, turn.result) if turn.result is not None else None
    with conditional_transaction() as transaction:
        transaction.update(
            TurnItem(keys.chat_turns(ref), turn.id),
            [
                TurnItem.status.set(turn.status),
                TurnItem.phase.set(turn.phase),
                TurnItem.finished_at.set(to_iso(now)),
                TurnItem.ending.set(ending),
                *([TurnItem.result.set(result)] if result is not None else []),
                TurnItem.last_seq.set(events[-1].seq),
                TurnItem.checkpoint.remove(),
                TurnItem.claimed_until.remove(),
            ],
            _is_open() & is_own,
        )
        transaction.delete(OpenTurnItem(keys.OPEN_TURNS, keys.open_turn(ref, turn.id)))
        chat_branches.add_change(transaction, ref, change, now)
        _add_events(transaction, ref, turn.id, events)
        if artifacts is not None:
            body = write_json(ref, artifacts)
            transaction.save(ArtifactsItem(keys.chat(ref), f"{ARTIFACTS}{turn.id}", body=body))
    return transaction.is_committed


def request_abort(ref: ChatRef, turn_id: str, now: datetime) -> None:
    """Ask the worker of a turn to end it. A turn that is over does not change."""
    item = TurnItem(keys.chat_turns(ref), turn_id)
    updated(item, [TurnItem.abort_requested_at.set(TurnItem.abort_requested_at | to_iso(now))], _is_open())


def get_prompt(ref: ChatRef, turn_id: str) -> list[dict[str, Any]] | None:
    """Return the prompt that the model received, or None if it was not called yet."""
    item = _get_item(ref, turn_id)
    return read_json(item.prompt) if item.prompt else None


def list_events(ref: ChatRef, turn_id: str, after: int = 0) -> list[TurnEvent]:
    prefix = f"{_EVENT}{turn_id}#"
    first, last = f"{prefix}{after + 1:08d}", f"{prefix}99999999"
    items = TurnEventItem.query(keys.chat(ref), TurnEventItem.sk.between(first, last), consistent_read=True)
    return [
        TurnEvent(int(item.sk.rpartition("#")[2]), TurnEventType(item.type), from_iso(item.at), read_json(item.data))
        for item in items
    ]


def list_open(after: str | None = None) -> Iterator[OpenWork[TurnOrder]]:
    """Yield the turns whose end the sweeper has not seen, from the sort key `after` on."""
    for item in OpenTurnItem.query(keys.OPEN_TURNS, OpenTurnItem.sk > after if after else None):
        order = TurnOrder(workspace=item.workspace, chat_id=item.chat_id, turn_id=item.turn_id)
        yield OpenWork(keys.OPEN_TURNS, item.sk, order, from_iso(item.touched_at))


def touch(ref: ChatRef, order: TurnOrder, now: datetime) -> None:
    open_work.touch(OpenWork(keys.OPEN_TURNS, keys.open_turn(ref, order.turn_id), order, now), now)


def _request_key(client_request_id: str) -> str:
    return f"{_REQUEST}{sha256(client_request_id.encode()).hexdigest()}"


def _is_open() -> Condition:
    return TurnItem.status.is_in(TurnStatus.QUEUED, TurnStatus.RUNNING)


def _is_unclaimed(now: datetime) -> Condition:
    condition: Condition = TurnItem.claimed_until.does_not_exist() | (TurnItem.claimed_until < to_iso(now))
    return condition


def _get_item(ref: ChatRef, turn_id: str) -> TurnItem:
    try:
        return TurnItem.get(keys.chat_turns(ref), turn_id, consistent_read=True)
    except TurnItem.DoesNotExist:
        raise NotFound(f"there is no turn {turn_id} in this chat") from None


def _add_events(transaction: TransactWrite, ref: ChatRef, turn_id: str, events: Iterable[TurnEvent]) -> None:
    for event in events:
        item = TurnEventItem(
            keys.chat(ref),
            f"{_EVENT}{turn_id}#{event.seq:08d}",
            type=event.type,
            at=to_iso(event.at),
            data=write_json(ref, dict(event.data)),
        )
        transaction.save(item, condition=TurnEventItem.pk.does_not_exist())


def _to_item(ref: ChatRef, turn: ChatTurn) -> TurnItem:
    head = turn.head
    return TurnItem(
        keys.chat_turns(ref),
        turn.id,
        head=write_json(ref, encode(head)),
        branch_id=head.branch_id,
        status=turn.status,
        phase=turn.phase,
        created_at=to_iso(head.created_at),
        deadline_at=to_iso(head.deadline_at),
        last_seq=turn.last_seq,
        attempts=turn.attempts,
    )


def _stored(item: TurnItem) -> StoredTurn:
    return StoredTurn(_from_item(item), read_json(item.checkpoint) if item.checkpoint else None)


def _from_item(item: TurnItem) -> ChatTurn:
    ending = item.ending or {}
    failure, reason = ending.get("failure"), ending.get("abortReason")
    return ChatTurn(
        head=decode(TurnHead, read_settings(item.head)),
        status=TurnStatus(item.status),
        phase=TurnPhase(item.phase),
        started_at=from_optional_iso(item.started_at),
        finished_at=from_optional_iso(item.finished_at),
        failure=decode(TurnFailure, failure) if failure else None,
        abort_reason=AbortReason(reason) if reason else None,
        abort_requested_at=from_optional_iso(item.abort_requested_at),
        claimed_until=from_optional_iso(item.claimed_until),
        last_seq=int(item.last_seq),
        attempts=int(item.attempts),
        result=read_json(item.result) if item.result else None,
    )
