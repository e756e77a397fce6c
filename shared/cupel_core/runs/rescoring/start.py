"""The start of a rescore: everything is validated before anything is written.

The rescore and its entry in the sweeper's list are written in one transaction with the answer of the Idempotency-Key;
then the execution that is named after it starts. After a crash in between, the sweeper starts it, and it replaces an
execution that died. When a budget that was used up is raised, the rescore is PENDING and in the list again, and the
execution with the next number starts. Transcripts that a later retry or expansion adds are not part of it.
"""

from datetime import datetime

import orjson

from cupel_core.base.errors import Conflict, FieldError, Invalid
from cupel_core.base.ids import new_id
from cupel_core.base.messages import RunRef
from cupel_core.budgets.price_checks import needs_prices, refuse_unpriced
from cupel_core.definitions.assertions import assertion_errors
from cupel_core.domain.budgets.money import limit_text
from cupel_core.domain.codec import encode
from cupel_core.domain.runs.run import Run
from cupel_core.domain.scoring.rescores import RESCORABLE, LabelledSelection, Rescore, RescoreSpec
from cupel_core.runs.labelling.labelled_runs import labelled_probes
from cupel_core.runs.rescoring.comparisons import comparison_ranges
from cupel_core.runs.rescoring.models import RescoreModels
from cupel_core.store import barrier, executions, idempotency, rescores, runs
from cupel_core.store.barrier import Tree


def start(workspace: str, run_id: str, spec: RescoreSpec, idempotency_key: str | None, now: datetime) -> Rescore:
    """Create a rescore of the run and start its execution. A repeated request with the same key gets the first one.
    Raise Conflict for a run that is not over or has no transcripts, and while another request with the same key is in
    progress. Raise Invalid for a spec that cannot be carried out, and for a key that was used with another one."""
    ref = RunRef(workspace, run_id)
    run = runs.get(ref)
    _check(run, spec)
    rescore = _rescore(run, spec, now)
    if idempotency_key is None:
        rescores.create(rescore)
    else:
        budget = [] if spec.max_budget_usd is None else [spec.max_budget_usd]
        labelled = [] if spec.labelled is None else [list(spec.labelled)]
        body = orjson.dumps([run_id, encode(rescore.config), *budget, *labelled], option=orjson.OPT_SORT_KEYS).decode()
        answer = idempotency.find_answer(workspace, idempotency_key, body, now)
        if answer is not None:
            return rescores.get(ref, answer.run_id)
        rescores.create(rescore, idempotency.reserve(workspace, idempotency_key, body, rescore.id, now))
    executions.start_rescore(ref, rescore.id)
    return rescore


def raise_budget(workspace: str, run_id: str, rescore_id: str, max_usd: float, now: datetime) -> Rescore:
    """Raise the budget of a rescore that is running, or that the budget has stopped and that then grades the rest.
    Repeating it is harmless. Raise Conflict for one that has ended otherwise, or is being stopped, and while the run is
    not over. Raise Invalid for a budget that is not greater."""
    ref = RunRef(workspace, run_id)
    run, rescore = runs.get(ref), rescores.get(ref, rescore_id)
    if rescore.max_budget_usd is None:
        raise Conflict("the rescore has no budget of its own: it was started without maxBudgetUsd")
    if not rescore.is_stopped_by_budget:
        return _raise_while_open(rescore, max_usd)
    if max_usd <= rescore.max_budget_usd:
        raise Invalid.field(
            "maxBudgetUsd", f"must be greater than {limit_text(rescore.max_budget_usd)}, which is used up"
        )
    _check_is_rescorable(run)
    stored = rescores.reopen(rescore.with_budget(max_usd), now)
    if stored.max_budget_usd != max_usd:
        raise Conflict("the budget of the rescore was raised at the same time")
    executions.start_rescore(ref, rescore.id, stored.execution)
    return stored


def _raise_while_open(rescore: Rescore, max_usd: float) -> Rescore:
    """Raise the limit. Tasks that have used up the earlier limit read the new one before they give up."""
    # A repeated request after a lost reply succeeds, even if the rescore has ended since.
    if max_usd == rescore.max_budget_usd:
        return rescore
    _check_can_be_raised(rescore, max_usd)
    is_raised = rescores.raise_limit(rescore, max_usd)
    stored = rescores.get(RunRef(rescore.workspace, rescore.run_id), rescore.id)
    if not is_raised:
        if not stored.is_stopped_by_budget:
            _check_can_be_raised(stored, max_usd)
        raise Conflict("the rescore is being stopped by its budget; try again in a moment")
    return stored


def _check_can_be_raised(rescore: Rescore, max_usd: float) -> None:
    if rescore.status.is_over:
        raise Conflict(f"the rescore is {rescore.status}: only one that its budget has stopped continues")
    limit = rescore.max_budget_usd or 0.0
    if max_usd < limit:
        raise Invalid.field(
            "maxBudgetUsd", f"must be greater than {limit_text(limit)}: a budget of a rescore is only raised"
        )


def _rescore(run: Run, spec: RescoreSpec, now: datetime) -> Rescore:
    completed = (run.settled or barrier.get_progress(Tree.for_run(run))).completed
    if not completed:
        raise Conflict("this run has no transcripts to score")
    selected = None if spec.labelled is None else _labelled(run, spec.labelled)
    rescore = Rescore(
        workspace=run.workspace,
        run_id=run.id,
        id=new_id("rsc"),
        config=spec.config(),
        total=completed if selected is None else len(selected),
        probe_count=run.plan.total,
        retry_round=run.retry_round,
        created_at=now,
        max_budget_usd=spec.max_budget_usd,
        selected=selected,
    )
    if selected is not None and comparison_ranges(run, rescore):
        raise Invalid.field("labelled", "must be left out: select-best and max-score need the answers of all targets")
    return rescore


def _labelled(run: Run, selection: LabelledSelection) -> tuple[int, ...]:
    found = labelled_probes(run, selection)
    if not found:
        raise Conflict(f"no transcript has a blind label of the criterion {selection.criterion}")
    return found


def _check(run: Run, spec: RescoreSpec) -> None:
    if errors := [*_assertion_errors(spec)]:
        raise Invalid.fields(errors)
    models = RescoreModels(run, spec.config())
    if errors := [*models.own_errors()] or [*models.missing_errors()] or [*models.uncallable_errors()]:
        raise Invalid.fields(errors)
    if not spec.allow_unpriced and (spec.max_budget_usd is not None or needs_prices(run)):
        refuse_unpriced(models.list_unpriced())
    _check_is_rescorable(run)


def _check_is_rescorable(run: Run) -> None:
    if run.status not in RESCORABLE:
        raise Conflict(f"a run that is {run.status} cannot be rescored: its targets are still responding")


def _assertion_errors(spec: RescoreSpec) -> tuple[FieldError, ...]:
    return assertion_errors(spec.assertions, "assertions") if spec.assertions else ()
