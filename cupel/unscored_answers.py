from collections.abc import Iterator
from dataclasses import dataclass

from cupel.json_types import Json
from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.domain.scoring.unscored import UnscoredCode

type CauseFields = tuple[str, str | None, str | None]
"""The code of an unscored answer, its model, and the provider's code. A newer server may send an unknown code."""


@dataclass(frozen=True)
class ErrorReason:
    code: str
    count: int
    example: str

    @property
    def retry_helps(self) -> bool:
        """Return whether `cupel retry` may end otherwise; an unknown code may belong to a later release."""
        return self.code not in ProbeErrorCode or not ProbeErrorCode(self.code).is_repeated_by_retry


@dataclass(frozen=True)
class UnscoredReason:
    code: str
    model: str | None
    provider_code: str | None
    count: int
    example: str

    @property
    def name(self) -> str:
        provider_code = f" ({self.provider_code})" if self.provider_code else ""
        return f"{self.code}{provider_code}{f' of {self.model}' if self.model else ''}"

    @property
    def is_judges(self) -> bool:
        return self.code in UnscoredCode and UnscoredCode(self.code).is_judges

    @classmethod
    def read(cls, data: Json) -> "UnscoredReason":
        return cls(data["code"], data["model"], data["providerCode"], data["count"], data["example"] or "")


def is_unscored(transcript: Json) -> bool:
    return transcript.get("result") is None and any(_uncomputed(transcript))


def first_uncomputed(transcript: Json) -> Json:
    return next(_uncomputed(transcript))


def _uncomputed(transcript: Json) -> Iterator[Json]:
    results = (transcript.get("scoring") or {}).get("results") or ()
    return (each for each in results if each["passed"] is None and each["weight"] > 0)


def left_out_checks(transcript: Json) -> dict[str, int]:
    return {} if transcript.get("corrected") else (transcript.get("scoring") or {}).get("leftOutChecks") or {}


def reason_json(reason: UnscoredReason) -> Json:
    return {
        "code": reason.code,
        "model": reason.model,
        "providerCode": reason.provider_code,
        "count": reason.count,
        "example": reason.example,
    }


def cause_name(cause: Json) -> str:
    return UnscoredReason(*cause_fields(cause), 1, "").name


def cause_fields(cause: Json) -> CauseFields:
    return cause["code"], cause.get("model"), cause.get("providerCode")
