"""Turns of chats: they are accepted, read and aborted, and ended if no worker does.

One transaction accepts a turn. It writes the turn with everything that must not change later, its first event, the
branch with the turn's id, the exchange, the user's message, the entry in the sweeper's list and the `clientRequestId`.
Then the turn's message is sent to the queue; if it is lost, the sweeper sends it again. The sweeper ends a turn that no
worker processes a minute after its deadline, so that no branch stays locked.
"""

import hashlib
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple

import orjson

from cupel_core.accounts.keys import ModelChecks
from cupel_core.base.errors import Conflict, FieldError, Invalid, named_in_body
from cupel_core.base.ids import new_id, new_short_id
from cupel_core.base.messages import ChatRef, TurnOrder
from cupel_core.base.paging import Page
from cupel_core.chats import catalog
from cupel_core.chats.branches import MAX_ATTEMPTS, changed_too_often, check_is_free, sessions_before
from cupel_core.chats.endings import TurnEnding, ending_change, ending_events, result_of, stopped_call
from cupel_core.chats.exchanges import with_variant
from cupel_core.chats.journal import identities
from cupel_core.chats.progress import load_partial_answer, load_progress
from cupel_core.chats.sessions import session_name
from cupel_core.chats.turn_profile import load_profile
from cupel_core.domain.chats.branches import POINTERS_PER_PAGE, ChatBranch, MessageSide, Pointer
from cupel_core.domain.chats.chats import MAX_EXCHANGES, Chat, ChatSettings
from cupel_core.domain.chats.drafts import Feed, FeedPosition, feed_of, wants_text
from cupel_core.domain.chats.messages import Exchange, Variant, VariantKind
from cupel_core.domain.chats.turns import (
    AbortReason,
    ChatTurn,
    TurnEvent,
    TurnEventType,
    TurnFailure,
    TurnHead,
    TurnProfile,
    TurnPrompt,
    TurnStatus,
)
from cupel_core.domain.conversations.model_request import Message
from cupel_core.domain.pipeline.operations import EffectType, Trigger
from cupel_core.domain.pipeline.planning import plan_turn
from cupel_core.domain.pipeline.profiles import Profile
from cupel_core.domain.pipeline.prompt import prompt_hash
from cupel_core.store import chat_branches, chat_drafts, chat_turns, chats, governor, queues
from cupel_core.store.chat_branches import BranchChange
from cupel_core.store.chat_turns import StoredRequest
from cupel_core.store.settings import settings as stack_settings


class TurnRequest(NamedTuple):
    trigger: Trigger
    content: str | None
    """The user's message. It is None with the trigger `generate`."""
    branch_id: str | None
    profile_id: str | None
    has_profile: bool
    """If this is true, `profile_id` replaces that of the chat."""
    client_request_id: str | None
    deadline_ms: int
    initiator: str
    model: str | None = None
    """A model that replaces the chat's target for this turn."""


class AcceptedTurn(NamedTuple):
    turn: ChatTurn
    is_new: bool
    """False for a request that was accepted before."""


class _Accepted(NamedTuple):
    """The changes of a request in a branch, and the numbers of the variants that its turn reads and writes."""

    change: BranchChange
    exchange: Exchange
    user_variant: int
    answer_variant: int


def start(workspace: str, chat_id: str, request: TurnRequest, now: datetime) -> AcceptedTurn:
    """Accept a turn and have a worker run it. Raise Conflict while a turn is in progress on the branch. Raise
    Invalid for a model that cannot be called, a branch that is full, and a `clientRequestId` that was used for
    something else."""
    ref, turn_id = ChatRef(workspace, chat_id), new_id("turn")
    body_hash = _body_hash(request)
    for _ in range(MAX_ATTEMPTS):
        chat = chats.get(ref)
        if (earlier := _find_earlier(ref, request, body_hash, now)) is not None:
            return AcceptedTurn(earlier, is_new=False)
        chat = replace(chat, settings=_settings(chat.settings, request))
        profile = _check(chat, model_field=None if request.model is None else "model")
        branch = _branch(ref, chat, request.branch_id)
        check_is_free(branch)
        if request.trigger is Trigger.GENERATE:
            accepted = _generate(ref, branch, request, turn_id, now)
        else:
            accepted = _regenerate(ref, branch, turn_id, rewrites_user=profile is not None and _rewrites_user(profile))
        head = _head(chat, branch, accepted, request, turn_id, profile and _turn_profile(profile), now)
        turn = ChatTurn(head, last_seq=1)
        stored = StoredRequest(body_hash, turn_id) if request.client_request_id else None
        if chat_turns.create(ref, turn, accepted.change, [_started(turn)], stored):
            send_order(ref, turn_id)
            return AcceptedTurn(turn, is_new=True)
    raise changed_too_often()


def get(workspace: str, chat_id: str, turn_id: str) -> ChatTurn:
    ref = ChatRef(workspace, chat_id)
    chats.get(ref)
    return chat_turns.get(ref, turn_id)


def list_turns(
    workspace: str, chat_id: str, branch_id: str | None, status: TurnStatus | None, limit: int, cursor: str | None
) -> Page[ChatTurn]:
    ref = ChatRef(workspace, chat_id)
    chats.get(ref)
    return chat_turns.list_turns(ref, branch_id, status, limit, cursor)


def get_prompt(workspace: str, chat_id: str, turn_id: str) -> TurnPrompt:
    """Return the prompt that the model received. Raise Conflict if it was not called."""
    get(workspace, chat_id, turn_id)
    messages = chat_turns.get_prompt(ChatRef(workspace, chat_id), turn_id)
    if messages is None:
        raise Conflict("the model was not called in this turn")
    return TurnPrompt(prompt_hash(map(Message.from_json, messages)), messages)


class TurnFeed(NamedTuple):
    """The events and the text since the last poll, and the turn as it was before they were read."""

    turn: ChatTurn
    feed: Feed


def poll(workspace: str, chat_id: str, turn_id: str, after: FeedPosition) -> TurnFeed:
    """Return events and text after a position. The turn is read first: if it is over by then, no later event is missed.
    Text is read last: all of it was stored before the end of its call."""
    ref, turn = ChatRef(workspace, chat_id), get(workspace, chat_id, turn_id)
    events = chat_turns.list_events(ref, turn_id, after.seq)
    if not wants_text(turn, events, after.text):
        return TurnFeed(turn, Feed(events))
    return TurnFeed(turn, feed_of(events, chat_drafts.read(ref, turn_id, after.text)))


def abort(workspace: str, chat_id: str, turn_id: str, now: datetime) -> ChatTurn:
    """Ask a turn's worker to end it, or end it if it has none. A turn that is over is returned unchanged."""
    ref = ChatRef(workspace, chat_id)
    turn = get(workspace, chat_id, turn_id)
    if turn.status.is_over:
        return turn
    chat_turns.request_abort(ref, turn_id, now)
    if not turn.is_claimed(now):
        end_without_worker(ref, turn, now, abort_reason=AbortReason.USER)
    return chat_turns.get(ref, turn_id)


def end_without_worker(
    ref: ChatRef,
    turn: ChatTurn,
    now: datetime,
    *,
    failure: TurnFailure | None = None,
    abort_reason: AbortReason | None = None,
) -> bool:
    """End a turn without a worker. Return False if it has one. Stored results are included: an answer that was paid
    for, and its changes by operations."""
    head, plan = turn.head, load_profile(ref.workspace, turn.head).plan
    for _ in range(MAX_ATTEMPTS):
        chats.get(ref)
        stored = chat_turns.get_stored(ref, turn.id)
        if stored.turn.status.is_over or stored.turn.is_claimed(now):
            return False
        progress = load_progress(ref, stored, chat_branches.get(ref, head.branch_id))
        ending = TurnEnding(
            progress.operations,
            stopped_call(progress.main, abort_reason),
            progress.started,
            progress.artifacts,
            failure,
            abort_reason,
            load_partial_answer(ref, turn.id, progress.main),
            progress.uncertain_nano_usd,
        )
        ended = stored.turn.ended(now, result_of(head, plan, ending), failure=failure, abort_reason=abort_reason)
        # Whatever is stored from now on has the number of one of these events.
        events = ending_events(ended, plan, ending, identities(progress.events), stored.turn.last_seq, now)
        change = ending_change(ref, head, plan, ending, now)
        if chat_turns.end(ref, ended, None, change, events, ending.artifacts_after(head, plan)):
            return True
    return False


def send_order(ref: ChatRef, turn_id: str) -> None:
    order = TurnOrder(workspace=ref.workspace, chat_id=ref.chat_id, turn_id=turn_id)
    queues.send(stack_settings().turn_queue_url, [order], group=ref.workspace)


def _find_earlier(ref: ChatRef, request: TurnRequest, body_hash: str, now: datetime) -> ChatTurn | None:
    """Return the turn of the same request. If it is queued, its message is sent again, because it may have been
    lost."""
    if request.client_request_id is None:
        return None
    stored = chat_turns.find_request(ref, request.client_request_id, now)
    if stored is None:
        return None
    if stored.body_hash != body_hash:
        raise Invalid.field("clientRequestId", "was used with another request; use a new one for a new request")
    turn = chat_turns.get(ref, stored.turn_id)
    if turn.status is TurnStatus.QUEUED:
        send_order(ref, turn.id)
    return turn


def _body_hash(request: TurnRequest) -> str:
    fields = [request.trigger, request.content, request.branch_id, request.has_profile, request.profile_id]
    model = [request.model] if request.model is not None else []
    return hashlib.sha256(orjson.dumps([*fields, request.deadline_ms, *model])).hexdigest()


def _settings(settings: ChatSettings, request: TurnRequest) -> ChatSettings:
    if request.has_profile:
        settings = replace(settings, profile_id=request.profile_id)
    if request.model is not None:
        settings = replace(settings, target={**settings.target, "model": request.model})
    return settings


def _check(chat: Chat, model_field: str | None) -> Profile | None:
    """Return the turn's profile, if it has one. Raise Invalid or Conflict for anything that prevents every call."""
    workspace, settings = chat.workspace, chat.settings
    profile = catalog.check_settings(workspace, settings, model_field)
    provider = settings.model.partition("/")[0]
    if governor.get_status(workspace, provider).paused:
        raise Conflict(f"provider {provider} is paused; resume it first (POST /v1/queue/resume)")
    if profile is None or not profile.head.enabled:
        return profile
    calls = [
        (operation.id, operation.params.call.target.model)
        for operation in profile.version.pipeline.operations
        if operation.enabled and operation.params.call is not None
    ]
    checks = ModelChecks(workspace)
    problems = [(name, checks.model_error(model)) for name, model in calls]
    if errors := [FieldError("profileId", f"operation {name}: {problem}") for name, problem in problems if problem]:
        raise Invalid.fields(errors)
    return profile


def _turn_profile(profile: Profile) -> TurnProfile:
    return TurnProfile(profile.head.id, profile.version.number, profile.head.enabled, profile.head.session_id)


def _rewrites_user(profile: Profile) -> bool:
    if not profile.head.enabled:
        return False
    plan = plan_turn(profile.version.pipeline, Trigger.REGENERATE)
    steps = (step for steps in plan.steps.values() for step in steps)
    return any(effect.type is EffectType.REWRITE_USER for step in steps for effect in step.effects)


def _branch(ref: ChatRef, chat: Chat, branch_id: str | None) -> ChatBranch:
    if branch_id is None:
        return chat_branches.get(ref, chat.active_branch_id)
    with named_in_body("branchId"):
        return chat_branches.get(ref, branch_id)


def _generate(ref: ChatRef, branch: ChatBranch, request: TurnRequest, turn_id: str, now: datetime) -> _Accepted:
    if branch.length >= MAX_EXCHANGES:
        raise Invalid.field("branchId", f"a branch has at most {MAX_EXCHANGES:,} exchanges: fork it earlier")
    exchange = Exchange(new_id("ex"), branch.length, last_answer=1)
    page = chat_branches.get_page(ref, branch.last_page)
    sessions = page[-1].sessions if page else sessions_before(ref, branch, branch.length)
    written = branch.appending(page, Pointer(exchange.id, turn_id=turn_id, sessions=sessions), new_short_id())
    content = request.content or ""
    variant = Variant(exchange.id, MessageSide.USER, 1, VariantKind.MAIN, content, now, branch.id, turn_id)
    after = replace(written.branch, open_turn=turn_id)
    change = BranchChange(branch, after, (written.page_id, written.pointers), None, exchange, (variant,))
    return _Accepted(change, exchange, 1, 1)


def _regenerate(ref: ChatRef, branch: ChatBranch, turn_id: str, *, rewrites_user: bool) -> _Accepted:
    if not branch.length:
        raise Conflict("the branch has no exchange yet whose answer could be generated again")
    position = branch.length - 1
    page = chat_branches.get_page(ref, branch.page_of(position))
    pointer = page[position % POINTERS_PER_PAGE]
    if not pointer.shows(MessageSide.USER):
        raise Conflict("the user's message of the last exchange is hidden or deleted; show it, or send another one")
    exchange = chat_branches.get_exchange(ref, pointer.exchange_id)
    with_variant(exchange, MessageSide.ANSWER, "branchId")
    number = exchange.next_number(MessageSide.ANSWER)
    reserved = replace(exchange, last_answer=number)
    written = branch.replacing(position, page, replace(pointer, turn_id=turn_id), new_short_id())
    after = replace(written.branch, open_turn=turn_id)
    change = BranchChange(branch, after, (written.page_id, written.pointers), exchange, reserved)
    user = _written_by_person(ref, exchange, pointer.user) if rewrites_user else pointer.user
    return _Accepted(change, reserved, user, number)


def _written_by_person(ref: ChatRef, exchange: Exchange, number: int) -> int:
    """Return the original of a variant that operations have rewritten, because rewriting begins with the person's
    text."""
    variant_keys = [(exchange.id, MessageSide.USER, each) for each in exchange.user if each <= number]
    variants = {each.number: each for each in chat_branches.get_variants(ref, variant_keys).values()}
    while variants[number].kind is VariantKind.REWRITE and (origin := variants[number].based_on) is not None:
        number = origin
    return number


def _head(
    chat: Chat,
    branch: ChatBranch,
    accepted: _Accepted,
    request: TurnRequest,
    turn_id: str,
    profile: TurnProfile | None,
    now: datetime,
) -> TurnHead:
    return TurnHead(
        id=turn_id,
        branch_id=branch.id,
        exchange_id=accepted.exchange.id,
        position=accepted.exchange.position,
        trigger=request.trigger,
        initiator=request.initiator,
        settings=chat.settings,
        user_variant=accepted.user_variant,
        answer_variant=accepted.answer_variant,
        created_at=now,
        deadline_at=now + timedelta(milliseconds=request.deadline_ms),
        profile=profile,
        session=session_name(profile.id, profile.session_id, branch) if profile else "",
        client_request_id=request.client_request_id,
    )


def _started(turn: ChatTurn) -> TurnEvent:
    head = turn.head
    profile = {"id": head.profile.id, "version": head.profile.version} if head.profile else None
    data = {"initiator": head.initiator, "profile": profile, "model": head.settings.model}
    return TurnEvent(1, TurnEventType.STARTED, head.created_at, data)
