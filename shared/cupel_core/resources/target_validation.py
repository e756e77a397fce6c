"""Validation of a target of a run or a chat: it finds problems that prevent every call."""

from collections.abc import Iterator

from cupel_core.accounts.keys import ModelChecks
from cupel_core.base.errors import FieldError, NotFound
from cupel_core.domain.resources.connectors import ConnectorType
from cupel_core.domain.runs.targets import Target
from cupel_core.resources import connectors
from cupel_core.store.settings import settings


def target_error(workspace: str, target: Target, checks: ModelChecks) -> str | None:
    """Return why the target's model or connector cannot answer messages, or None if it can."""
    if target.connector_id is None:
        return checks.model_error(target.model)
    try:
        connector = connectors.get(workspace, target.connector_id)
    except NotFound as unknown:
        return unknown.detail
    if connector.type is ConnectorType.TOOLS:
        return "is a connector of type tools, which executes calls of functions and answers no messages"
    if target.params and connector.type is not ConnectorType.OPENAI:
        return f"is a connector of type {connector.type}, which takes no parameters"
    return None


def timeout_errors(seconds: float | None, field: str) -> Iterator[FieldError]:
    limit = settings().call_timeout_seconds
    if seconds is not None and seconds > limit:
        yield FieldError(field, f"must be at most {limit:g}, the stack's CallTimeoutSeconds")
