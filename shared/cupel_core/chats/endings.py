"""The data that the end of a turn writes: its result, its last events, and the change of its branch."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from typing import Any

from cupel_core.base.deferred import dataclass
from cupel_core.base.ids import new_short_id
from cupel_core.base.messages import ChatRef
from cupel_core.chats.journal import Identity, identity_of
from cupel_core.domain.budgets.money import usd
from cupel_core.domain.chats.branches import POINTERS_PER_PAGE, MessageSide, Pointer
from cupel_core.domain.chats.commits import TurnCommit, artifact_summary, commit_of, operation_records
from cupel_core.domain.chats.messages import Exchange, Variant, VariantKind, VariantStatus
from cupel_core.domain.chats.turns import (
    AbortReason,
    ChatTurn,
    FailedType,
    FinishReason,
    TurnEvent,
    TurnEventType,
    TurnFailure,
    TurnHead,
)
from cupel_core.domain.codec import encode
from cupel_core.domain.pipeline.operations import Hook, ProfileOperation
from cupel_core.domain.pipeline.planning import PipelinePlan
from cupel_core.domain.pipeline.records import commit_report
from cupel_core.domain.pipeline.results import StepResult
from cupel_core.domain.pipeline.steps import first_failure
from cupel_core.domain.pipeline.turns import Artifacts, OpenTurn
from cupel_core.store import chat_branches
from cupel_core.store.chat_branches import BranchChange

_FINISH_REASONS = {AbortReason.USER: FinishReason.USER_ABORT, AbortReason.DEADLINE: FinishReason.DEADLINE}


@dataclass(frozen=True)
class TurnEnding:
    turn: OpenTurn
    main: Mapping[str, Any]
    """The main call, as the turn's result shows it, with `text` if it was answered."""
    started: Collection[tuple[Hook, str]] = ()
    artifacts: Artifacts = field(default_factory=dict)
    failure: TurnFailure | None = None
    abort_reason: AbortReason | None = None
    partial_answer: str = ""
    uncertain_nano_usd: int = 0
    """The maximum cost of calls without an answer."""

    @property
    def has_variant(self) -> bool:
        """Return whether the exchange gets a message from the call, complete or not."""
        return self.answer is not None or bool(self.partial_answer.strip())

    @property
    def answer(self) -> str | None:
        return self.main.get("text")

    def commit(self, plan: PipelinePlan) -> TurnCommit | None:
        """Return None without an answer, because such a turn changes nothing but its own record."""
        return None if self.answer is None else commit_of(plan, self.turn, self.artifacts)

    def artifacts_after(self, head: TurnHead, plan: PipelinePlan) -> dict[str, Any] | None:
        """Return the stored artifacts for later turns. It is None without an answer, or without any artifact."""
        commit = self.commit(plan)
        if commit is None:
            return None
        written = {tag for tag, each in commit.artifacts.items() if each is not self.artifacts.get(tag)}
        after = {
            tag: replace(each, turn_id=head.id, position=head.position) if tag in written else each
            for tag, each in commit.artifacts.items()
        }
        return {tag: encode(each) for tag, each in after.items()} or None


def stopped_call(main: Mapping[str, Any], reason: AbortReason | None) -> Mapping[str, Any]:
    """Return the main call, with the reason if it was in flight when the turn was stopped."""
    if reason is None or not main["performed"] or "finishReason" in main:
        return main
    return {**main, "finishReason": _FINISH_REASONS[reason]}


def result_of(head: TurnHead, plan: PipelinePlan, ending: TurnEnding) -> dict[str, Any]:
    commit = ending.commit(plan)
    return {
        "leftOut": [{"operationId": each.operation_id, "reason": each.reason} for each in plan.omitted],
        "operations": operation_records(plan, ending.turn, ending.started, ending.abort_reason),
        "main": {
            **{name: value for name, value in ending.main.items() if name != "text"},
            "model": head.settings.model,
            "assistantVariantId": head.answer_id if ending.has_variant else None,
        },
        "commits": commit_report(plan, ending.turn) if commit is not None else [],
        "artifacts": artifact_summary(plan, ending.turn, commit) if commit is not None else None,
        "operationsSpend": encode(ending.turn.spend),
        "uncertainUsd": usd(ending.uncertain_nano_usd),
    }


def ending_events(
    turn: ChatTurn, plan: PipelinePlan, ending: TurnEnding, recorded: Collection[Identity], last_seq: int, now: datetime
) -> list[TurnEvent]:
    """Return the last events of a turn, numbered from `last_seq` + 1. They include an end for the main call and each
    planned operation that has none, unless it is `recorded`."""
    failure = ending.failure
    details = {
        "operationId": failure.operation_id if failure else None,
        "errorCode": failure.code if failure else None,
        "errorMessage": failure.message if failure else None,
    }
    finished = {
        "status": turn.status,
        "failedType": turn.failure.type if turn.failure else None,
        "failedDetails": details if turn.failure else None,
        "abortReason": turn.abort_reason,
    }
    events = [event for event in _left_open(turn.head, plan, ending) if identity_of(*event) not in recorded]
    if ending.answer is not None:
        events.append((TurnEventType.COMMIT_FINISHED, {"report": commit_report(plan, ending.turn)}))
    events += [(TurnEventType.PHASE_CHANGED, {"phase": turn.phase}), (TurnEventType.FINISHED, finished)]
    return [TurnEvent(last_seq + number, kind, now, data) for number, (kind, data) in enumerate(events, 1)]


def _left_open(
    head: TurnHead, plan: PipelinePlan, ending: TurnEnding
) -> Iterator[tuple[TurnEventType, dict[str, Any]]]:
    main = ending.main
    if main["performed"] and ending.answer is None:
        ended = {name: main.get(name) for name in ("attempts", "status", "finishReason", "error")}
        attempt = {"model": head.settings.model, "attempt": ended.pop("attempts")}
        variant = head.answer_id if ending.has_variant else None
        yield TurnEventType.MAIN_FINISHED, {**attempt, **ended, "assistantVariantId": variant}
    steps = ((hook, step) for hook, steps in plan.steps.items() for step in steps)
    records = operation_records(plan, ending.turn, ending.started, ending.abort_reason)
    for (hook, step), record in zip(steps, records, strict=True):
        if step.id not in ending.turn.results(hook):
            ended = {name: record.get(name) for name in ("status", "skippedReason", "skippedDetails", "error")}
            yield TurnEventType.OPERATION_FINISHED, {**event_fields(hook, step), **ended, "durationMs": None}


def event_fields(hook: Hook, step: ProfileOperation) -> dict[str, Any]:
    return {"hook": hook, "operationId": step.id, "operationName": step.name}


def ended_fields(result: StepResult) -> dict[str, Any]:
    return {
        "status": result.status,
        "skippedReason": result.skip_reason,
        "skippedDetails": dict(result.details) or None,
        "error": result.error._asdict() if result.error else None,
        "durationMs": result.duration_ms,
    }


def failure_of(
    kind: FailedType, steps: Sequence[ProfileOperation], results: Mapping[str, StepResult]
) -> TurnFailure | None:
    """Return the failure of a turn by the first of its operations that has failed, or None."""
    failed = first_failure(steps, results)
    if failed is None:
        return None
    result = results[failed.id]
    code = result.error.code if result.error else str(result.skip_reason or "validation_error")
    why = result.error.message if result.error else result.payload_error or f"was skipped: {result.skip_reason}"
    return TurnFailure.of(kind, code, f"operation {failed.id}: {why}", failed.id)


def ending_change(ref: ChatRef, head: TurnHead, plan: PipelinePlan, ending: TurnEnding, now: datetime) -> BranchChange:
    branch = chat_branches.get(ref, head.branch_id)
    free = replace(branch, open_turn=None)
    if not ending.has_variant:
        return BranchChange(branch, free)
    page = chat_branches.get_page(ref, branch.page_of(head.position))
    exchange = chat_branches.get_exchange(ref, head.exchange_id)
    pointer = page[head.position % POINTERS_PER_PAGE]
    commit = ending.commit(plan)
    if commit is None:
        pointer, after, variants = _interrupted(pointer, exchange, head, ending, now)
    else:
        pointer, after, variants = _answered(pointer, exchange, head, ending, commit, now)
    written = free.replacing(head.position, page, pointer, new_short_id())
    return BranchChange(branch, written.branch, (written.page_id, written.pointers), exchange, after, variants)


def _answered(
    pointer: Pointer, exchange: Exchange, head: TurnHead, ending: TurnEnding, commit: TurnCommit, now: datetime
) -> tuple[Pointer, Exchange, tuple[Variant, ...]]:
    number, main = head.answer_variant, ending.main
    details = {
        "modelId": main.get("modelVersion") or head.settings.model,
        "usage": main["usage"],
        "costUsd": main["costUsd"],
        "annotations": list(commit.annotations),
    }
    side = MessageSide.ANSWER
    text = ending.answer or ""
    variants = [Variant(exchange.id, side, number, VariantKind.MAIN, text, now, head.branch_id, head.id, None, details)]
    after = replace(exchange, answer=(*exchange.answer, number), last_answer=max(exchange.last_answer, number))
    pointer = replace(pointer.selecting(side, number), hidden=pointer.hidden - {side}, deleted=pointer.deleted - {side})
    if commit.answer is not None:
        rewrite = after.next_number(side)
        variants.append(_rewrite(exchange.id, side, rewrite, commit.answer, number, head, now, details))
        after = replace(after, answer=(*after.answer, rewrite), last_answer=rewrite)
        pointer = pointer.selecting(side, rewrite)
    user = MessageSide.USER
    if commit.user is not None:
        rewrite = after.next_number(user)
        variants.append(_rewrite(exchange.id, user, rewrite, commit.user, head.user_variant, head, now, {}))
        after = replace(after, user=(*after.user, rewrite))
        pointer = pointer.selecting(user, rewrite)
    if commit.artifacts:
        pointer = pointer.storing(head.session, head.id)
    return pointer, after, tuple(variants)


def _interrupted(
    pointer: Pointer, exchange: Exchange, head: TurnHead, ending: TurnEnding, now: datetime
) -> tuple[Pointer, Exchange, tuple[Variant, ...]]:
    """Return the text of a failed or stopped call as a variant. It is selected if a person has stopped the call or its
    time was up, and the branch has no answer."""
    side, number = MessageSide.ANSWER, head.answer_variant
    variant = Variant(
        exchange.id,
        side,
        number,
        VariantKind.MAIN,
        ending.partial_answer,
        now,
        head.branch_id,
        head.id,
        details={"modelId": head.settings.model},
        status=VariantStatus.ERROR if ending.abort_reason is None else VariantStatus.ABORTED,
    )
    after = replace(exchange, answer=(*exchange.answer, number), last_answer=max(exchange.last_answer, number))
    if ending.abort_reason is not None and (pointer.answer is None or side in pointer.deleted):
        pointer = replace(
            pointer.selecting(side, number), hidden=pointer.hidden - {side}, deleted=pointer.deleted - {side}
        )
    return pointer, after, (variant,)


def _rewrite(
    exchange_id: str,
    side: MessageSide,
    number: int,
    text: str,
    based_on: int,
    head: TurnHead,
    now: datetime,
    details: Mapping[str, Any],
) -> Variant:
    kind = VariantKind.REWRITE
    return Variant(exchange_id, side, number, kind, text, now, head.branch_id, head.id, based_on, details)
