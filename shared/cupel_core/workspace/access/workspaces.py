from collections.abc import Iterable
from datetime import datetime

from cupel_core.base.errors import Conflict, Invalid, NotFound
from cupel_core.base.paging import Page
from cupel_core.domain.access import AccessRole, Caller, Workspace
from cupel_core.store import audit_log, definitions, providers, resources, workspaces
from cupel_core.store.resources import ResourceKind
from cupel_core.workspace.access import tokens
from cupel_core.workspace.access.tokens import IssuedToken


def create(workspace: str, now: datetime) -> IssuedToken:
    """Create a workspace with its first admin token. Raise Conflict if it was used before: an operator must not get
    access to existing content."""
    known = workspaces.find(workspace)
    if known is not None and known.is_being_erased:
        raise Conflict(f"the workspace {workspace} is being erased")
    if _is_used(workspace, now):
        raise Conflict(f"the workspace {workspace} exists")
    return tokens.issue(workspace, AccessRole.ADMIN, "first admin", now, of_new_workspace=True)


def get(workspace: str) -> Workspace:
    """Return a workspace. Raise NotFound if no operator has created or erased it."""
    known = workspaces.find(workspace)
    if known is None:
        raise NotFound(f"no operator has created a workspace {workspace}")
    return known


def list_workspaces(limit: int, cursor: str | None) -> Page[Workspace]:
    """List the workspaces that operators have created or erased, by name."""
    return workspaces.list_workspaces(limit, cursor)


def check_erasure(workspace: str, confirmed_name: str, caller: Caller, now: datetime) -> None:
    """Raise an error unless the erasure is confirmed and does not erase the caller's own token."""
    if confirmed_name != workspace:
        raise Invalid.field("confirm", f"must be the name of the workspace, {workspace}")
    if caller.workspace == workspace:
        raise Conflict("your own token belongs to this workspace: erase it with an operator's token of another one")
    known = workspaces.find(workspace)
    if (known is None or known.erasure_completed_at is not None) and not _is_used(workspace, now):
        raise NotFound(f"there is no workspace {workspace}")


def _is_used(workspace: str, now: datetime) -> bool:
    """Return whether the workspace has tokens, or JWTs were used in it. Uses of JWTs leave records of changes for a
    year, and the definitions that they created. Runs and schedules belong to definitions, which are listed even if they
    were deleted."""
    found: tuple[Iterable[object], ...] = (
        tokens.list_tokens(workspace, limit=1).items,
        definitions.list_ids(workspace),
        *(resources.list_ids(workspace, kind) for kind in ResourceKind),
        providers.list_providers(workspace),
        audit_log.list_records(workspace, 1, None, now, None, None).items,
    )
    return any(True for each in found for _ in each)
