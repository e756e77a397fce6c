"""Who may do what: a workspace is the tenant, a role what its callers may do there."""

import re
from dataclasses import dataclass
from enum import StrEnum

_WORKSPACE = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")


class Role(StrEnum):
    ADMIN = "admin"
    MEMBER = "member"
    VIEWER = "viewer"

    @property
    def may_write(self) -> bool:
        return self is not Role.VIEWER


@dataclass(frozen=True)
class Caller:
    """Whoever a request comes from. `token_id` names the API token, or the subject of an identity provider."""

    workspace: str
    role: Role
    token_id: str


def is_workspace(name: str) -> bool:
    """Every storage key starts with the workspace and goes on with `#`, which is therefore not in its alphabet."""
    return _WORKSPACE.fullmatch(name) is not None
