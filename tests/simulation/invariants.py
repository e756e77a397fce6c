"""The invariants of the protocol, checked at every write, at every model call, and finally at rest."""

import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import orjson

from cupel_core.analysis.tabulate import counted_inputs
from cupel_core.base.messages import RunRef
from cupel_core.domain.analysis.jobs import JobStatus
from cupel_core.domain.analysis.records import AnalysisStatus
from cupel_core.domain.codec import decode
from cupel_core.domain.conversations.conversation import ConversationState
from cupel_core.domain.conversations.model_request import MessageRole
from cupel_core.domain.conversations.tool_results import NOT_EXECUTED
from cupel_core.domain.limits.backoff import MAX_ATTEMPTS
from cupel_core.domain.runs.barrier import Node, child_count, leaf_of
from cupel_core.domain.runs.leaf_log import OutcomePlace
from cupel_core.domain.runs.plan import ProbePosition
from cupel_core.domain.runs.run import ACTIVE, STATUS_EVENTS, TERMINAL, TRANSITIONS, Run, RunStatus
from cupel_core.domain.runs.run_spend import Cost, cost_by_place
from cupel_core.domain.runs.transcripts import ProbeError, Transcript
from cupel_core.domain.scoring.unscored import UnscoredCode
from cupel_core.store import (
    analyses,
    barrier,
    barrier_items,
    comparisons,
    events,
    jobs,
    keys,
    outbox,
    outcome_pages,
    outcomes,
    snapshots,
)
from cupel_core.store.barrier import Tree
from cupel_core.store.barrier_items import LeafItem
from cupel_core.store.outcome_items import OutcomeItem, spending_of
from cupel_core.store.outcome_pages import DigestPage
from cupel_core.store.run_items import RunItem, from_item
from tests.simulation.account_pauses import STOP_SECONDS, AccountPauses
from tests.simulation.expressions import Item
from tests.simulation.harness import FANOUT
from tests.simulation.models import Call, Turn
from tests.simulation.scheduler import Violation
from tests.simulation.table import Key
from tests.simulation.tools import MAX_ROUNDS, SCRIPTED, SCRIPTED_RESULT, Execution

if TYPE_CHECKING:
    from tests.simulation.cloud import Cloud
    from tests.simulation.operations import OperationTurn

BEFORE = "plan"
"""The operation before the main call, in schedules with a profile."""
_FAR_FUTURE = datetime(2100, 1, 1, tzinfo=UTC)
_LEGAL = {(source, transition.target) for transition in TRANSITIONS.values() for source in transition.sources}
_LATER_ATTRIBUTES = frozenset({"summary", "isSummaryProvisional", "lastAccessedAt"})
"""Attributes that are added to an outcome after it was recorded."""


def require(condition: object, message: str) -> None:
    if not condition:
        raise Violation(message)


class Invariants:
    """A schedule has exactly one run; a second one breaks invariant 6."""

    def __init__(self, cloud: "Cloud") -> None:
        self._cloud = cloud
        self.transitions: Counter[str] = Counter()
        self._run: Run | None = None
        self._stopped_at: float | None = None
        """Since when no probes of the run may start."""
        self.account_pauses = AccountPauses(cloud.scheduler)
        self._costs: dict[tuple[int, int], Cost] = {}
        """What each outcome that was ever stored has cost, by probe and fencing token."""
        self._first_costs: dict[tuple[int, int], Cost] = {}
        """The same when it was recorded: without summaries and selections."""
        self._page_costs: dict[tuple[str, int], Cost] = {}
        """What each outcome in a page has cost, by page and probe."""
        self._checkpoint_costs: dict[tuple[int, int], Cost] = {}
        """What each conversation had cost at its last checkpoint, by probe and the retry round in which it started."""

    @property
    def retry_round(self) -> int:
        return self._run.retry_round if self._run else 1

    @property
    def run(self) -> Run | None:
        return self._run

    # -- at every write

    def observe(self, key: Key, before: Item, after: Item) -> None:
        pk, sk = key
        if "#leaves#" in pk:
            self._check_leaf(int(sk), before, after)
        elif "#nodes#" in pk:
            members = [int(member) % FANOUT for member in after.get("members", {}).get("NS", ())]
            require(len(members) == len(set(members)), f"1: a child is counted twice in {pk} {sk}: {after}")
        elif "#pages#" in pk and sk.startswith("digest#"):
            self._observe_page(after)
        elif "#probes#" in pk:
            self._check_own_item(key, before, after)
        elif "#checkpoints#" in pk and "cost" in after:
            index, conversation_round = map(int, sk.split("#"))
            (cost,) = cost_by_place([int(after["cost"]["N"])]).values()
            self._checkpoint_costs[index, conversation_round] = cost
        elif pk.endswith("#governor"):
            self.account_pauses.observe(key, after)
        elif sk == "run":
            self._check_run(after, before)
        elif sk == "budget":
            self._cloud.bills.observe_account(after)

    def _observe_page(self, item: Item) -> None:
        """The page's own record of what its outcomes have cost, beside that of the log."""
        assert self._run is not None
        page = outcome_pages.decode(RunRef(self._run.workspace, self._run.id), item)
        for each in page.outcomes():
            self._page_costs[page.page_id, each.index] = Cost.of(spending_of(each))

    def _check_leaf(self, number: int, before: Item, after: Item) -> None:
        old, new = barrier_items.decode_leaf(before), barrier_items.decode_leaf(after)
        counted = new.leaf.recorded
        require(not new.leaf.completed & new.leaf.failed, f"1: leaf {number} counts a probe twice: {new.leaf}")
        if self._run is not None:
            size = child_count(Node(0, number), self._run.plan.total)
            require(all(offset < size for offset in counted), f"1: leaf {number} counts more than {size}")
        log, earlier = after.get("outcomeLog", {}).get("L", []), before.get("outcomeLog", {}).get("L", [])
        require(log[: len(earlier)] == earlier, f"2: the log of leaf {number} was changed: {earlier} → {log}")
        for offset, place in old.log.places.items():
            self._check_place(number * FANOUT + offset, place, new.log.places.get(offset))
        for offset, place in new.log.places.items():
            if (stored := self._page_costs.get((place.page_id, number * FANOUT + offset))) is not None:
                key = number * FANOUT + offset, place.fencing_token
                self._first_costs.setdefault(key, stored)
                self._costs.setdefault(key, stored)

    def _check_place(self, index: int, before: OutcomePlace, after: OutcomePlace | None) -> None:
        """Only an error that a retry has taken out gives way to another outcome."""
        is_same = after is not None and (before.page_id, before.is_completed) == (after.page_id, after.is_completed)
        is_retried = before.is_taken_out and before.fencing_token < self.retry_round
        require(is_same or is_retried, f"2: the outcome of probe {index} was replaced: {before} → {after}")
        is_taken_out_now = after is not None and after.is_taken_out and not before.is_taken_out
        is_earlier = before.fencing_token < self.retry_round and not before.is_completed
        require(not is_taken_out_now or is_earlier, f"2: the outcome of probe {index} was taken out: {before}")

    def _check_own_item(self, key: Key, before: Item, after: Item) -> None:
        changed = {
            name for name in before.keys() | after.keys() if before.get(name) != after.get(name)
        } - _LATER_ATTRIBUTES
        if before and changed:
            was_retried = not before["completed"]["BOOL"] and int(before["fencingToken"]["N"]) < self.retry_round
            require(was_retried, f"2: the outcome {key} was overwritten: {before} → {after}")
        if after:
            item = OutcomeItem.from_raw_data(dict(after))
            self._costs[item.index, int(item.fencing_token)] = Cost.of(spending_of(item))

    def _check_run(self, item: Item, before: Item) -> None:
        item_run = from_item(RunItem.from_raw_data(dict(item)))
        was_reopened = self._run is not None and self._run.retry_round != item_run.retry_round
        if before and (before["status"]["S"] != item_run.status or was_reopened):
            self.transitions[f"{before['status']['S']} → {item_run.status}"] += 1
        if before:
            require(item_run.id == (self._run and self._run.id), "6: two runs of one key")
            old, new = RunStatus(before["status"]["S"]), item_run.status
            event_count = item_run.event_seq - int(before["eventSeq"]["N"])
            is_legal = old is new or (old, new) in _LEGAL
            require(event_count == 1 and is_legal, f"4: {old} → {new} with {event_count} events")
        else:
            require(self._run is None, "6: two runs of one key")
        self._cloud.bills.observe_run(item_run, self._run)
        self._run = item_run
        if item_run.status in ACTIVE:
            self._stopped_at = None
        elif self._stopped_at is None:
            self._stopped_at = self._cloud.scheduler.now

    # -- at every model call

    def check_call(self, call: Call, earlier: Sequence[Call], *, is_structured: bool = False) -> None:
        """Ends the schedule itself, because the code under test might catch what is raised here.

        `is_structured` marks calls of a judge or a simulated user.
        """
        try:
            self._check_call(call, earlier, is_structured)
        except Exception as error:
            self._cloud.scheduler.fail(error)
            raise

    def _check_call(self, call: Call, earlier: Sequence[Call], is_structured: bool) -> None:
        run = self._run
        require(run is not None, "a model is called without a run")
        assert run is not None
        self._check_not_stopped(run)
        if self._cloud.has_large_skew:
            return
        if not is_structured:
            self._check_not_recorded(run, self._index(run, call.turn), call.turn.number)
            self._check_operations_are_recorded(run, call)
        for other in earlier:
            if other.retry_round != call.retry_round:
                continue
            is_alive = not other.invocation.is_dead
            require(other.is_over or not is_alive, f"3: {call.turn} is called twice at the same time")
            may_be_lost = not other.was_answered or other.invocation.had_failure
            # What the table refused to store is an error, which a retry of the run has taken out.
            was_refused = call.turn in self._cloud.models.refused_turns and run.retry_round > call.retry_round
            require(may_be_lost or was_refused, f"3: {call.turn} was answered and is called again")
        paid = [each for each in earlier if each.was_paid and each.retry_round == call.retry_round]
        noted = sum(not each.invocation.had_failure for each in paid)
        require(noted < MAX_ATTEMPTS, f"12: {call.turn} is attempted again after {noted} paid attempts")

    def _check_not_stopped(self, run: Run) -> None:
        now = self._cloud.scheduler.now
        is_stopped = self._stopped_at is not None and now > self._stopped_at + STOP_SECONDS
        require(
            not is_stopped, f"5: a model call {now - (self._stopped_at or 0):.1f} s after the run became {run.status}"
        )

    def check_operation(self, operation: "OperationTurn", call: Call, earlier: Sequence[Call]) -> None:
        """Of every call of an operation."""
        try:
            self._check_operation(operation, call, earlier)
        except Exception as error:
            self._cloud.scheduler.fail(error)
            raise

    def _check_operation(self, operation: "OperationTurn", call: Call, earlier: Sequence[Call]) -> None:
        run, turn = self._run, operation.turn
        require(run is not None, "an operation calls a model without a run")
        assert run is not None
        self._check_not_stopped(run)
        if self._cloud.has_large_skew:
            return
        recorded = self._recorded_operations(run, turn)
        require(operation.name not in recorded, f"3: {operation} is recorded and is called again")
        for other in (each for each in earlier if each.retry_round == call.retry_round):
            is_alive = not other.invocation.is_dead
            require(other.is_over or not is_alive, f"3: {operation} is called twice at the same time")
            may_be_lost = not other.was_answered or other.invocation.had_failure
            require(may_be_lost, f"3: {operation} was answered and is called again")

    def _recorded_operations(self, run: Run, turn: Turn) -> set[str]:
        """Those whose results or answers are stored, of the turn that the probe's conversation is in."""
        checkpoint = self._checkpoint(run, self._index(run, turn))
        pipeline = checkpoint.pipeline if checkpoint else None
        if pipeline is None or pipeline.turn is None or len(pipeline.records) != turn.number:
            return set()
        return {*pipeline.turn.before, *pipeline.turn.after, *pipeline.turn.answers}

    def _check_operations_are_recorded(self, run: Run, call: Call) -> None:
        """What an operation before the main call was answered is stored before that begins."""
        operations = self._cloud.operations
        if operations is None:
            return
        calls = [each for each in operations.of_turn(BEFORE, call.turn) if each.retry_round == call.retry_round]
        if calls and calls[-1].was_answered:
            recorded = self._recorded_operations(run, call.turn)
            require(BEFORE in recorded, f"3: {call.turn} begins, and what {BEFORE} was answered is not stored")

    def check_tool_call(self, body: Mapping[str, Any], earlier: Sequence[Execution]) -> None:
        """Of every attempt at a call of a tool."""
        try:
            self._check_tool_call(int(body["probeIndex"]), str(body["callId"]), earlier)
        except Exception as error:
            self._cloud.scheduler.fail(error)
            raise

    def _check_tool_call(self, index: int, call_id: str, earlier: Sequence[Execution]) -> None:
        run, now = self._run, self._cloud.scheduler.now
        require(run is not None, "a tool is called without a run")
        assert run is not None
        is_stopped = self._stopped_at is not None and now > self._stopped_at + STOP_SECONDS
        require(not is_stopped, f"5: a call of a tool more than {STOP_SECONDS} s after the run became {run.status}")
        if self._cloud.has_large_skew:
            return
        checkpoint = self._checkpoint(run, index)
        results = {message.tool_call_id for message in checkpoint.messages} if checkpoint else set()
        require(call_id not in results, f"3: {call_id} of probe {index} has a stored result and is executed again")
        for other in earlier:
            is_alive = not other.invocation.is_dead
            require(other.is_over or not is_alive, f"3: {call_id} of probe {index} is executed twice at the same time")
            may_be_lost = not other.was_answered or other.invocation.had_failure or not is_alive
            require(may_be_lost, f"3: {call_id} of probe {index} was executed and is executed again")

    def round_of(self, turn: Turn) -> int:
        """The retry round in which the conversation of a target's turn started."""
        run = self._run
        return self._round_of(run, self._index(run, turn)) if run else 1

    def _round_of(self, run: Run, index: int) -> int:
        return self._leaf(run, index).round_of(index % FANOUT, run.conversation_round)

    def _leaf(self, run: Run, index: int) -> LeafItem:
        node = leaf_of(index)
        key = keys.barrier_nodes(RunRef(run.workspace, run.id), node, 0), keys.barrier_node(node.number)
        return barrier_items.decode_leaf(self._cloud.table.item(*key))

    def _unreported_pages(self, run: Run, leaf: LeafItem, index: int) -> Iterator[DigestPage]:
        """The pages of the probe's leaf with an outcome of it that are completely stored and not in the log."""
        ref, number = RunRef(run.workspace, run.id), leaf_of(index).number
        for (pk, sk), item in self._cloud.table.items():
            if pk == keys.pages(ref, number) and sk.startswith(keys.digest_page(number)):
                page = outcome_pages.decode(ref, item)
                is_complete = not page.has_texts or self._cloud.table.item(pk, keys.text_page(number, page.page_id))
                if index % FANOUT in page.entries and is_complete and page.page_id not in leaf.log.page_ids:
                    yield page

    def _index(self, run: Run, turn: Turn) -> int:
        case = next(iter(snapshots.get(run.snapshot_key).cases(turn.scenario_id)), 0)
        return run.plan.index(ProbePosition(case, run.models.index(turn.model), turn.repeat))

    def _check_not_recorded(self, run: Run, index: int, turn: int) -> None:
        leaf = self._leaf(run, index)
        require(index % FANOUT not in leaf.leaf.recorded, f"3: probe {index} is counted and its model is called again")
        for page in self._unreported_pages(run, leaf, index):
            is_recorded = index % FANOUT in page.logged().counted_in(run.retry_round)
            require(not is_recorded, f"3: probe {index} is recorded and its model is called again")
        if checkpoint := self._checkpoint(run, index):
            stored_turns = checkpoint.turns + checkpoint.tool_rounds
            require(turn >= stored_turns, f"3: turn {turn} of probe {index} is stored and is called again")

    def _checkpoint(self, run: Run, index: int) -> ConversationState | None:
        sort_key = keys.numbered_probe(index, self._round_of(run, index))
        item = self._cloud.table.item(keys.checkpoints(RunRef(run.workspace, run.id), index), sort_key)
        content: Any = item["content"]["B"] if item else None
        return decode(ConversationState, orjson.loads(zlib.decompress(content))) if content else None

    # -- at rest

    def is_at_rest(self) -> bool:
        run = self._run
        is_idle = not list(outbox.list_untouched_since(_FAR_FUTURE)) and not list(jobs.list_open())
        return run is not None and run.status in TERMINAL and is_idle

    def check_final_state(self) -> None:
        run = self._run
        require(run is not None, "6: no run was started")
        assert run is not None
        require(run.status in TERMINAL, f"1: the run remains {run.status}")
        self._check_events(run)
        self._check_counts(run)
        self._check_spend(run)
        self._check_analysis(run)
        self._check_comparisons(run)
        self._cloud.bills.check_at_rest(run)

    def _check_analysis(self, run: Run) -> None:
        """A completed run was analyzed, or that failed; an analysis counts every outcome once."""
        ref, inputs = RunRef(run.workspace, run.id), counted_inputs(run)
        listed = analyses.list_analyses(ref, 100, None).items
        newest = listed[:1] if not self._cloud.has_large_skew else listed  # They are ordered by clocks.
        record = next((each for each in newest if each.revision == inputs.revision), None)
        is_known = record is not None or run.status is not RunStatus.COMPLETED
        require(is_known, f"1: the run completed without an analysis of its outcomes: {listed}")
        if record is None or record.status is AnalysisStatus.FAILED:
            return
        progress = run.settled or barrier.get_progress(Tree.for_run(run))
        overall = orjson.loads(analyses.read_document(record))["overall"]
        stored = list(outcomes.list_digests(ref, range(run.plan.total)))
        codes = Counter(
            str(each.summary.decision_code) for each in stored if isinstance(each, Transcript) and each.summary
        )
        counted = {each["code"]: each["estimate"]["successes"] for each in overall["distribution"]}
        require(
            (overall["completed"], overall["errored"]) == (progress.completed, progress.failed),
            f"1: the analysis has {overall['completed']} and {overall['errored']} outcomes, the run {progress}",
        )
        require(counted == {code: codes[code] for code in counted}, f"1: the analysis counts {counted} of {codes}")

    @staticmethod
    def _check_comparisons(run: Run) -> None:
        """Every comparison has ended like its job, and a completed one has its figures."""
        for comparison_id in comparisons.list_ids_of_run(RunRef(run.workspace, run.id)):
            comparison = comparisons.get(run.workspace, comparison_id)
            job = jobs.get(run.workspace, comparison.job_id)
            require(job.status.is_over, f"1: the job {job} has not ended")
            require(comparison.status is job.status, f"1: the job is {job.status}, the comparison {comparison.status}")
            if comparison.status is JobStatus.COMPLETED:
                require(comparisons.get_figures(run.workspace, comparison_id)["rows"], "1: a comparison without rows")

    def _check_events(self, run: Run) -> None:
        run_events = events.list_after(RunRef(run.workspace, run.id), 0)
        require([event.seq for event in run_events] == list(range(1, run.event_seq + 1)), "4: events have gaps")
        status = RunStatus.PENDING
        for event in (event for event in run_events[1:] if event.type in STATUS_EVENTS):
            old, new = RunStatus(str(event.data["from"])), RunStatus(str(event.data["to"]))
            require(old is status and (old, new) in _LEGAL, f"4: event {event.seq} says {old} → {new} at {status}")
            status = new
        require(status is run.status, f"4: the events end with {status}, the run is {run.status}")

    def _check_counts(self, run: Run) -> None:
        ref, total = RunRef(run.workspace, run.id), run.plan.total
        digests = list(outcomes.list_digests(ref, range(total)))
        counted: dict[int, bool] = {}
        for number in range(-(-total // FANOUT)):
            leaf = barrier.get_leaf(ref, Node(0, number)).leaf
            counted |= {number * FANOUT + offset: True for offset in leaf.completed}
            counted |= {number * FANOUT + offset: False for offset in leaf.failed}
        # In a cancelled run, an error that was taken out can still be read.
        stored = {
            each.probe_index: isinstance(each, Transcript)
            for each in digests
            if each.probe_index in counted or run.status is not RunStatus.CANCELLED
        }
        if run.status is not RunStatus.CANCELLED:
            require(len(stored) == total, f"1: {total - len(stored)} of {total} probes have no outcome")
            require(counted == stored, f"1: the barrier counts {counted}, but {stored} is stored")
            expected = (RunStatus.COMPLETED, RunStatus.FAILED) if any(stored.values()) else (RunStatus.FAILED,)
            require(run.status in expected, f"1: the run is {run.status} with {stored}")
            counts = barrier.get_progress(Tree.for_run(run))
            require(run.settled == counts, f"1: the run settled with {run.settled}, but {counts} is counted")
        require(
            all(counted[index] == stored.get(index) for index in counted),
            f"1: the barrier counts {counted}, but {stored} is stored",
        )
        for index, completed in stored.items():
            if completed:
                self._check_answered(run, index)
            else:
                self._check_errored(run, index)

    def _check_spend(self, run: Run) -> None:
        """After a cancellation, or if finishing gave up, the last summaries need not be counted any more.

        Neither in the leaves, nor in the nodes above a leaf that counts them.
        """
        is_exact = run.status is RunStatus.COMPLETED or bool(run.failure and run.failure.where == "probing")
        leaves = range(-(-run.plan.total // FANOUT))
        counted = sum((self._spend_of_leaf(run, number, is_exact=is_exact) for number in leaves), Cost())
        least = counted if is_exact else sum(self._first_costs.values(), Cost())
        unfinished = self._unfinished_cost()
        low, high = least + unfinished, counted + unfinished
        spent = run.spend.recorded if run.spend else barrier.get_state(Tree.for_run(run)).spend.recorded
        is_correct = low.nano_usd <= spent.nano_usd <= high.nano_usd and spent.is_complete == high.is_complete
        require(is_correct, f"8: the run has spent {spent}, its outcomes and unfinished conversations {low} to {high}")
        if is_exact:
            self._check_columns(run)
        self._check_checkpoints_are_counted(run)

    def _spend_of_leaf(self, run: Run, number: int, *, is_exact: bool) -> Cost:
        counted = cost_by_place(self._leaf(run, number * FANOUT).costs)
        stored, first = (self._of_leaf(costs, number) for costs in (self._costs, self._first_costs))
        is_correct = counted == stored
        if not is_exact:
            is_correct = counted.keys() == stored.keys() and all(
                first[place].nano_usd <= cost.nano_usd <= stored[place].nano_usd for place, cost in counted.items()
            )
        require(is_correct, f"8: leaf {number} has spent {counted}, but {stored} is stored")
        return sum(counted.values(), Cost())

    def _check_columns(self, run: Run) -> None:
        for column in range(len(run.plan.columns)):
            costs = (cost for (index, _), cost in self._costs.items() if run.plan.probe(index).column == column)
            spent, total = run.spend and run.spend.of_column(column), sum(costs, Cost())
            require(spent == total, f"8: column {column} has spent {spent}, its outcomes {total}")

    @staticmethod
    def _of_leaf(costs: dict[tuple[int, int], Cost], number: int) -> dict[int, Cost]:
        return {
            token * FANOUT + index % FANOUT: cost for (index, token), cost in costs.items() if index // FANOUT == number
        }

    def _unfinished_cost(self) -> Cost:
        """What the conversations without an outcome had cost at their last checkpoints."""
        last_tokens = dict(sorted(self._costs))
        unfinished = self._checkpoint_costs.items()
        return sum((cost for (index, began), cost in unfinished if last_tokens.get(index, 0) < began), Cost())

    def _check_checkpoints_are_counted(self, run: Run) -> None:
        """An outcome costs at least what its conversation had cost; with two workers, one of their outcomes does."""
        if self._cloud.has_large_skew:
            return
        for (index, began), cost in self._checkpoint_costs.items():
            outcomes_of_probe = [
                each.nano_usd for (i, token), each in self._costs.items() if i == index and token >= began
            ]
            if outcomes_of_probe:
                counted = sum(outcomes_of_probe) + self._leaf(run, index).log.lost.nano_usd
                require(counted >= cost.nano_usd, f"8: probe {index} has cost {counted}, its conversation {cost}")

    def _check_errored(self, run: Run, index: int) -> None:
        """The table's refusal of an outcome is an error of its own probe only."""
        error = outcomes.get(RunRef(run.workspace, run.id), index)
        assert isinstance(error, ProbeError)
        if "the outcome could not be stored" in error.message:
            refused = {self._index(run, turn) for turn in self._cloud.models.refused_turns}
            require(index in refused, f"7: probe {index} has another probe's error")

    def _check_answered(self, run: Run, index: int) -> None:
        probe, snapshot = run.plan.probe(index), snapshots.get(run.snapshot_key)
        scenario_id = snapshot.scenario(probe.case).id
        transcript = outcomes.get_many(RunRef(run.workspace, run.id), [index])[index]
        assert isinstance(transcript, Transcript)
        last = transcript.conversation.turns + transcript.conversation.tool_rounds - 1
        if self._cloud.tools:
            self._check_results(index, transcript)
        if run.grader_config.judge_model is None:
            answers = transcript.conversation.turns - 1
            require(answers == len(snapshot.definition.get("followUps", ())), f"7: probe {index} ended too early")
        elif transcript.result is None:
            self._check_unjudged(index, transcript)
        calls = self._cloud.models.calls(run.plan.columns[probe.column].target.model, scenario_id, probe.repeat, last)
        require(any(call.was_answered for call in calls), f"7: probe {index} completed without an answer")

    def _check_unjudged(self, index: int, transcript: Transcript) -> None:
        """An answer is not scored, and says why, if its judge gave no usable reply to two requests."""
        said = tuple((str(message.role), message.content) for message in transcript.messages)
        is_unjudged = said in self._cloud.models.unjudged
        require(is_unjudged, f"7: probe {index} should have been judged and has no result")
        cause = transcript.scoring and transcript.scoring.cause
        is_explained = cause is not None and cause.code is UnscoredCode.JUDGE_REPLY
        require(is_explained, f"7: probe {index} has no result and does not say that its judge gave none: {cause}")

    def _check_results(self, index: int, transcript: Transcript) -> None:
        """Each call of a round has its own result, in the order of the calls; at most so many rounds make an answer."""
        rounds, open_rounds = 0, 0
        for position, message in enumerate(transcript.messages):
            if message.role is not MessageRole.ASSISTANT:
                continue
            results = list(takewhile(lambda each: each.role is MessageRole.TOOL, transcript.messages[position + 1 :]))
            is_round = bool(results) and results[0].content != NOT_EXECUTED
            rounds, open_rounds = rounds + is_round, open_rounds + 1 if is_round else 0
            require(open_rounds <= MAX_ROUNDS, f"7: an answer of probe {index} has {open_rounds} rounds")
            answered = [result.tool_call_id for result in results]
            expected = [call.id for call in message.tool_calls] if is_round else answered
            require(answered == expected, f"7: probe {index} has results of {answered} for the calls {expected}")
            for call, result in zip(message.tool_calls, results, strict=False):
                is_scripted = result.content == SCRIPTED_RESULT
                require(is_scripted == (call.name == SCRIPTED) or not is_round, f"7: probe {index} mixes up results")
        counted = transcript.conversation.tool_rounds
        require(rounds == counted, f"7: probe {index} counts {counted} rounds and has {rounds}")
