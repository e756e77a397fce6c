"""Attempts of a call: those that failed although they may have been billed, which travel with the conversation, and the
one in flight."""

from typing import NamedTuple

from cupel_core.domain.conversations.model_request import ProbeErrorCode


class FailedAttempts(NamedTuple):
    """Counts the failed attempts of one call that has no answer yet, and describes the last one."""

    number: int
    code: ProbeErrorCode
    message: str


class AttemptInFlight(NamedTuple):
    """One attempt of a call in flight."""

    attempt: int
    """Its number; the first is 1."""
    max_attempts: int
    since: float
    """Unix time."""
