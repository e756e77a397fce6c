"""A worker that runs turns: the operations before the main call, the call, the operations after it, and the end.

A worker claims a turn and renews the claim each second, by which it also learns of an abort. Paid results are stored
before they are used, so another worker that continues a turn repeats at most the calls that were in flight.

1. The turn is claimed for 20 s. If the worker dies, the claim ends, and the sweeper sends the message again.
2. After each paid call of an operation, and with every event of an end, the results and events so far are stored. A
call that has a result is not made again.
3. Before the main call, the prompt is stored, and before each call with a price, its maximum cost. A call in flight at
a crash is made again and counts as uncertain.
4. During the call, pieces of its text are stored four times a second. Another worker begins a new attempt, which voids
them.
5. The answer is stored with the turn; from then on, the model is not called again.
6. One transaction writes the end of the turn, its branch, exchange and variants, its artifacts and its last events. It
is written completely or not at all, and another worker repeats it.

All writes but those of text require the claim, so a worker that has lost it records nothing. A turn begins with the
artifacts that the pointer of the exchange before it names, so another answer to the same message begins with the same
artifacts as the first one.
"""

import asyncio
import uuid
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from functools import partial
from typing import Any

from aws_lambda_powertools import Logger

from cupel_core.base.clock import utc_now
from cupel_core.base.deferred import dataclass
from cupel_core.base.errors import NotFound, RetryableError
from cupel_core.base.messages import ChatRef, TurnOrder
from cupel_core.chats.calls import ChatCalls, answer_fields, call_failure, chat_calls, main_request, perform_or_fail
from cupel_core.chats.drafts import DraftWriter
from cupel_core.chats.endings import (
    TurnEnding,
    ended_fields,
    ending_change,
    ending_events,
    event_fields,
    failure_of,
    result_of,
    stopped_call,
)
from cupel_core.chats.journal import ClaimLost, TurnJournal, repeated
from cupel_core.chats.progress import load_partial_answer, load_turn
from cupel_core.chats.prompts import template_names
from cupel_core.conversations.pipeline_turn import TurnOperations
from cupel_core.conversations.turn import Turn, run_turn
from cupel_core.domain.chats.commits import operation_fields
from cupel_core.domain.chats.turns import (
    CLAIM,
    AbortReason,
    ChatTurn,
    FailedType,
    TurnEventType,
    TurnFailure,
    TurnPhase,
)
from cupel_core.domain.codec import encode
from cupel_core.domain.conversations.conversation import ConversationState
from cupel_core.domain.conversations.model_request import (
    Message,
    MessageRole,
    RequestParameter,
)
from cupel_core.domain.limits.slots import Slot, has_room
from cupel_core.domain.pipeline.operations import Hook, ProfileOperation
from cupel_core.domain.pipeline.prompt import PromptMessage, prompt_hash
from cupel_core.domain.pipeline.results import PaidAnswer, StepResult
from cupel_core.domain.pipeline.run_profile import RunProfile
from cupel_core.domain.pipeline.turns import Artifacts, OpenTurn, PipelineState
from cupel_core.providers.errors import CallPostponed, ProviderError, RetryLater
from cupel_core.store import chat_turns, chats, queues, slots
from cupel_core.store.clients import AWS_ERRORS
from cupel_core.store.settings import settings

logger = Logger(child=True)
RENEW_SECONDS = 1.0
_RENEW_SLOT_AFTER = timedelta(seconds=5)
_MAX_WAIT_SECONDS = 8
"""A turn that has to wait for others of its workspace tries again within this time."""
_FIRST_WATCH_SECONDS = 0.1
"""The first renewal waits this long. The claim is new then, and the first calls are more urgent."""
_MAX_END_ATTEMPTS = 8


class WorkResult(StrEnum):
    NOTHING = "nothing"
    """The turn is over, its chat was deleted, or another worker has it."""
    ENDED = "ended"
    WAITING = "waiting"
    """The workspace has its maximum of turns in progress. The message was sent again."""


@dataclass
class TurnWorker:
    ref: ChatRef
    worker_id: str
    turn: ChatTurn
    profile: RunProfile
    journal: TurnJournal
    draft: DraftWriter
    calls: ChatCalls
    messages: tuple[Message, ...]
    artifacts: Artifacts
    open_turn: OpenTurn
    main: Mapping[str, Any]
    now: Callable[[], datetime] = utc_now
    failure: TurnFailure | None = None
    abort_reason: AbortReason | None = None
    started: set[tuple[Hook, str]] = field(default_factory=set)
    is_lost: bool = False
    slot_renewed_at: datetime | None = None
    _prompt: list[dict[str, Any]] | None = field(default=None, init=False, repr=False)

    async def run(self) -> WorkResult:
        self.calls.unanswered.store = self._store_before_call
        self._stop_if_due(self.turn)
        return await self._end() if self.abort_reason is not None else await self._run()

    async def _run(self) -> WorkResult:
        task = asyncio.ensure_future(self._run_phases())
        watching = asyncio.ensure_future(self._watch(task))
        try:
            await task
        except asyncio.CancelledError:
            if self.abort_reason is None and not self.is_lost:
                raise
        except ClaimLost:
            self.is_lost = True
        finally:
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await watching
        if self.is_lost:
            return WorkResult.NOTHING
        return await self._end()

    async def _watch(self, task: "asyncio.Future[None]") -> None:
        """Renew the claim, store events, and stop the turn when it is aborted or its time is up."""
        await asyncio.sleep(_FIRST_WATCH_SECONDS)
        while not task.done():
            turn: ChatTurn | None = None
            try:
                turn = await asyncio.to_thread(self._renew)
                self.is_lost = turn is None
                await self.journal.flush()
            except (*AWS_ERRORS, ClaimLost):  # It is tried again, until another worker takes the turn.
                logger.warning("a turn's claim could not be renewed", exc_info=True)
            left = self._stop_if_due(turn)
            if self.is_lost or self.abort_reason is not None:
                task.cancel()
                return
            await asyncio.sleep(min(RENEW_SECONDS, left))

    def _stop_if_due(self, turn: ChatTurn | None) -> float:
        left = (self.turn.head.deadline_at - self.now()).total_seconds()
        if turn is not None and turn.abort_requested_at is not None:
            self.abort_reason = AbortReason.USER
        elif left <= 0:
            self.abort_reason = AbortReason.DEADLINE
        return left

    def _renew(self) -> ChatTurn | None:
        if self.slot_renewed_at is None or self.now() - self.slot_renewed_at >= _RENEW_SLOT_AFTER:
            self.slot_renewed_at = self.now()
            with suppress(*AWS_ERRORS, RetryableError):  # The next renewals extend it in time.
                take_slot(self.ref.workspace, self.worker_id, self.now())
        return chat_turns.renew(self.ref, self.turn.id, self.worker_id, self.now() + CLAIM)

    async def _run_phases(self) -> None:
        profile, journal, head = self.profile, self.journal, self.turn.head
        operations = TurnOperations(
            profile,
            self.calls.operations,
            case={},
            variables={},
            on_start=self._note_start,
            on_answer=self._note_operation_answer,
            on_end=self._note_end,
            perform=perform_or_fail,
            chat=template_names(self.ref, head),
        )
        state = ConversationState(messages=self.messages, pipeline=PipelineState(self.artifacts, turn=self.open_turn))
        plan = [operation_fields(hook, step) for hook, steps in profile.plan.steps.items() for step in steps]
        journal.enter(TurnPhase.PLANNING, plan=plan)
        journal.enter(TurnPhase.BEFORE_MAIN_LLM)
        if not self.open_turn.is_prepared:
            state = await operations.run_before(state, self._save, head.created_at)
        journal.enter(TurnPhase.BARRIER)
        if self._has_failed(Hook.BEFORE, FailedType.BEFORE_BARRIER):
            return
        traced = operations.traced_prompt(state)
        prompt = tuple(each.message for each in traced)
        journal.enter(TurnPhase.MAIN_LLM)
        if "text" not in self.main and not await self._call(traced, prompt):
            return
        answer = Message(MessageRole.ASSISTANT, self.main["text"])
        state = operations.answered(replace(state, messages=(*state.messages, answer)), prompt)
        journal.enter(TurnPhase.AFTER_MAIN_LLM)
        await operations.run_after(state, self._save)
        if not self._has_failed(Hook.AFTER, FailedType.AFTER_MAIN_LLM):
            journal.enter(TurnPhase.COMMIT)

    async def _call(self, traced: Iterable[PromptMessage], prompt: tuple[Message, ...]) -> bool:
        """Call the model, and store the answer. Return whether there is one. A call that has failed is not made
        again."""
        head, journal = self.turn.head, self.journal
        if self.main["performed"] and (error := self.main.get("error")) is not None:
            self.failure = TurnFailure.of(FailedType.MAIN_LLM, error["code"], error["message"])
            return False
        journal.add(TurnEventType.MAIN_STARTED, self._attempt)
        begun = {"performed": True, "attempts": self.turn.attempts, "status": "aborted"}
        self.main = {**begun, "promptHash": prompt_hash(prompt)}
        self._prompt = [{**each.message.to_json(), "operationId": each.operation_id} for each in traced]
        self._note_change()
        request, omitted = main_request(head, prompt)
        answered: Turn | None = None
        try:
            async with self.draft.writing():
                answered = await run_turn(request, self.calls.target)
        except (ProviderError, RetryLater, CallPostponed) as error:
            self._note_failed_call(error)
            return False
        finally:  # This runs even if the turn is stopped while the last text is written.
            if answered is not None:
                self._note_answer(answered, omitted)
        await journal.flush()
        return True

    async def _store_before_call(self) -> None:
        self._note_change()
        await self.journal.flush(self._prompt)
        self._prompt = None

    def _note_answer(self, answered: Turn, omitted: Iterable[RequestParameter]) -> None:
        head = self.turn.head
        self.main = {**self.main, **answer_fields(self.calls.target.account, head, answered, omitted)}
        self.calls.unanswered.note_stored()
        finished = {name: self.main[name] for name in ("status", "finishReason", "usage")}
        self.journal.add(
            TurnEventType.MAIN_FINISHED, {**self._attempt, **finished, "assistantVariantId": head.answer_id}
        )
        self._note_change()

    def _note_failed_call(self, error: ProviderError | RetryLater | CallPostponed) -> None:
        failed = call_failure(error, self.ref.workspace)
        self.failure = TurnFailure.of(FailedType.MAIN_LLM, failed.code, failed.message)
        problem = {"code": self.failure.code, "message": self.failure.message}
        self.main = {**self.main, "status": "error", "finishReason": failed.reason, "error": problem}
        event = {name: self.main[name] for name in ("status", "finishReason", "error")}
        variant = self.turn.head.answer_id if self.draft.text.strip() else None
        self.journal.add(TurnEventType.MAIN_FINISHED, {**self._attempt, **event, "assistantVariantId": variant})
        self._note_change()

    @property
    def _attempt(self) -> dict[str, Any]:
        return {"model": self.turn.head.settings.model, "attempt": self.turn.attempts}

    def _has_failed(self, hook: Hook, kind: FailedType) -> bool:
        failure = failure_of(kind, self.profile.plan.steps[hook], self.open_turn.results(hook))
        self.failure = failure or self.failure
        return failure is not None

    def _note_start(self, hook: Hook, step: ProfileOperation) -> None:
        self.started.add((hook, step.id))
        self.journal.add(TurnEventType.OPERATION_STARTED, event_fields(hook, step))

    def _note_operation_answer(self, _: Hook, step: ProfileOperation, answer: PaidAnswer) -> None:
        self.open_turn = replace(self.open_turn, answers={**self.open_turn.answers, step.id: answer})
        self.calls.unanswered.note_stored()
        self._note_change()

    def _note_end(self, hook: Hook, step: ProfileOperation, result: StepResult) -> None:
        results = {**self.open_turn.results(hook), step.id: result}
        self.open_turn = self.open_turn.with_results(hook, results, self.open_turn.answers)
        self.journal.add(TurnEventType.OPERATION_FINISHED, {**event_fields(hook, step), **ended_fields(result)})
        self._note_change()

    async def _save(self, state: ConversationState) -> None:
        del state  # Its answers and results were noted as they came.
        await self.journal.flush()

    def _note_change(self) -> None:
        self.journal.note_change(self._checkpoint)

    def _checkpoint(self) -> dict[str, Any]:
        uncertain = self.calls.unanswered.nano_usd
        return {"turn": encode(self.open_turn), "main": dict(self.main), "uncertainNanoUsd": uncertain}

    async def _end(self) -> WorkResult:
        head, plan = self.turn.head, self.profile.plan
        ending = TurnEnding(
            self.open_turn,
            stopped_call(self.main, self.abort_reason),
            self.started,
            self.artifacts,
            self.failure,
            self.abort_reason,
            await asyncio.to_thread(load_partial_answer, self.ref, self.turn.id, self.main, self.draft.text),
            self.calls.unanswered.nano_usd,
        )
        artifacts = ending.artifacts_after(head, plan)
        await self.journal.flush()
        for _ in range(_MAX_END_ATTEMPTS):
            now = self.now()
            ended = self.turn.ended(
                now, result_of(head, plan, ending), failure=self.failure, abort_reason=self.abort_reason
            )
            events = ending_events(ended, plan, ending, self.journal.recorded, self.journal.last_seq, now)
            change = await asyncio.to_thread(ending_change, self.ref, head, plan, ending, now)
            written = self.ref, ended, self.worker_id, change, events, artifacts
            if await repeated(chat_turns.end, *written):
                return WorkResult.ENDED
            try:
                await asyncio.to_thread(chats.get, self.ref)
            except NotFound:
                return WorkResult.NOTHING
            if await asyncio.to_thread(self._renew) is None:
                return WorkResult.NOTHING
        raise RetryableError("the turn could not be ended, because its branch is being changed all the time")


async def work(order: TurnOrder, seconds_left: Callable[[], float]) -> WorkResult:
    ref, worker_id = ChatRef(order.workspace, order.chat_id), uuid.uuid4().hex[:12]
    if not await asyncio.to_thread(take_slot, ref.workspace, worker_id, utc_now()):
        await asyncio.to_thread(_send_again, ref, order, utc_now())
        return WorkResult.WAITING
    try:
        return await _work(ref, worker_id, order, seconds_left)
    finally:
        with suppress(*AWS_ERRORS, RetryableError):  # The slot expires.
            await asyncio.shield(asyncio.to_thread(release_slot, worker_id))


def _send_again(ref: ChatRef, order: TurnOrder, now: datetime) -> None:
    again = order.model_copy(update={"waits": order.waits + 1})
    delay = min(_MAX_WAIT_SECONDS, 2**order.waits)
    queues.send(settings().turn_queue_url, [again], delay_seconds=delay, group=ref.workspace)
    chat_turns.touch(ref, order, now)


async def _work(ref: ChatRef, worker_id: str, order: TurnOrder, seconds_left: Callable[[], float]) -> WorkResult:
    now = utc_now()
    claimed = await asyncio.to_thread(chat_turns.claim, ref, order.turn_id, worker_id, now, now + CLAIM)
    if claimed is None:
        return WorkResult.NOTHING
    try:
        loaded = await load_turn(ref, claimed)
        turn, progress = claimed.turn, loaded.progress
        async with chat_calls(ref.workspace, turn.head, loaded.accounts, loaded.draft, seconds_left) as calls:
            calls.unanswered.nano_usd += progress.uncertain_nano_usd
            worker = TurnWorker(
                ref,
                worker_id,
                turn,
                profile=loaded.profile,
                journal=TurnJournal(ref, turn.id, worker_id, progress.events, turn.last_seq),
                draft=loaded.draft,
                calls=calls,
                messages=loaded.messages,
                artifacts=progress.artifacts,
                open_turn=progress.operations,
                main=progress.main,
                started=progress.started,
            )
            return await worker.run()
    except (NotFound, ClaimLost):  # The chat was deleted, or another request has ended the turn.
        return WorkResult.NOTHING
    except BaseException:
        await asyncio.shield(asyncio.to_thread(chat_turns.release, ref, order.turn_id, worker_id))
        raise


def take_slot(workspace: str, worker_id: str, now: datetime) -> bool:
    """Take a slot, or extend the worker's own. Return whether it has one. No workspace may occupy the whole
    function."""
    slot = Slot(workspace, (now + CLAIM).timestamp())
    room = partial(has_room, quota=settings().workspace_turns)
    changed = slots.change(slots.TURNS, lambda taken: taken.take(worker_id, slot, room, now.timestamp()))
    return worker_id in changed.value


def release_slot(worker_id: str) -> None:
    slots.change(slots.TURNS, lambda taken: taken.release(worker_id))
