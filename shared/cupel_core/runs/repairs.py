"""Changes to providers and connectors, after which the runs that waited for them go on at once.

A run that was paused because its model refused every call is resumed. A running one whose model is suspended is sent
again: its messages may lie in the queue with a delay of minutes.
"""

from contextlib import suppress
from datetime import datetime

from cupel_core import accounts
from cupel_core.domain.resources.connectors import PROVIDER, Connector, ConnectorFields
from cupel_core.domain.resources.named_resource import NamedResource
from cupel_core.domain.resources.providers import ProviderChanges, ProviderView
from cupel_core.domain.runs.run import Action, IllegalTransition, PauseCause, PauseReason, Run, RunStatus
from cupel_core.errors import Conflict, NotFound
from cupel_core.messages import RunRef
from cupel_core.preconditions import UNCONDITIONAL, Precondition
from cupel_core.resources import connectors
from cupel_core.runs import control
from cupel_core.store import active_runs, governor, runs

_REPAIRED = "its settings were changed; the run goes on with them"


def update_provider(
    workspace: str,
    name: str,
    changes: ProviderChanges,
    now: datetime,
    precondition: Precondition = UNCONDITIONAL,
) -> ProviderView:
    """Update a provider's settings; raises what `accounts.update_provider` raises."""
    suspended = _suspended_models(workspace, name)
    view = accounts.update_provider(workspace, name, changes, precondition)
    _continue_runs(workspace, f"{name}/", suspended, now)
    return view


def update_connector(
    workspace: str,
    connector_id: str,
    fields: ConnectorFields,
    now: datetime,
    precondition: Precondition = UNCONDITIONAL,
) -> NamedResource[Connector]:
    """Update a connector; raises what `connectors.update` raises."""
    model = f"{PROVIDER}/{connector_id}"
    suspended = _suspended_models(workspace, PROVIDER) & {model}
    updated = connectors.update(workspace, connector_id, fields, now, precondition)
    governor.reset_breaker(workspace, PROVIDER, model)
    _continue_runs(workspace, model, suspended, now)
    return updated


def _suspended_models(workspace: str, provider: str) -> frozenset[str]:
    return frozenset(each.model for each in governor.get_status(workspace, provider).suspended_models)


def _continue_runs(workspace: str, repaired_prefix: str, suspended: frozenset[str], now: datetime) -> None:
    """`repaired_prefix` begins the names of the repaired models; `suspended` of them were so until now."""
    for ref in active_runs.list_of_workspace(workspace):
        with suppress(NotFound, Conflict, IllegalTransition):  # Deleted, or changed by a user meanwhile.
            run = runs.get(ref)
            if _was_paused_for(run, repaired_prefix):
                control.resume(workspace, run.id, now)
            elif run.status is RunStatus.RUNNING and (waiting_for := suspended.intersection(_models_of(run))):
                _pause(run, PauseCause(min(waiting_for), _REPAIRED), now)
                control.resume(workspace, run.id, now)


def _pause(run: Run, cause: PauseCause, now: datetime) -> None:
    """With a cause, so that a repeated repair resumes the run if this one ends before it does.

    Raises Conflict or IllegalTransition if the run was changed meanwhile: a user's pause is not undone.
    """
    runs.transition(
        RunRef(run.workspace, run.id),
        Action.PAUSE,
        now,
        fencing_token=run.fencing_token,
        pause_reason=PauseReason.PROVIDER,
        pause_cause=cause,
    )


def _models_of(run: Run) -> tuple[str | None, ...]:
    """All that its conversations call, but for those of single assertions."""
    config = run.grader_config
    return (*run.models, config.judge_model, config.persona_model, config.embedding_model)


def _was_paused_for(run: Run, repaired_prefix: str) -> bool:
    is_paused = run.status is RunStatus.PAUSED and run.pause_reason == PauseReason.PROVIDER
    return is_paused and run.pause_cause is not None and run.pause_cause.model.startswith(repaired_prefix)
