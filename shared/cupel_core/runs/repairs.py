"""Changes to providers and connectors that resume the runs that waited for them.

A run that was paused because its model refused every call is resumed. A running one whose model is suspended is
dispatched again, because its messages may have a delay of minutes. The request does this for up to 50 open runs. An
item records the last one, from which the sweeper continues with the others, also after a crash. A run is resumed only
if it is still as it was read, so that a pause by a user in between takes precedence.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta

from aws_lambda_powertools import Logger

from cupel_core.accounts import keys as accounts
from cupel_core.base.errors import AppError, Conflict, NotFound, RetryableError
from cupel_core.base.ids import new_id
from cupel_core.base.messages import RunRef
from cupel_core.base.preconditions import UNCONDITIONAL, Precondition
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.definitions.required_models import named_models
from cupel_core.domain.resources.connectors import PROVIDER, Connector, ConnectorFields, target_of_connector
from cupel_core.domain.resources.named_resource import NamedResource
from cupel_core.domain.resources.providers import ProviderChanges, ProviderView
from cupel_core.domain.runs.run import Action, IllegalTransition, PauseCause, PauseReason, Run, RunStatus
from cupel_core.resources import connectors
from cupel_core.runs import control
from cupel_core.store import active_runs, governor, repairs, runs, snapshots
from cupel_core.store.clients import AWS_ERRORS
from cupel_core.store.repairs import Repair

MAX_RUNS_PER_REQUEST = 50
"""A request repairs at most this many of the workspace's open runs. Each takes up to nine AWS requests."""
_REQUEST_TIME = timedelta(seconds=30)
"""Until then, the request that made the change carries out the repair; afterwards, the sweeper does."""
_REPAIRED = "its settings were changed; the run goes on with them"

logger = Logger(child=True)


def update_provider(
    workspace: str,
    name: str,
    changes: ProviderChanges,
    now: datetime,
    precondition: Precondition = UNCONDITIONAL,
) -> ProviderView:
    suspended = _suspended_models(workspace, name)
    view = accounts.update_provider(workspace, name, changes, precondition)
    _carry_out(workspace, f"{name}/", suspended, now)
    return view


def update_connector(
    workspace: str,
    connector_id: str,
    fields: ConnectorFields,
    now: datetime,
    precondition: Precondition = UNCONDITIONAL,
) -> NamedResource[Connector]:
    model = target_of_connector(connector_id)
    suspended = _suspended_models(workspace, PROVIDER) & {model}
    updated = connectors.update(workspace, connector_id, fields, now, precondition)
    governor.reset_breaker(workspace, PROVIDER, model)
    _carry_out(workspace, model, suspended, now)
    return updated


def _suspended_models(workspace: str, provider: str) -> frozenset[str]:
    return frozenset(each.model for each in governor.get_status(workspace, provider).suspended_models)


def _carry_out(workspace: str, model_prefix: str, suspended: frozenset[str], now: datetime) -> None:
    """Resume the first runs within the request. The sweeper continues with the others, also after a crash."""
    repair = Repair(workspace, new_id("repair"), model_prefix, suspended)
    repairs.save(repair, due_at=now + _REQUEST_TIME)
    remaining = iter(range(MAX_RUNS_PER_REQUEST))
    with suppress(RetryableError, *AWS_ERRORS):
        continue_runs(repair, now, lambda: next(remaining, None) is not None)


def continue_runs(repair: Repair, now: datetime, has_time: Callable[[], bool]) -> None:
    """Resume the runs that waited for the repair. Without time, leave the others to the sweeper. A run that fails gets
    a repair of its own, which the sweeper repeats, and delays no other."""
    if repair.only_run is not None:
        _continue_unless_changed(RunRef(repair.workspace, repair.only_run), repair, now)
        repairs.remove(repair)
        return
    for ref in active_runs.list_of_workspace(repair.workspace, repair.after_run):
        if not has_time():
            repairs.save(repair, due_at=now)
            return
        try:
            _continue_unless_changed(ref, repair, now)
        except (AppError, *AWS_ERRORS):
            logger.exception("a run could not go on after a repair", run_id=ref.run_id)
            repairs.save(replace(repair, id=f"{repair.id}-{ref.run_id}", only_run=ref.run_id), due_at=now)
        repair = replace(repair, after_run=ref.run_id)
    repairs.remove(repair)


def _continue_unless_changed(ref: RunRef, repair: Repair, now: datetime) -> None:
    with suppress(NotFound, Conflict, IllegalTransition):  # The run was deleted or changed meanwhile.
        _continue_run(runs.get(ref), repair, now)


def _continue_run(run: Run, repair: Repair, now: datetime) -> None:
    """Resume a run. Raise Conflict or IllegalTransition if it changed since it was read: a user's pause is not
    undone."""
    if _was_paused_for(run, repair.model_prefix):
        control.resume_unchecked(run, now, fencing_token=run.fencing_token)
    elif run.status is RunStatus.RUNNING and (waiting_for := repair.suspended_models & _models_of(run, repair)):
        paused = _pause(run, PauseCause(min(waiting_for), _REPAIRED), now)
        control.resume_unchecked(paused, now, fencing_token=paused.fencing_token)


def _pause(run: Run, cause: PauseCause, now: datetime) -> Run:
    """Pause a run with a cause, so that a repeated repair resumes the run if this one ends before it does."""
    return runs.transition(
        RunRef(run.workspace, run.id),
        Action.PAUSE,
        now,
        fencing_token=run.fencing_token,
        pause_reason=PauseReason.PROVIDER,
        pause_cause=cause,
    )


def _models_of(run: Run, repair: Repair) -> frozenset[str]:
    """Return all models that its conversations may call: targets, configured graders, and those that assertions name. A
    scenario page with more models than its list has room for may name any model."""
    config, snapshot = run.grader_config, snapshots.get(run.snapshot_key)
    graders = [each for each in (config.judge_model, config.persona_model, config.embedding_model) if each]
    named = named_models(Content.from_json(snapshot.definition).assertions)
    pages = [repair.suspended_models if page.models is None else page.models for page in snapshot.manifest.pages]
    return frozenset(run.models).union(graders, named, *pages)


def _was_paused_for(run: Run, model_prefix: str) -> bool:
    is_paused = run.status is RunStatus.PAUSED and run.pause_reason == PauseReason.PROVIDER
    return is_paused and run.pause_cause is not None and run.pause_cause.model.startswith(model_prefix)
