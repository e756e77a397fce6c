"""The invariants of the protocol, checked at every write and every model call, and once more when all is at rest."""

import zlib
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import orjson

from cupel_core.domain.runs.barrier import Node, children_of, leaf_of
from cupel_core.domain.runs.plan import Probe
from cupel_core.domain.runs.run import ACTIVE, MOVES, TERMINAL, EventType, Run, RunStatus
from cupel_core.domain.runs.transcripts import Transcript
from cupel_core.messages import RunRef
from cupel_core.store import barrier, events, keys, outbox, outcomes, snapshots
from cupel_core.store.barrier import Tree
from cupel_core.store.run_items import RunItem, from_item
from tests.simulation import harness
from tests.simulation.expressions import Item
from tests.simulation.models import Call
from tests.simulation.scheduler import Violation
from tests.simulation.table import Key

if TYPE_CHECKING:
    from tests.simulation.cloud import Cloud

STOP_SECONDS = 5.0
_LEGAL = {(source, move.target) for move in MOVES.values() for source in move.sources}
_LATER = frozenset({"summary", "lastAccessedAt"})
"""Attributes that an outcome gets when it stands already."""


def require(holds: object, what: str) -> None:
    if not holds:
        raise Violation(what)


class Laws:
    """There is one run in a schedule, or invariant 6 is broken."""

    def __init__(self, cloud: "Cloud") -> None:
        self._cloud = cloud
        self.moves: Counter[str] = Counter()
        self._run: Run | None = None
        self._stopped_at: float | None = None
        """Since when probes of the run may not start."""

    @property
    def generation(self) -> int:
        return self._run.generation if self._run else 1

    @property
    def run(self) -> Run | None:
        return self._run

    # -- at every write

    def observe(self, key: Key, before: Item, after: Item) -> None:
        pk, sk = key
        if "#leaves#" in pk:
            self._check_leaf(int(sk), after)
        elif "#nodes#" in pk:
            members = [int(member) % harness.FANOUT for member in after.get("members", {}).get("NS", ())]
            require(len(members) == len(set(members)), f"1: a child counts twice in {pk} {sk}: {after}")
        elif "#probes#" in pk:
            self._check_outcome(key, before, after)
        elif sk == "run":
            self._see_run(after, before)

    def _check_leaf(self, number: int, item: Item) -> None:
        completed, failed = (set(item.get(name, {}).get("NS", ())) for name in ("completed", "failed"))
        require(not completed & failed, f"1: leaf {number} counts {completed & failed} twice")
        if self._run is not None:
            most = children_of(Node(0, number), self._run.plan.total)
            require(all(int(offset) < most for offset in completed | failed), f"1: leaf {number} counts over {most}")

    def _check_outcome(self, key: Key, before: Item, after: Item) -> None:
        changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)} - _LATER
        if not before or not changed:
            return
        was_retried = not before["completed"]["BOOL"] and int(before["epoch"]["N"]) < self.generation
        require(was_retried, f"2: the outcome {key} was overwritten: {before} → {after}")

    def _see_run(self, item: Item, before: Item) -> None:
        item_run = from_item(RunItem.from_raw_data(dict(item)))
        if before and before["status"]["S"] != item_run.status:
            self.moves[f"{before['status']['S']} → {item_run.status}"] += 1
        if before:
            require(item_run.id == (self._run and self._run.id), "6: two runs of one key")
            was, now = RunStatus(before["status"]["S"]), item_run.status
            moved = item_run.event_seq - int(before["eventSeq"]["N"])
            require(moved == 1 and (was is now or (was, now) in _LEGAL), f"4: {was} → {now} with {moved} events")
        else:
            require(self._run is None, "6: two runs of one key")
        self._run = item_run
        if item_run.status in ACTIVE:
            self._stopped_at = None
        elif self._stopped_at is None:
            self._stopped_at = self._cloud.world.now

    # -- at every model call

    def check_call(self, call: Call, earlier: Sequence[Call], *, is_aside: bool = False) -> None:
        """Ends the schedule by itself: what is raised here, the code under test might catch.

        `is_aside` is a call of the judge or of the user that a model plays.
        """
        try:
            self._check_call(call, earlier, is_aside)
        except Violation as violation:
            self._cloud.world.fail(violation)
            raise

    def _check_call(self, call: Call, earlier: Sequence[Call], is_aside: bool) -> None:
        run = self._run
        require(run is not None, "a model is called without a run")
        assert run is not None
        now = self._cloud.world.now
        stopped = self._stopped_at is not None and now > self._stopped_at + STOP_SECONDS
        require(not stopped, f"5: a model call {now - (self._stopped_at or 0):.1f} s after the run was {run.status}")
        if self._cloud.has_wild_clocks:
            return
        if not is_aside:
            self._check_not_recorded(run, self._index(run, call), call.turn.number)
        for other in earlier:
            if other.generation != call.generation:
                continue
            alive = not other.invocation.is_dead
            require(other.is_over or not alive, f"3: {call.turn} is called twice at a time")
            lost = not other.was_answered or other.invocation.was_hurt
            require(lost, f"3: {call.turn} was answered and is called again")

    def _index(self, run: Run, call: Call) -> int:
        case = next(iter(snapshots.get(run.snapshot_key).cases(call.turn.scenario_id)), 0)
        return run.plan.index(Probe(case, run.plan.targets.index(call.turn.model), call.turn.repeat))

    def _check_not_recorded(self, run: Run, index: int, turn: int) -> None:
        ref = RunRef(run.workspace, run.id)
        outcome = self._cloud.table.item(keys.probes(ref, index), keys.probe(index))
        stands = outcome and (outcome["completed"]["BOOL"] or int(outcome["epoch"]["N"]) >= run.generation)
        require(not stands, f"3: probe {index} is recorded and its model is called again")
        node = leaf_of(index)
        item = self._cloud.table.item(keys.siblings(ref, node, 0), keys.node(node.number))
        counted = {*item.get("completed", {}).get("NS", ()), *item.get("failed", {}).get("NS", ())}
        require(str(index % harness.FANOUT) not in counted, f"3: probe {index} counts and its model is called again")
        checkpoint = self._cloud.table.item(keys.turns(ref, index), keys.at(index, run.generation))
        if checkpoint:
            done = self._turns_of(checkpoint)
            require(turn >= done, f"3: turn {turn} of probe {index} is stored and is called again")

    @staticmethod
    def _turns_of(checkpoint: Item) -> int:
        content: Any = checkpoint["content"]["B"]
        return int(orjson.loads(zlib.decompress(content))["turns"])

    # -- at rest

    def is_at_rest(self) -> bool:
        run = self._run
        return run is not None and run.status in TERMINAL and not list(outbox.untouched_since(_ever()))

    def check_rest(self) -> None:
        run = self._run
        require(run is not None, "6: no run was started")
        assert run is not None
        require(run.status in TERMINAL, f"1: the run stays {run.status}")
        self._check_events(run)
        self._check_counts(run)

    def _check_events(self, run: Run) -> None:
        found = events.after(RunRef(run.workspace, run.id), 0)
        require([each.seq for each in found] == list(range(1, run.event_seq + 1)), "4: events have gaps")
        status = RunStatus.PENDING
        for event in (each for each in found[1:] if each.type is not EventType.RECOVERED):
            was, now = RunStatus(str(event.data["from"])), RunStatus(str(event.data["to"]))
            require(was is status and (was, now) in _LEGAL, f"4: event {event.seq} tells {was} → {now} at {status}")
            status = now
        require(status is run.status, f"4: events end {status}, the run is {run.status}")

    def _check_counts(self, run: Run) -> None:
        ref, total = RunRef(run.workspace, run.id), run.plan.total
        stored = {}
        for index in range(total):
            item = self._cloud.table.item(keys.probes(ref, index), keys.probe(index))
            if item:
                stored[index] = item["completed"]["BOOL"]
        counted: dict[int, bool] = {}
        for number in range(-(-total // harness.FANOUT)):
            leaf = barrier.leaf(ref, Node(0, number)).leaf
            counted |= {number * harness.FANOUT + offset: True for offset in leaf.completed}
            counted |= {number * harness.FANOUT + offset: False for offset in leaf.failed}
        if run.status is not RunStatus.CANCELLED:
            require(len(stored) == total, f"1: {total - len(stored)} of {total} probes have no outcome")
            require(counted == stored, f"1: the barrier counts {counted}, stored are {stored}")
            wanted = (RunStatus.COMPLETED, RunStatus.FAILED) if any(stored.values()) else (RunStatus.FAILED,)
            require(run.status in wanted, f"1: the run is {run.status} with {stored}")
            counts = barrier.progress(Tree.of(run))
            require(run.settled == counts, f"1: settled with {run.settled}, counted are {counts}")
        require(all(counted[index] == stored.get(index) for index in counted), f"1: {counted} but stored {stored}")
        for index in (index for index, completed in stored.items() if completed):
            self._check_answered(run, index)

    def _check_answered(self, run: Run, index: int) -> None:
        probe, snapshot = run.plan.probe(index), snapshots.get(run.snapshot_key)
        scenario_id = snapshot.scenario(probe.case).id
        found = outcomes.get_many(RunRef(run.workspace, run.id), [index])[index]
        assert isinstance(found, Transcript)
        last = found.dialogue.turns - 1
        if run.evaluation.judge_model is None:
            require(last == len(snapshot.definition.get("followUps", ())), f"7: probe {index} ended too early")
        else:
            require(found.result is not None, f"7: probe {index} was to be judged and has no result")
        calls = self._cloud.models.calls(run.plan.targets[probe.target], scenario_id, probe.repeat, last)
        require(any(call.was_answered for call in calls), f"7: probe {index} completed without an answer")


def _ever() -> Any:
    from datetime import UTC, datetime

    return datetime(2100, 1, 1, tzinfo=UTC)
