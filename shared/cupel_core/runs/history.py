"""Conversations of earlier runs similar to a run that is estimated.

Nothing is stored for this: a few leaves of the newest comparable runs are read, without their texts.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

from cupel_core.base.messages import RunRef
from cupel_core.domain.analysis.counted_outcomes import CountedOutcome
from cupel_core.domain.conversations.model_parameters import ParameterFields, merge_parameters
from cupel_core.domain.conversations.roles import ModelRole
from cupel_core.domain.estimates.conversations import Calls
from cupel_core.domain.estimates.history import MIN_CONVERSATIONS, ColumnHistory, PastConversation
from cupel_core.domain.runs.barrier import FANOUT
from cupel_core.domain.runs.plan import Column, Plan
from cupel_core.domain.runs.run import ProfileRef, Run, RunStatus
from cupel_core.domain.runs.sampling import evenly
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.store import outcomes, runs, snapshots
from cupel_core.store.counted_outcomes import counted
from cupel_core.store.snapshots import Snapshot

MAX_RUNS = 5
"""Up to this many of the definition's newest completed runs are read."""
MAX_LEAVES = 12
"""Up to this many leaves of one run are read, over all columns. Each takes a request or two."""
MAX_PER_COLUMN = 100

type CallsPrice = Callable[[str, Calls], float | None]


class ComparableRuns(NamedTuple):
    workspace: str
    definition_id: str
    definition_version: int
    eval_id: str | None
    grader_config: GraderConfig
    max_turns: int | None
    profile: ProfileRef | None
    params: ParameterFields
    plan: Plan
    scenarios: Collection[int]
    """The positions in the definition of the scenarios that are estimated."""
    before: datetime
    """The comparison uses only runs that were created before this time."""
    probes: Sequence[int] | None = None
    """The number of probes estimated per column. None means those of the plan."""
    revised_prompt: str | None = None
    """The run's own system prompt, or None if it has that of the definition's version."""

    @classmethod
    def of(
        cls, run: Run, scenarios: Collection[int], before: datetime, probes: Sequence[int] | None = None
    ) -> "ComparableRuns":
        return cls(
            run.workspace,
            run.definition_id,
            run.definition_version,
            run.eval_id,
            run.grader_config,
            run.max_turns,
            run.profile,
            run.params,
            run.plan,
            scenarios,
            before,
            probes,
            run.revised_prompt,
        )

    def includes(self, run: Run) -> bool:
        """Return whether a run is comparable. The definition's own prompt counts for a revised one, which is about as
        long."""
        graders = _conversation_graders(self.grader_config), _conversation_graders(run.grader_config)
        own = (self.definition_version, self.eval_id, self.max_turns, self.profile)
        is_prompt_alike = run.revised_prompt in (None, self.revised_prompt)
        return (
            is_prompt_alike
            and run.created_at < self.before
            and own == (run.definition_version, run.eval_id, run.max_turns, run.profile)
            and graders[0] == graders[1]
        )

    def select(self, newest: Sequence[Run]) -> list[Run]:
        """Return the comparable runs, first those with exactly the same prompt."""
        alike = [run for run in newest if self.includes(run)]
        return sorted(alike, key=lambda run: run.revised_prompt != self.revised_prompt)


def _conversation_graders(config: GraderConfig) -> GraderConfig:
    """Return the configuration without the summarizer, which does not change what conversations cost."""
    return replace(config, summarizer_model=None)


def column_histories(wanted: ComparableRuns, price: CallsPrice) -> list[ColumnHistory]:
    """Return the history of each column, which is empty if no run is comparable. Calls of targets have these prices."""
    listed = runs.list_runs(
        wanted.workspace, definition_id=wanted.definition_id, status=RunStatus.COMPLETED, limit=MAX_RUNS, cursor=None
    )
    earlier = wanted.select(listed.items)
    leaves = max(1, MAX_LEAVES // len(wanted.plan.columns))
    columns = wanted.plan.columns
    probes = (wanted.plan.cases * wanted.plan.repeats,) * len(columns) if wanted.probes is None else wanted.probes
    return [
        ColumnHistory(
            column.target.id, number, wanted.scenarios, *_past_conversations(wanted, column, earlier, leaves, price)
        )
        for column, number in zip(columns, probes, strict=True)
        if number
    ]


def _past_conversations(
    wanted: ComparableRuns, column: Column, earlier: Sequence[Run], leaves: int, price: CallsPrice
) -> tuple[list[PastConversation], list[str]]:
    """Return conversations of the first runs until there are enough, and the ids of their runs. Runs whose snapshot was
    deleted are left out, because it says which scenario a conversation had."""
    key = _terms(column, wanted.params)
    found: list[PastConversation] = []
    run_ids = []
    for run in earlier:
        number = next((n for n, each in enumerate(run.plan.columns) if _terms(each, run.params) == key), None)
        snapshot = None if number is None else snapshots.find(run.snapshot_key)
        if number is not None and snapshot is not None:
            read = list(_read(run, snapshot, run.plan.column_ranges(number), leaves, column.target.model, price))
            found += read
            run_ids += [run.id] * bool(read)
        if len(found) >= MIN_CONVERSATIONS:
            break
    return found, run_ids


def _terms(column: Column, params: ParameterFields) -> tuple[str, str | None, dict[str, Any]]:
    target = column.target
    return target.model, column.prompt_id, merge_parameters(params, target.params)


def _read(
    run: Run, snapshot: Snapshot, ranges: Sequence[range], leaves: int, model: str, price: CallsPrice
) -> Iterator[PastConversation]:
    """Yield the conversations that were scored as planned. A judge that gave no verdict may have been called twice."""
    ref = RunRef(run.workspace, run.id)
    for stored in outcomes.list_stored(ref, _sampled(ranges, leaves)):
        outcome = counted(stored)
        is_usual = outcome.is_completed and not outcome.is_unscored
        usd = _usd(outcome, model, price) if is_usual else None
        if usd is not None:
            scenario = snapshot.scenario_positions[run.plan.probe(outcome.probe_index).case]
            yield PastConversation(scenario, outcome.turns, outcome.input_tokens, outcome.output_tokens, usd)


def _sampled(ranges: Sequence[range], leaves: int) -> list[int]:
    by_leaf: dict[int, list[int]] = {}
    for start, stop in ((each.start, each.stop) for each in ranges):
        for leaf in range(start // FANOUT, (stop - 1) // FANOUT + 1):
            span = range(max(start, leaf * FANOUT), min(stop, (leaf + 1) * FANOUT))
            by_leaf.setdefault(leaf, []).extend(span)
    chosen = evenly(list(by_leaf.values()), leaves)
    return [index for indexes in chosen for index in evenly(indexes, max(1, MAX_PER_COLUMN // len(chosen)))]


def _usd(outcome: CountedOutcome, model: str, price: CallsPrice) -> Mapping[ModelRole, float] | None:
    usd = {ModelRole(cost.kind): cost.usd for cost in outcome.costs}
    tokens = Calls(float(outcome.turns), float(outcome.input_tokens), float(outcome.output_tokens))
    today = price(model, tokens)
    usd[ModelRole.TARGET] = usd.get(ModelRole.TARGET) if today is None else today
    known = {role: amount for role, amount in usd.items() if amount is not None}
    return known if len(known) == len(usd) else None
