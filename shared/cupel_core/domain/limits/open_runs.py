"""Limits how many runs may be open at the same time, that is, have not ended; paused ones count."""

from cupel_core.base.deferred import dataclass

DEFAULT_PER_OWNER = 50
DEFAULT_IN_ALL = 200


@dataclass(frozen=True)
class OpenRunLimits:
    per_owner: int | None = None
    """Limits the runs of one token, user or schedule."""
    in_all: int | None = None

    @property
    def owner_limit(self) -> int:
        return self.per_owner or DEFAULT_PER_OWNER

    @property
    def workspace_limit(self) -> int:
        return self.in_all or DEFAULT_IN_ALL
