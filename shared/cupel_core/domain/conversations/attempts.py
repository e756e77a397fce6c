"""Counts attempts of a call: failed ones that may have been billed, which are stored with the conversation, and the one
in flight."""

from typing import NamedTuple

from cupel_core.domain.conversations.model_request import ProbeErrorCode


class FailedAttempts(NamedTuple):
    """Counts the failed attempts of one call that has no answer yet, and describes the last one."""

    number: int
    code: ProbeErrorCode
    message: str


class AttemptInFlight(NamedTuple):
    attempt: int
    """The first attempt is 1."""
    max_attempts: int
    since: float
    """A Unix time."""
