"""Recording outcomes: first in the table, then in the barrier's leaves, then upwards. Each step may be repeated."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from cupel_core.domain.runs.barrier import Node, leaf_of
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.transcripts import Outcome, ProbeError
from cupel_core.domain.turns.model_request import ProbeErrorCode
from cupel_core.settings import settings
from cupel_core.store import barrier, executions, outcomes, snapshots
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
    claims = released_claims or {}
    by_leaf: dict[int, dict[int, bool]] = {number: {} for number in claims}
    for index, completed in recorded.items():
        by_leaf.setdefault(leaf_of(index).number, {})[index] = completed
    for number in sorted(by_leaf):
        node = Node(0, number)
        leaf = barrier.record(tree, node, by_leaf[number], claims.get(number, ()))
        if barrier.propagate(tree, node, leaf):
            executions.start_finish(tree.ref, fencing_token)


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
