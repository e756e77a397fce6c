"""Workspaces that an operator creates, with a first admin token."""

from datetime import datetime

from cupel_core.access import tokens
from cupel_core.access.tokens import IssuedToken
from cupel_core.domain.access import AccessRole
from cupel_core.errors import Conflict
from cupel_core.store import audit_log, definitions, runs
from cupel_core.store.tokens import get_workspace_created_at


def create(workspace: str, now: datetime) -> IssuedToken:
    """Create a workspace with its first admin token.

    Conflict if anyone has used it before: an operator must not get access to what others have stored.
    """
    if _is_used(workspace, now):
        raise Conflict(f"the workspace {workspace} exists")
    return tokens.issue(workspace, AccessRole.ADMIN, "first admin", now, of_new_workspace=True)


def get_created_at(workspace: str) -> datetime:
    """When an operator created the workspace. NotFound if none has."""
    return get_workspace_created_at(workspace)


def _is_used(workspace: str, now: datetime) -> bool:
    """Whether it has tokens, or JWTs were used in it: these leave definitions, runs, or records of changes."""
    return bool(
        tokens.list_tokens(workspace, limit=1).items
        or definitions.list_definitions(workspace, folder=None, search=None, tag=None, limit=1, cursor=None).items
        or runs.list_runs(workspace, limit=1, cursor=None).items
        or audit_log.list_records(workspace, 1, None, now, None, None).items
    )
