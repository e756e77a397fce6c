"""Bugs injected into the protocol at run time: a simulator that does not detect them proves nothing."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from tests.simulation.faults import Conditions
from tests.simulation.harness import Patches, simulation

type Inject = Callable[[Patches], None]


class Mutation(NamedTuple):
    """`conditions` are those under which the bug is detected soonest; seeds before `first_seed` do not detect it."""

    inject: Inject
    conditions: Conditions
    first_seed: int


MUTATIONS: dict[str, Mutation] = {}
MAX_SCHEDULES = 1_500
"""In which each is detected. `python -m tests.simulation --detections` prints the seeds."""


ALL = Conditions(has_tools=False)
PROFILE = Conditions(has_large_skew=False, has_profile=True)
TOOLS = Conditions(has_tools=True, has_large_skew=False)


def mutation(conditions: Conditions = ALL, first_seed: int = 0) -> Callable[[Inject], Inject]:
    def register(inject: Inject) -> Inject:
        MUTATIONS[inject.__name__] = Mutation(inject, conditions, first_seed)
        return inject

    return register


def fail_analyses(patches: Patches) -> None:
    """No bug of the protocol: it records the failure. Faults alone hardly ever outlast all attempts."""
    from cupel_core.analysis import workflow
    from cupel_core.base.errors import RetryableError

    def fail(*_: Any) -> str:
        raise RetryableError("the counts cannot be read")

    patches.set(workflow, "analyze", fail)


LIMITED_SWEEPER, LARGE_SKEW = Conditions(has_limited_sweeper=True), Conditions(has_large_skew=True)
SMALL_SKEW = Conditions(has_large_skew=False)
BUDGET = Conditions(has_large_skew=False, has_budget=True)
WORKSPACE_BUDGET = Conditions(has_large_skew=False, has_workspace_budget=True)
BOTH_BUDGETS = Conditions(has_large_skew=False, has_budget=True, has_workspace_budget=True)
SLOW_MODELS = Conditions(has_large_skew=False, has_slow_models=True)


@mutation(LIMITED_SWEEPER)
def acknowledge_before_recording(patches: Patches) -> None:
    from cupel_core.runs.probing import committer

    write = committer._write

    def mutated(finished: Sequence[Any], ended: Sequence[Any]) -> None:
        _acknowledge(ended)
        write(finished, ended)

    patches.set(committer, "_write", mutated)


@mutation(LIMITED_SWEEPER, first_seed=1_159)
def acknowledge_before_propagating(patches: Patches) -> None:
    """Records in the leaf and deletes the message before it propagates to the parents."""
    from cupel_core.runs import record_outcomes
    from cupel_core.runs.probing import committer
    from cupel_core.store import barrier, executions

    write, propagate = committer._write, barrier.propagate

    def postpone(*args: Any) -> bool:
        _postponed().append(args)
        return False

    def mutated(finished: Sequence[Any], ended: Sequence[Any]) -> None:
        write(finished, ended)
        _acknowledge(ended)
        while _postponed():
            tree, node, item = _postponed().pop()
            if propagate(tree, node, item):
                fencing_token = next(
                    claimed.probe_slice.fencing_token for claimed in [*ended, *(probe.claimed for probe in finished)]
                )
                executions.start_finish(tree.ref, fencing_token)

    patches.set(record_outcomes, "barrier", _PatchedModule(barrier, propagate=postpone))
    patches.set(committer, "_write", mutated)


@mutation(first_seed=1)
def count_instead_of_adding_to_a_set(patches: Patches) -> None:
    from cupel_core.domain.runs.barrier import InnerNode
    from cupel_core.domain.runs.run_spend import RunSpend
    from cupel_core.store import barrier, barrier_items
    from cupel_core.store.clients import dynamodb
    from cupel_core.store.settings import settings

    def mutated(tree: Any, node: Any, value: int, spend: Mapping[str, Any]) -> Any:
        response = dynamodb().update_item(
            TableName=settings().table_name,
            Key=barrier_items.node_key(tree.ref, node, tree.retry_round),
            UpdateExpression="ADD childCount :one",
            ExpressionAttributeValues={":one": {"N": "1"}},
            ReturnValues="UPDATED_NEW",
        )
        count = int(response["Attributes"]["childCount"]["N"])
        return barrier_items.InnerItem(InnerNode(frozenset(range(count))), RunSpend(), None)

    patches.set(barrier, "_add_member", mutated)


@mutation(first_seed=7)
def start_unnamed_executions(patches: Patches) -> None:
    from cupel_core.base.ids import new_id
    from cupel_core.store import executions

    start = executions._start
    patches.set(executions, "_start", lambda request: start(request._replace(name=new_id("execution"))))


@mutation(first_seed=4)
def do_not_check_the_fencing_token(patches: Patches) -> None:
    from cupel_core.runs.probing.caches import RunCache

    async def mutated(self: RunCache, ref: Any, fencing_token: int) -> Any:
        return await self.get(ref)

    patches.set(RunCache, "get_open_run", mutated)


@mutation(LIMITED_SWEEPER, first_seed=55)
def do_not_reread_the_run_for_a_newer_token(patches: Patches) -> None:
    from cupel_core.domain.runs.run import ACTIVE
    from cupel_core.runs.probing.caches import RunCache

    async def mutated(self: RunCache, ref: Any, fencing_token: int) -> Any:
        run = await self.get(ref)
        return run if run is not None and run.fencing_token == fencing_token and run.status in ACTIVE else None

    patches.set(RunCache, "get_open_run", mutated)


@mutation(first_seed=66)
def do_not_check_the_run_before_a_call(patches: Patches) -> None:
    from cupel_core.runs.probing.probe_runner import ProbeRunner

    async def mutated(self: ProbeRunner, claimed: Any) -> None:
        return

    patches.set(ProbeRunner, "raise_if_halted", mutated)


@mutation(SMALL_SKEW, first_seed=3)
def make_calls_while_the_account_is_paused(patches: Patches) -> None:
    """Conversations that have started make their further calls, and graders theirs, whether it is paused or not."""
    from cupel_core.accounts.leases.holder import LeaseHolder

    def mutated(self: LeaseHolder) -> bool:
        return self._blocked_until > self._clock()

    patches.set(LeaseHolder, "_is_blocked", property(mutated))
    patches.set(LeaseHolder, "postpone_if_closed", lambda _: None)


@mutation(SLOW_MODELS, first_seed=66)
def do_not_govern_the_calls_of_graders(patches: Patches) -> None:
    """Judges and simulated users call their models without a slot of the account."""
    from cupel_core.providers.call_guard import no_guard
    from cupel_core.runs.probing.conversation_calls import ConversationCalls

    patches.set(ConversationCalls, "slot", lambda *_: no_guard())


@mutation(LIMITED_SWEEPER, first_seed=33)
def save_the_cursor_before_sending(patches: Patches) -> None:
    from cupel_core.runs import dispatch
    from cupel_core.store import outbox

    send = dispatch._send_windows

    def postpone(*args: Any) -> None:
        _postponed().append(args)

    def advance(*args: Any) -> bool:
        is_advanced = outbox.advance(*args)
        while _postponed():
            send(*_postponed().pop())
        return is_advanced

    patches.set(dispatch, "_send_windows", postpone)
    patches.set(dispatch, "outbox", _PatchedModule(outbox, advance=advance))


@mutation(SMALL_SKEW, first_seed=3)
def ignore_the_claims_of_others(patches: Patches) -> None:
    from cupel_core.store.barrier_items import LeafItem

    patches.set(LeafItem, "claims_of_others", lambda *_: {})


@mutation(SLOW_MODELS, first_seed=148)
def do_not_renew_claims(patches: Patches) -> None:
    """The heartbeat of a worker does not renew its claims, so they expire while it makes calls."""
    from cupel_core.runs.probing import claims
    from cupel_core.store import barrier

    patches.set(claims, "barrier", _PatchedModule(barrier, renew=lambda *_: True))


@mutation(LARGE_SKEW, first_seed=718)
def let_the_last_writer_win(patches: Patches) -> None:
    from cupel_core.domain.runs.leaf_log import _LogReader

    patches.set(_LogReader, "_is_placed", lambda *_, **__: True)


@mutation(LIMITED_SWEEPER, first_seed=71)
def propagate_only_new_outcomes(patches: Patches) -> None:
    """A worker that takes over adds what it finds to the leaf, but does not report a leaf that is full."""
    from cupel_core.domain.runs.barrier import Node
    from cupel_core.runs import record_outcomes
    from cupel_core.runs.probing import claims, committer
    from cupel_core.store import barrier
    from cupel_core.store.barrier import Tree

    record = record_outcomes.record

    def record_new(run: Any, fencing_token: int, finished: Sequence[Any], released: Mapping[int, Any]) -> None:
        if finished:
            record(run, fencing_token, finished, released)
            return
        for number, claimants in released.items():
            barrier.record(Tree.for_run(run), Node(0, number), (), claimants)

    def add_unreported(run: Any, _: int, node: Any) -> Any:
        tree = Tree.for_run(run)
        item = barrier.get_leaf(tree.ref, node)
        return barrier.record(tree, node, record_outcomes._find_unreported(run, node, item))

    patches.set(committer, "record", record_new)
    patches.set(claims, "record_unreported", add_unreported)


@mutation(SMALL_SKEW, first_seed=92)
def do_not_verify_uncertain_probes(patches: Patches) -> None:
    from cupel_core.base.messages import RunRef
    from cupel_core.runs.probing import claims
    from cupel_core.store import barrier

    def mutated(run: Any, _: int, node: Any) -> Any:
        return barrier.get_leaf(RunRef(run.workspace, run.id), node)

    patches.set(claims, "record_unreported", mutated)


@mutation(first_seed=35)
def count_the_cost_of_new_outcomes_only(patches: Patches) -> None:
    """An outcome adds its cost only if the worker that stored it does not die before it has updated the barrier."""
    from cupel_core.domain.runs.run_spend import Cost
    from cupel_core.store.outcome_pages import DigestPage

    logged = DigestPage.logged

    def mutated(self: DigestPage) -> Any:
        page = logged(self)
        free = {offset: outcome._replace(cost=Cost()) for offset, outcome in page.outcomes.items()}
        return replace(page, outcomes=free)

    patches.set(DigestPage, "logged", mutated)


@mutation(first_seed=1)
def count_summaries_in_the_leaves_only(patches: Patches) -> None:
    """Adds what summaries have cost to the leaves, and not to the nodes above them."""
    from cupel_core.runs.finishing import phases
    from cupel_core.store import barrier

    patches.set(phases, "barrier", _PatchedModule(barrier, propagate=lambda *_: False))


@mutation(first_seed=66)
def drop_slices_without_counting_their_conversations(patches: Patches) -> None:
    """What the conversations of a cancelled run have cost is not in its spend."""
    from cupel_core.runs.probing import claims, committer
    from cupel_core.workspace.sweeping import sweep

    for module in (claims, committer, sweep):
        patches.set(module, "record_dropped", lambda *_: None)


@mutation(SMALL_SKEW, first_seed=753)
def forget_what_was_answered_before_an_internal_error(patches: Patches) -> None:
    """Probes end with their first internal error, so that there are some."""
    from cupel_core.domain.conversations.conversation import ConversationState
    from cupel_core.runs.probing import probe_runner

    patches.set(probe_runner, "MAX_FAILURES", 1)
    patches.set(probe_runner, "conversation_so_far", lambda *_: ConversationState(()))


@mutation(LIMITED_SWEEPER, first_seed=50)
def let_an_outcome_that_cannot_be_stored_block_the_others(patches: Patches) -> None:
    """An outcome that is too large fails the commit of all. Two hours without an end are enough to see it."""
    from cupel_core.runs.probing import committer
    from cupel_core.store import outcome_pages, outcomes
    from cupel_core.store.outcome_items import to_item
    from tests.simulation import schedule

    def mutated(ref: Any, fencing_token: int, outcome: Any) -> Any:
        item = to_item(ref, fencing_token, outcome)
        return outcome_pages.encode(ref, item, outcomes._text_of(outcome))

    patches.set(schedule, "_MAX_REST_SECONDS", 2 * 3_600.0)
    patches.set(outcomes, "_encode", mutated)
    patches.set(committer, "_isolate", list)


@mutation(PROFILE)
def leave_the_turn_in_progress_out_of_the_checkpoint(patches: Patches) -> None:
    """What operations were answered in the turn in progress is not stored."""
    from cupel_core.domain.codec import encode
    from cupel_core.domain.conversations.conversation import ConversationState
    from cupel_core.store import checkpoints

    def mutated(state: ConversationState) -> Any:
        pipeline = state.pipeline and replace(state.pipeline, turn=None)
        return encode(replace(state, pipeline=pipeline))

    patches.set(checkpoints, "encode", mutated)


@mutation(LIMITED_SWEEPER, first_seed=5)
def send_remainders_after_acknowledging(patches: Patches) -> None:
    from cupel_core.runs.probing import committer

    write, send = committer._write, committer._send_remainders

    def mutated(finished: Sequence[Any], ended: Sequence[Any]) -> None:
        write(finished, ended)
        _acknowledge(ended)
        while _postponed():
            send(_postponed().pop())

    patches.set(committer, "_send_remainders", lambda claimed: _postponed().append(claimed))
    patches.set(committer, "_write", mutated)


@mutation()
def update_the_barrier_before_storing_the_outcome(patches: Patches) -> None:
    """The log names a page that is written afterwards."""
    from cupel_core.runs import record_outcomes
    from cupel_core.store import batches, outcome_pages, outcomes

    put, record_in_leaf = batches.put_batch, record_outcomes._record_in_leaf
    write = outcomes.write

    def postpone(ref: Any, fencing_token: int, finished: Sequence[Any]) -> Any:
        patches_of_write = _postponed()
        patches.set(outcome_pages, "put_batch", patches_of_write.append)
        return write(ref, fencing_token, finished)

    def mutated(*args: Any) -> Any:
        item = record_in_leaf(*args)
        while _postponed():
            put(_postponed().pop())
        return item

    patches.set(record_outcomes, "outcomes", _PatchedModule(outcomes, write=postpone))
    patches.set(record_outcomes, "_record_in_leaf", mutated)


@mutation(LIMITED_SWEEPER, first_seed=1)
def pause_without_a_new_fencing_token(patches: Patches) -> None:
    from cupel_core.domain.runs.run import TRANSITIONS, Action

    for action in (Action.PAUSE, Action.RESUME):
        patches.set_item(TRANSITIONS, action, replace(TRANSITIONS[action], advances_fencing_token=False))


@mutation()
def transition_without_a_condition(patches: Patches) -> None:
    """Writes a transition whatever the run's current status is."""
    from pynamodb.transactions import TransactWrite

    from cupel_core.store import idempotency_keys
    from cupel_core.store.events import EventItem
    from cupel_core.store.run_items import RunItem

    class Mutated(TransactWrite):
        def save(self, model: Any, condition: Any = None, return_values: str | None = None) -> None:
            is_transition = isinstance(model, RunItem | EventItem)
            super().save(model, None if is_transition else condition, return_values)

    patches.set(idempotency_keys, "TransactWrite", Mutated)


@mutation(first_seed=4)
def overwrite_an_idempotency_key(patches: Patches) -> None:
    """Takes an Idempotency-Key that another request has reserved."""
    from cupel_core.store.idempotency_keys import IdempotencyItem

    save = IdempotencyItem.save
    patches.set(IdempotencyItem, "save", lambda self, **_: save(self))


@mutation(SMALL_SKEW, first_seed=1)
def restart_a_conversation_from_its_first_turn(patches: Patches) -> None:
    """Does not resume after the last completed turn."""
    from cupel_core.runs.probing import probe_runner
    from cupel_core.store import checkpoints

    patches.set(probe_runner, "checkpoints", _PatchedModule(checkpoints, load=lambda *_: None))


@mutation(SLOW_MODELS, first_seed=8)
def attempts_start_again_after_a_postponement(patches: Patches) -> None:
    """The next delivery does not know the attempts that earlier ones have made and paid."""
    from cupel_core.providers.attempt_log import AttemptLog

    resume = AttemptLog.resume
    patches.set(AttemptLog, "resume", lambda self, _, save: resume(self, {}, save))


@mutation(TOOLS, first_seed=1_971)
def do_not_store_the_results_of_tools(patches: Patches) -> None:
    """Calls of a reply are executed, but what they returned is stored with the model's next reply only."""
    from cupel_core.conversations.delayed_saver import DelayedSaver

    async def mutated(_: DelayedSaver) -> None:
        return

    patches.set(DelayedSaver, "note_change", lambda _: None)
    patches.set(DelayedSaver, "flush", mutated)


@mutation(TOOLS, first_seed=2_040)
def do_not_store_results_before_a_pause(patches: Patches) -> None:
    """What was executed beside a call that must wait, or in the second before a pause, is not stored."""
    from cupel_core.conversations.delayed_saver import DelayedSaver

    patches.set(DelayedSaver, "flush", DelayedSaver.stop)


@mutation(TOOLS)
def let_a_target_call_tools_for_ever(patches: Patches) -> None:
    """The rounds of an answer are counted, and have no limit."""
    from cupel_core.domain.conversations.conversation import ConversationState

    count = ConversationState.count_reply
    unlimited = 1_000
    patches.set(
        ConversationState,
        "count_reply",
        lambda self, message, rules: count(self, message, replace(rules, max_tool_rounds=unlimited)),
    )


@mutation(first_seed=3)
def do_not_ask_a_judge_to_repair_its_reply(patches: Patches) -> None:
    """Leaves an answer without a result when the judge's first reply is unusable."""
    from cupel_core.scoring.grading import grader

    patches.set(grader, "MAX_REQUESTS", 1)


@mutation(first_seed=3)
def reopen_a_leaf_at_every_dispatch(patches: Patches) -> None:
    """Removes errors from a leaf that the current retry round has recorded."""
    from cupel_core.domain.runs.leaf_log import Reopening
    from cupel_core.runs import dispatch
    from cupel_core.store import barrier, barrier_items

    reopen_leaf = dispatch._reopen_leaf

    def mutated(tree: Any, node: Any, offsets: Any) -> Any:
        if not offsets:
            return barrier.get_leaf(tree.ref, node)
        entry = barrier_items.encode_reopening(Reopening(tree.retry_round + 1, frozenset(offsets)))
        values = {":retry_round": {"N": str(tree.retry_round)}, ":entries": {"L": [entry]}, **barrier._NO_LOG}
        expression = f"SET reopened = :retry_round, {barrier._APPEND}"
        return barrier._update_leaf(tree.ref, node, expression, {}, values)

    patches.set(dispatch, "barrier", _PatchedModule(barrier, reopen=mutated))
    patches.set(
        dispatch,
        "_reopen_leaf",
        lambda tree, node, item, ranges, **options: reopen_leaf(
            tree, node, replace(item, reopened_in_round=0), ranges, **options
        ),
    )


@mutation(first_seed=3)
def share_inner_nodes_between_retry_rounds(patches: Patches) -> None:
    """A leaf whose errors are retried stays full for its parent."""
    from cupel_core.store import keys

    barrier_nodes = keys.barrier_nodes
    patches.set(keys, "barrier_nodes", lambda ref, node, _: barrier_nodes(ref, node, 1))


@mutation(SMALL_SKEW, first_seed=50)
def restart_all_conversations_at_a_retry(patches: Patches) -> None:
    """A retry of a running run also restarts the conversations in progress."""
    from cupel_core.domain.runs.claims import SliceDivision

    def mutated(self: SliceDivision, index: int, conversation_round: int) -> int:
        assert simulation.cloud is not None
        return max(conversation_round, simulation.cloud.invariants.retry_round)

    patches.set(SliceDivision, "round_of", mutated)


@mutation(first_seed=1)
def end_jobs_before_they_are_computed(patches: Patches) -> None:
    """A crash in between leaves a comparison that nobody computes."""
    from cupel_core.analysis import jobs
    from cupel_core.base.clock import utc_now

    def mutated(request: Any, _: float) -> Any:
        now = utc_now()
        job = jobs.jobs.claim(request, now, now)
        if job is None:
            return jobs.JobOutcome.NOTHING
        jobs.jobs.end(job.finished(now))
        compute, _ = jobs.COMPUTATIONS[job.kind]
        compute(job.workspace, job.result_id, lambda _: None)
        return jobs.JobOutcome.COMPLETED

    patches.set(jobs, "run_job", mutated)


@mutation(first_seed=783)
def do_not_send_the_messages_of_jobs_again(patches: Patches) -> None:
    from tests.simulation import cloud

    patches.set(cloud, "recover_jobs", lambda *_: 0)


@mutation(first_seed=3)
def read_what_was_counted_before_a_retry(patches: Patches) -> None:
    """Count files are found again although the run was retried or expanded since."""
    from cupel_core.store import counted_outcomes

    find, save = counted_outcomes.find_counts, counted_outcomes.save_counts
    patches.set(counted_outcomes, "find_counts", lambda ref, _, leaf: find(ref, "any", leaf))
    patches.set(counted_outcomes, "save_counts", lambda ref, _, leaf, counts: save(ref, "any", leaf, counts))


@mutation()
def complete_without_recording_a_failed_analysis(patches: Patches) -> None:
    from cupel_core.analysis import workflow

    fail_analyses(patches)
    patches.set(workflow, "record_failure", lambda *_: None)


@mutation(BUDGET, first_seed=8)
def forget_what_a_dead_worker_has_reserved(patches: Patches) -> None:
    from cupel_core.domain.budgets import account

    closed = account._closed

    def mutated(before: account.BudgetAccount, worker_id: str) -> account.BudgetAccount:
        lease = replace(before.leases[worker_id], reserved=0)
        return closed(replace(before, leases={**before.leases, worker_id: lease}), worker_id)

    patches.set(account, "_closed", mutated)


@mutation(BUDGET, first_seed=2)
def ignore_that_leases_expire(patches: Patches) -> None:
    """Although nobody gives back what they have reserved: the run waits for it forever."""
    from cupel_core.domain.budgets import account

    patches.set(account, "after_expiry", lambda before, _: before)


@mutation(BUDGET)
def report_what_was_spent_since_the_last_report(patches: Patches) -> None:
    """Instead of what was spent in all: a report that is lost is missing for good."""
    from cupel_core.budgets.ledger import WorkerLedger
    from cupel_core.domain.budgets import account
    from cupel_core.domain.budgets.money import added, subtracted

    with_own_lease, report = account._with_own_lease, WorkerLedger.report
    sent: dict[str, Any] = {}

    def relative(self: WorkerLedger, worker_id: str, *figures: Any, **more: Any) -> account.BudgetReport:
        absolute = report(self, worker_id, *figures, **more)
        before, sent[worker_id] = sent.get(worker_id, {}), absolute.spent
        return replace(absolute, spent=subtracted(absolute.spent, before))

    def add(before: account.BudgetAccount, since: account.BudgetReport) -> account.BudgetAccount:
        lease = before.leases.get(since.worker_id) or before.expired.get(since.worker_id)
        return with_own_lease(before, replace(since, spent=added(lease.spent, since.spent)) if lease else since)

    patches.set(WorkerLedger, "report", relative)
    patches.set(account, "_with_own_lease", add)


@mutation(BUDGET)
def reserve_nothing_before_a_call(patches: Patches) -> None:
    from cupel_core.budgets import charging
    from cupel_core.providers.reservations import CallBound

    patches.set(charging, "bound_of_call", lambda *_: CallBound(0, True))


@mutation(BUDGET)
def pause_at_the_first_refusal(patches: Patches) -> None:
    """Although another worker may give back what it has reserved."""
    from cupel_core.domain.budgets.account import BudgetAccount

    patches.set(BudgetAccount, "is_exhausted", lambda self, limit, needed: self.available(limit) < needed)


@mutation(WORKSPACE_BUDGET)
def forget_what_other_days_of_the_month_have_used(patches: Patches) -> None:
    from cupel_core.domain.budgets.month_account import MonthAccount
    from cupel_core.domain.budgets.periods import BudgetScope

    scarcest = MonthAccount.scarcest

    def mutated(self: MonthAccount, limits: Any, day: Any) -> tuple[int, BudgetScope]:
        return scarcest(MonthAccount({day: self.of_day(day)}), limits, day)

    patches.set(MonthAccount, "scarcest", mutated)


@mutation(BOTH_BUDGETS)
def charge_a_run_with_a_budget_to_it_alone(patches: Patches) -> None:
    from cupel_core.budgets.accounts import JointAccount

    patches.set(JointAccount, "report", lambda self, *figures: self.second.report(*figures))


@mutation(WORKSPACE_BUDGET)
def drop_the_accounts_of_earlier_days(patches: Patches) -> None:
    """When a day begins, although workers still spend what they have drawn on the day before."""
    from cupel_core.domain.budgets import month_account

    with_day = month_account._with_day

    def mutated(account: month_account.MonthAccount, day: Any, changed: Any) -> month_account.MonthAccount:
        after = with_day(account, day, changed)
        return replace(after, days={each: kept for each, kept in after.days.items() if each >= day})

    patches.set(month_account, "_with_day", mutated)


def _postponed() -> list[Any]:
    """Calls postponed by the current invocation; lost if it crashes."""
    assert simulation.cloud is not None
    assert simulation.cloud.scheduler.current is not None
    return simulation.cloud.scheduler.current.invocation.postponed


def _acknowledge(ended: Sequence[Any]) -> None:
    from cupel_core.store import queues

    queues.delete([claimed.delivery for claimed in ended])


class _PatchedModule:
    """A module with some of its names replaced. Raises AttributeError for a name that the module does not have."""

    def __init__(self, module: Any, **names: Any) -> None:
        for name in names:
            getattr(module, name)
        self.__dict__.update(names)
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)
