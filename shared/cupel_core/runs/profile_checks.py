"""Checks whether a run's targets and the workspace's accounts can execute its operation profile."""

from typing import Any

from cupel_core.accounts.keys import ModelChecks
from cupel_core.base.errors import FieldError, Invalid, NotFound
from cupel_core.domain.pipeline.operations import ProfileOperation
from cupel_core.domain.pipeline.run_profile import RunProfile
from cupel_core.domain.resources.connectors import ConnectorType
from cupel_core.domain.runs.spec import RunSpec
from cupel_core.resources import connectors, profiles
from cupel_core.store.settings import settings


def find_profile(workspace: str, profile_id: str, version: int | None) -> dict[str, Any]:
    """Return the profile as a snapshot stores it. Raises Invalid for an unknown profile or version."""
    try:
        profile = profiles.get(workspace, profile_id, version)
    except NotFound as unknown:
        field = "config.profileVersion" if "version" in unknown.detail else "config.profileId"
        raise Invalid.field(field, unknown.detail) from None
    return {
        "id": profile.head.id,
        "name": profile.head.name,
        "version": profile.version.number,
        "enabled": profile.head.enabled,
        "content": profile.version.content,
    }


def check_profile(workspace: str, spec: RunSpec, stored: dict[str, Any], checks: ModelChecks) -> None:
    """Raise Invalid, naming every problem: keys and prices change after a profile was saved."""
    profile = RunProfile.of_snapshot(stored)
    if profile is None:
        return
    errors = [
        FieldError("config.profileId", f"operation {operation.id}: {message}")
        for operation in profile.enabled
        if operation.params.call is not None
        and (message := checks.model_error(operation.params.call.target.model) or _timeout_error(operation))
    ]
    if profile.changes_prompt and _has_threads(workspace, spec):
        message = "its operations change the prompt, which a LangGraph agent does not read: it keeps its own thread"
        errors.append(FieldError("config.profileId", message))
    if errors:
        raise Invalid.fields(errors)


def _timeout_error(operation: ProfileOperation) -> str | None:
    seconds = operation.params.call.target.call_timeout_seconds if operation.params.call else None
    if seconds is None or seconds <= settings().call_timeout_seconds:
        return None
    return f"callTimeoutSeconds must be at most {settings().call_timeout_seconds:g}, the stack's CallTimeoutSeconds"


def _has_threads(workspace: str, spec: RunSpec) -> bool:
    ids = [target.connector_id for target in spec.targets if target.connector_id is not None]
    return any(connectors.get(workspace, each).type is ConnectorType.LANGGRAPH for each in ids)
