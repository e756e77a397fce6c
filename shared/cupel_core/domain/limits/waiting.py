"""Bounds the requests that wait: each takes an execution environment, a process on one machine, until its response.

A request enters with the time until which it waits at most, so that one whose process died leaves by itself.
"""

from dataclasses import replace

from cupel_core.deferred import dataclass

RETRY_AFTER_SECONDS = 5
"""When a request that may not wait should be repeated."""


@dataclass(frozen=True)
class WaitingLimits:
    per_owner: int
    total: int


@dataclass(frozen=True)
class WaitingRequest:
    id: str
    owner: str
    until: float
    """Unix time."""


@dataclass(frozen=True)
class WaitingRequests:
    """Those of a workspace, whose owners are its tokens, or those of a stack, whose owners are workspaces."""

    requests: tuple[WaitingRequest, ...] = ()

    def __contains__(self, request_id: object) -> bool:
        return any(each.id == request_id for each in self.requests)

    def after_entry(self, request: WaitingRequest, limits: WaitingLimits, now: float) -> "WaitingRequests":
        """With the request if there is room for it, otherwise unchanged."""
        waiting = tuple(each for each in self.requests if each.until > now)
        own = sum(each.owner == request.owner for each in waiting)
        if own >= limits.per_owner or len(waiting) >= limits.total:
            return self
        return replace(self, requests=(*waiting, request))

    def after_exit(self, request_id: str) -> "WaitingRequests":
        return replace(self, requests=tuple(each for each in self.requests if each.id != request_id))
