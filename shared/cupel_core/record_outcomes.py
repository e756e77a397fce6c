"""Recording outcomes: first in the table, then in the barrier's leaves, then upwards. Each step may be repeated."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from cupel_core.clock import utc_now
from cupel_core.domain.resources.webhooks import CallbackScope
from cupel_core.domain.runs.barrier import Node, leaf_of
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.transcripts import Outcome, ProbeError
from cupel_core.domain.turns.model_request import ProbeErrorCode
from cupel_core.settings import settings
from cupel_core.store import barrier, callbacks, executions, outcomes, runs, snapshots
from cupel_core.store.barrier import Tree


def record(
    run: Run,
    fencing_token: int,
    new_outcomes: Sequence[Outcome],
    already_recorded: Mapping[int, bool] | None = None,
    released_claims: Mapping[int, Sequence[str]] | None = None,
) -> None:
    """Record outcomes of probes, and start the finishing execution if they were the run's last.

    `already_recorded`: probes whose outcome is already stored (index → completed). They are added to the barrier once
    more, because the worker that stored them may have died before it did. `released_claims`: claims to release with the
    same writes (leaf → claimants).
    """
    tree = Tree.for_run(run)
    recorded = dict(already_recorded or {})
    if new_outcomes:
        recorded |= outcomes.record(run, fencing_token, new_outcomes)
    if recorded and run.callbacks is CallbackScope.PROBES:
        # Before the barrier: after a crash in between, the probes are still missing there, and this is repeated.
        callbacks.request_for_probes(tree.ref, sorted(recorded), utc_now())
    claims = released_claims or {}
    by_leaf: dict[int, dict[int, bool]] = {number: {} for number in claims}
    for index, completed in recorded.items():
        by_leaf.setdefault(leaf_of(index).number, {})[index] = completed
    for number in sorted(by_leaf):
        node = Node(0, number)
        item = barrier.record(tree, node, by_leaf[number], claims.get(number, ()))
        if item.reopened_in_round > tree.retry_round:
            _record_in_later_round(tree._replace(retry_round=item.reopened_in_round), node, by_leaf[number], claims)
        elif barrier.propagate(tree, node, item.leaf):
            executions.start_finish(tree.ref, fencing_token)


def _record_in_later_round(
    tree: Tree, node: Node, outcomes_by_index: Mapping[int, bool], claims: Mapping[int, Sequence[str]]
) -> None:
    """Record what counts once a retry of the running run has reopened the leaf: transcripts. Errors are run again."""
    completed = {index: True for index, is_completed in outcomes_by_index.items() if is_completed}
    item = barrier.record(tree, node, completed, claims.get(node.number, ()))
    if item.reopened_in_round == tree.retry_round and barrier.propagate(tree, node, item.leaf):
        executions.start_finish(tree.ref, runs.get(tree.ref).fencing_token)


def probe_error_of_run(
    run: Run, index: int, code: ProbeErrorCode, message: str, attempts: int, now: datetime
) -> ProbeError:
    """The error of one of the run's probes, with the ids of its scenario, model and persona."""
    probe = run.plan.probe(index)
    case_ids = snapshots.case_ids(run.snapshot_key, probe.case)
    return ProbeError(
        probe_index=index,
        scenario_id=case_ids.scenario_id,
        model_id=run.plan.targets[probe.target],
        code=code,
        message=message,
        attempts=attempts,
        created_at=now,
        persona_id=case_ids.persona_id,
        retry_round=run.retry_round,
        content_expires_at=now + retention if (retention := settings().retention) else None,
    )
