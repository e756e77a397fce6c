"""Starting a rescore: everything is validated before anything is written."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from functools import partial

import orjson

from cupel_core import idempotency
from cupel_core.accounts import account_error, model_error
from cupel_core.definitions.assertions import assertion_errors
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.definitions.required_models import missing_models
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.run import Run
from cupel_core.domain.scoring.rescores import RESCORABLE, Rescore, RescoreConfig, RescoreSpec
from cupel_core.errors import Conflict, FieldError, Invalid
from cupel_core.ids import new_id
from cupel_core.messages import RunRef
from cupel_core.store import barrier, executions, rescores, runs, scenarios, snapshots
from cupel_core.store.barrier import Tree


def start(workspace: str, run_id: str, spec: RescoreSpec, idempotency_key: str | None, now: datetime) -> Rescore:
    """Create a rescore of the run and start its execution; a repeated request with the same key gets the first one.

    Raises Conflict for a run that is not over or has no transcripts, and while another request with the same key is in
    progress; Invalid for a spec that cannot be carried out, and for a key that was used with another one.
    """
    ref = RunRef(workspace, run_id)
    run = runs.get(ref)
    _check(workspace, run, spec)
    rescore = _rescore(run, spec, now)
    if idempotency_key is None:
        rescores.create(rescore)
    else:
        body = orjson.dumps([run_id, rescore.config.to_json()], option=orjson.OPT_SORT_KEYS).decode()
        answer = idempotency.find_answer(workspace, idempotency_key, body, now)
        if answer is not None:
            return rescores.get(ref, answer.run_id)
        rescores.create(rescore, idempotency.reserve(workspace, idempotency_key, body, rescore.id, now))
    executions.start_rescore(ref, rescore.id)
    return rescore


def _rescore(run: Run, spec: RescoreSpec, now: datetime) -> Rescore:
    completed = (run.settled or barrier.get_progress(Tree.for_run(run))).completed
    if not completed:
        raise Conflict("this run has no transcripts to score")
    return Rescore(
        workspace=run.workspace,
        run_id=run.id,
        id=new_id("scr"),
        config=spec.config(),
        total=completed,
        probe_count=run.plan.total,
        retry_round=run.retry_round,
        created_at=now,
    )


def _check(workspace: str, run: Run, spec: RescoreSpec) -> None:
    errors = [*_assertion_errors(spec), *_model_errors(workspace, spec)] or [*_missing_model_errors(run, spec)]
    if errors:
        raise Invalid.fields(errors)
    if run.status not in RESCORABLE:
        raise Conflict(f"a run that is {run.status} cannot be rescored: its targets are still responding")


def _assertion_errors(spec: RescoreSpec) -> tuple[FieldError, ...]:
    return assertion_errors(spec.assertions, "assertions") if spec.assertions else ()


def _model_errors(workspace: str, spec: RescoreSpec) -> Iterator[FieldError]:
    for field, model, find_error in (
        ("judgeModel", spec.judge_model, model_error),
        ("embeddingModel", spec.embedding_model, account_error),
    ):
        if model is not None and (problem := find_error(workspace, model)):
            yield FieldError(field, problem)


def _missing_model_errors(run: Run, spec: RescoreSpec) -> Iterator[FieldError]:
    config = spec.config()
    grader_config = config.grader_config(run.grader_config)
    if spec.criteria is not None and grader_config.judge_model is None:
        yield FieldError("judgeModel", "is required to judge by criteria: the run has none")
        return
    snapshot = snapshots.get(run.snapshot_key)
    used = scenarios.iterate_with_models(snapshot.manifest, snapshot.scenario_positions)
    own = Content.from_json(snapshot.definition).assertions
    content = Content(assertions=own if config.assertions is None else config.assertions)
    graded = map(partial(_as_graded, config), used)
    for field, message in missing_models(grader_config, content, graded):
        yield FieldError(field, f"{message}; the run has none")


def _as_graded(config: RescoreConfig, scenario: Scenario) -> Scenario:
    """The scenario with what the rescore replaces."""
    return replace(
        scenario,
        criteria=config.criteria or scenario.criteria,
        assertions=scenario.assertions if config.assertions is None else (),
    )
