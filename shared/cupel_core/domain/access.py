"""Controls access: a workspace is the tenant, and a role defines what a caller may do in it."""

import re
from datetime import datetime, timedelta
from enum import StrEnum

from cupel_core.base.deferred import dataclass, replace

_WORKSPACE = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")


class AccessRole(StrEnum):
    ADMIN = "admin"
    MEMBER = "member"
    VIEWER = "viewer"
    OPERATOR = "operator"
    """It creates and erases workspaces, and may do nothing within one."""
    LABELLER = "labeller"
    """The role that reads the transcripts of label sets and labels them, and may do nothing else."""

    def includes(self, other: "AccessRole") -> bool:
        if not {self, other}.isdisjoint((AccessRole.OPERATOR, AccessRole.LABELLER)):
            return self is other
        ascending = (AccessRole.VIEWER, AccessRole.MEMBER, AccessRole.ADMIN)
        return ascending.index(self) >= ascending.index(other)


@dataclass(frozen=True)
class Caller:
    """`token_id` is the id of the API token, or the subject of an identity provider."""

    workspace: str
    role: AccessRole
    token_id: str
    user_name: str | None = None
    """None for an API token."""
    root_token_id: str | None = None
    """The id of the token that opened the caller's session of the web page; None outside of such a session."""

    @property
    def owner_id(self) -> str:
        """The id of the API token or user, which is the same in every session that it opened."""
        return self.root_token_id or self.token_id


def is_valid_workspace(name: str) -> bool:
    """Return whether the name is valid. It must not contain `#`, which follows the workspace in every storage key."""
    return _WORKSPACE.fullmatch(name) is not None


@dataclass(frozen=True)
class Workspace:
    name: str
    created_at: datetime | None = None
    erased_at: datetime | None = None
    erasure_completed_at: datetime | None = None

    @property
    def is_erased(self) -> bool:
        return self.erased_at is not None

    @property
    def is_being_erased(self) -> bool:
        return self.is_erased and self.erasure_completed_at is None


@dataclass(frozen=True)
class Token:
    id: str
    name: str
    role: AccessRole
    created_at: datetime
    revoked_at: datetime | None = None
    expires_at: datetime | None = None
    last_used_at: datetime | None = None
    """Accurate to USE_INTERVAL; None if the token was not used since uses are recorded."""


USE_INTERVAL = timedelta(hours=1)
"""A use is recorded at most this often, because a write per request would double the cost of authorization."""


@dataclass(frozen=True)
class SecretState:
    caller: Caller
    expires_at: datetime | None = None
    last_used_at: datetime | None = None
    root_digest: str | None = None
    """The digest of the token that opened the session, with which the session ends; None for other tokens."""

    def opened_by(self, root: Caller) -> "SecretState":
        return replace(self, caller=replace(self.caller, root_token_id=root.token_id))

    def is_expired(self, now: datetime) -> bool:
        return self.expires_at is not None and self.expires_at <= now

    def is_use_to_be_noted(self, now: datetime) -> bool:
        return self.last_used_at is None or now - self.last_used_at >= USE_INTERVAL


@dataclass(frozen=True)
class LoginCode:
    """Opens a session for a web page: a token of the same role, which ends with the token that opened it."""

    workspace: str
    role: AccessRole
    root_digest: str
    root_name: str
    expires_at: datetime
    session_ends_at: datetime

    def is_expired(self, now: datetime) -> bool:
        return self.expires_at <= now


@dataclass(frozen=True)
class AuditRecord:
    """Records a request that changed something, may have, or was refused because of its role."""

    request_id: str
    at: datetime
    caller: Caller
    operation: str
    path: str
    """Names what was changed or created, without its query string."""
    status: int
    created_ids: tuple[str, ...] | None = None
    deleted_ids: tuple[str, ...] | None = None
    """A bulk deletion lists its ids here, because its path names none."""
