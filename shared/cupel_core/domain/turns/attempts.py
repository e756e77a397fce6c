"""Attempts of a call that failed although they may have been billed. They travel with the conversation."""

from typing import Any, NamedTuple

from cupel_core.domain.turns.model_request import ProbeErrorCode


class FailedAttempts(NamedTuple):
    """Counts the failed attempts of one call that has no answer yet, and describes the last one."""

    number: int
    code: ProbeErrorCode
    message: str

    def to_json(self) -> list[Any]:
        return [self.number, self.code, self.message]

    @classmethod
    def from_json(cls, data: list[Any]) -> "FailedAttempts":
        number, code, message = data
        return cls(number, ProbeErrorCode(code), message)
