"""Bugs injected into the product's code of chats at run time: each must break an invariant."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import FunctionType
from typing import Any, NamedTuple

from tests.simulation.chats.cloud import ChatConditions
from tests.simulation.harness import Patches
from tests.simulation.mutations import make_calls_while_the_account_is_paused

type Inject = Callable[[Patches], None]


class ChatMutation(NamedTuple):
    """`conditions` are those under which the bug is detected soonest; seeds before `first_seed` do not detect it."""

    inject: Inject
    conditions: ChatConditions
    first_seed: int


CHAT_MUTATIONS: dict[str, ChatMutation] = {}
NO_PAUSES = ChatConditions(has_pauses=False)
"""Those change what happens, so that another seed detects a bug."""
PAUSES = ChatConditions(has_large_skew=False, has_pauses=True)
SMALL_SKEW = ChatConditions(has_large_skew=False, has_pauses=False)
PROFILE = ChatConditions(has_large_skew=False, has_profile=True, has_pauses=False)
FORKS = ChatConditions(has_large_skew=False, has_forks=True, has_pauses=False)
SLOW_MODELS = ChatConditions(has_large_skew=False, has_slow_models=True, has_pauses=False)


def mutation(conditions: ChatConditions = NO_PAUSES, first_seed: int = 0) -> Callable[[Inject], Inject]:
    def register(inject: Inject) -> Inject:
        CHAT_MUTATIONS[inject.__name__] = ChatMutation(inject, conditions, first_seed)
        return inject

    return register


# ---- what is recorded


@mutation(ChatConditions(has_large_skew=True, has_slow_models=True, has_pauses=False), first_seed=180)
def append_events_without_a_condition(patches: Patches) -> None:
    """Neither that the worker has the turn, nor that there is no such event."""
    from cupel_core.store import chat_turns, table

    class Unconditional(table.ConditionalTransaction):
        def save(self, item: Any, *_: Any, **__: Any) -> None:
            super().save(item)

        def update(self, item: Any, actions: Any, *_: Any, **__: Any) -> None:
            super().update(item, actions)

    def begin() -> Unconditional:
        return Unconditional(connection=table.connection())

    patches.set(chat_turns, "record", _with_names(chat_turns.record, conditional_transaction=begin))


@mutation(SMALL_SKEW)
def store_the_answer_before_the_end_of_its_turn(patches: Patches) -> None:
    """In a transaction of its own, so that a crash can come between."""
    from cupel_core.store import chat_branches, chat_turns
    from cupel_core.store.chat_branches import BranchChange

    end = chat_turns.end

    def mutated(ref: Any, turn: Any, worker_id: Any, change: BranchChange, *others: Any) -> bool:
        if change.variants:
            locked = replace(change, after=replace(change.after, open_turn=turn.id))
            if not chat_branches.apply(ref, locked, turn.finished_at):
                return False
            stored = chat_branches.get(ref, turn.head.branch_id)
            change = BranchChange(stored, replace(stored, open_turn=None))
        return end(ref, turn, worker_id, change, *others)

    patches.set(chat_turns, "end", mutated)


@mutation(SMALL_SKEW)
def free_the_branch_before_the_end_of_its_turn(patches: Patches) -> None:
    from cupel_core.store import chat_branches, chat_turns
    from cupel_core.store.chat_branches import BranchChange

    end = chat_turns.end

    def mutated(ref: Any, turn: Any, worker_id: Any, change: BranchChange, *others: Any) -> bool:
        chat_branches.apply(ref, BranchChange(change.before, change.after), turn.finished_at)
        return end(ref, turn, worker_id, change, *others)

    patches.set(chat_turns, "end", mutated)


@mutation(SMALL_SKEW, first_seed=13)
def go_on_without_reading_what_is_recorded(patches: Patches) -> None:
    """A worker that takes over begins with the events, and without results and answer."""
    from cupel_core.chats import progress

    load_progress = progress.load_progress
    patches.set(
        progress,
        "load_progress",
        lambda ref, stored, branch: load_progress(ref, stored._replace(checkpoint=None), branch),
    )


@mutation(PROFILE)
def leave_the_operations_out_of_the_checkpoint(patches: Patches) -> None:
    from cupel_core.chats.worker import TurnWorker
    from cupel_core.domain.codec import encode
    from cupel_core.domain.pipeline.turns import OpenTurn

    checkpoint = TurnWorker._checkpoint

    def mutated(self: TurnWorker) -> dict[str, Any]:
        return {**checkpoint(self), "turn": encode(OpenTurn(self.open_turn.now))}

    patches.set(TurnWorker, "_checkpoint", mutated)


@mutation(PROFILE)
def leave_the_answer_out_of_the_checkpoint(patches: Patches) -> None:
    from cupel_core.chats.worker import TurnWorker

    checkpoint = TurnWorker._checkpoint

    def mutated(self: TurnWorker) -> dict[str, Any]:
        main = {name: value for name, value in self.main.items() if name != "text"}
        return {**checkpoint(self), "main": main}

    patches.set(TurnWorker, "_checkpoint", mutated)


@mutation(PROFILE, first_seed=29)
def apply_effects_in_the_order_of_the_ends_of_operations(patches: Patches) -> None:
    from cupel_core.chats import endings
    from cupel_core.domain.pipeline.planning import PipelinePlan
    from cupel_core.domain.pipeline.turns import OpenTurn

    commit_of, commit_report = endings.commit_of, endings.commit_report

    def by_end(plan: PipelinePlan, turn: OpenTurn) -> PipelinePlan:
        steps = {
            hook: tuple(sorted(of_hook, key=lambda step: _position(list(turn.results(hook)), step.id)))
            for hook, of_hook in plan.steps.items()
        }
        return replace(plan, steps=steps)

    patches.set(endings, "commit_of", lambda plan, turn, *others: commit_of(by_end(plan, turn), turn, *others))
    patches.set(endings, "commit_report", lambda plan, turn: commit_report(by_end(plan, turn), turn))


@mutation(PROFILE)
def store_artifacts_without_an_answer(patches: Patches) -> None:
    from cupel_core.chats.endings import TurnEnding
    from cupel_core.domain.chats.commits import commit_of
    from cupel_core.domain.codec import encode

    def mutated(self: TurnEnding, _: Any, plan: Any) -> dict[str, Any] | None:
        commit = commit_of(plan, self.turn, self.artifacts)
        return {tag: encode(each) for tag, each in commit.artifacts.items()} or None

    patches.set(TurnEnding, "artifacts_after", mutated)


@mutation(PROFILE)
def regenerate_with_the_newest_artifacts(patches: Patches) -> None:
    from cupel_core.chats import progress

    load_artifacts = progress.load_artifacts

    def mutated(ref: Any, branch: Any, session: str, before: int) -> Any:
        return load_artifacts(ref, branch, session, before + 1)

    patches.set(progress, "load_artifacts", mutated)


# ---- who works on a turn, and until when


@mutation(PAUSES)
def call_models_while_the_account_is_paused(patches: Patches) -> None:
    make_calls_while_the_account_is_paused(patches)


@mutation(PROFILE, first_seed=11)
def do_not_look_for_aborts(patches: Patches) -> None:
    from cupel_core.chats.worker import TurnWorker

    stop_if_due = TurnWorker._stop_if_due
    patches.set(TurnWorker, "_stop_if_due", lambda self, _: stop_if_due(self, None))


@mutation(SLOW_MODELS)
def do_not_look_at_the_deadline(patches: Patches) -> None:
    from cupel_core.chats.worker import TurnWorker
    from cupel_core.domain.chats.turns import AbortReason

    def mutated(self: TurnWorker, turn: Any) -> float:
        if turn is not None and turn.abort_requested_at is not None:
            self.abort_reason = AbortReason.USER
        return 1.0

    patches.set(TurnWorker, "_stop_if_due", mutated)


@mutation(PROFILE, first_seed=12)
def call_the_model_before_the_barrier(patches: Patches) -> None:
    """Whether or not the required operations are done."""
    from cupel_core.chats.worker import TurnWorker
    from cupel_core.conversations.pipeline_turn import TurnOperations
    from cupel_core.domain.pipeline.operations import Hook

    has_failed = TurnWorker._has_failed

    def mutated(self: TurnWorker, hook: Hook, kind: Any) -> bool:
        return hook is not Hook.BEFORE and has_failed(self, hook, kind)

    patches.set(TurnWorker, "_has_failed", mutated)
    patches.set(TurnOperations, "_check", lambda *_: None)


@mutation(SLOW_MODELS, first_seed=100)
def ignore_the_claims_of_other_workers(patches: Patches) -> None:
    from cupel_core.store import chat_turns

    patches.set(chat_turns, "_is_unclaimed", lambda _: chat_turns.TurnItem.pk.exists())


@mutation(SLOW_MODELS, first_seed=11)
def do_not_renew_claims_of_turns(patches: Patches) -> None:
    from cupel_core.chats.worker import TurnWorker
    from cupel_core.store import chat_turns

    patches.set(TurnWorker, "_renew", lambda self: chat_turns.get(self.ref, self.turn.id))


@mutation(SMALL_SKEW, first_seed=24)
def do_not_list_turns_for_the_sweeper(patches: Patches) -> None:
    """An order that is lost is never sent again."""
    from cupel_core.store import chat_turns

    patches.set(chat_turns, "list_open", lambda *_: iter(()))


# ---- branches and requests


@mutation(FORKS, first_seed=24)
def do_not_reserve_the_number_of_an_answer(patches: Patches) -> None:
    from cupel_core.chats import turns

    regenerate = turns._regenerate

    def mutated(*args: Any) -> Any:
        accepted = regenerate(*args)
        return accepted._replace(change=replace(accepted.change, exchange_before=None, exchange=None))

    patches.set(turns, "_regenerate", mutated)


@mutation(SMALL_SKEW)
def accept_turns_while_one_is_in_progress(patches: Patches) -> None:
    from cupel_core.chats import turns

    patches.set(turns, "check_is_free", lambda _: None)


@mutation(SMALL_SKEW, first_seed=32)
def forget_the_ids_of_requests(patches: Patches) -> None:
    from cupel_core.store import chat_turns

    create = chat_turns.create
    patches.set(chat_turns, "create", lambda *args: create(*args[:-1], None))


@mutation(FORKS)
def change_pages_that_other_branches_have(patches: Patches) -> None:
    from cupel_core.domain.chats.branches import ChatBranch

    patches.set(ChatBranch, "shared", lambda self: self)


@mutation(FORKS, first_seed=2_147)
def change_exchanges_whatever_others_have_changed(patches: Patches) -> None:
    from cupel_core.store import chat_branches

    def mutated(transaction: Any, ref: Any, before: Any, after: Any) -> None:
        class Unconditional:
            def save(self, item: Any, **_: Any) -> None:
                transaction.save(item)

        add_exchange(Unconditional(), ref, before, after)

    add_exchange = chat_branches._add_exchange
    patches.set(chat_branches, "_add_exchange", mutated)


# ---- deletion


@mutation(SMALL_SKEW, first_seed=15)
def leave_the_long_texts_of_deleted_chats(patches: Patches) -> None:
    from cupel_core.store import blobs

    patches.set(blobs, "delete_prefix", lambda *_: True)


@mutation(SMALL_SKEW)
def leave_the_turns_of_deleted_chats(patches: Patches) -> None:
    from cupel_core.store import partitions

    erase = partitions.erase

    def mutated(partition: str, **options: Any) -> bool:
        return partition.endswith("#turns") or erase(partition, **options)

    patches.set(partitions, "erase", mutated)


def _with_names(function: Any, **names: Any) -> FunctionType:
    """A copy of a function to which names of its module mean something else."""
    scope: Mapping[str, Any] = function.__globals__
    return FunctionType(function.__code__, {**scope, **names}, function.__name__, function.__defaults__)


def _position(names: Sequence[str], name: str) -> int:
    return names.index(name) if name in names else len(names)
