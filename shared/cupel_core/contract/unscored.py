"""Causes of checks without a result: the cause of one, and the causes of many, counted."""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Annotated

from pydantic import Field

from cupel_core.contract.common import ResponseModel, read_from
from cupel_core.domain.analysis.column_totals import MAX_CAUSES, CauseCount
from cupel_core.domain.scoring.unscored import UnscoredCode

_NO_MESSAGES: Mapping[int, str] = {}


class UnscoredCauseResponse(ResponseModel):
    """The cause of a missing result."""

    code: UnscoredCode
    """What kept the check from a result, such as `judge_reply`. Example: judge_failed"""
    model: str | None
    """The judge or embedding model; null if none was to be called. Example: openai/gpt-6.1-terra"""
    provider_code: str | None
    """The error code of the failed call, of `judge_failed`. Example: auth"""


class UnscoredReasonResponse(ResponseModel):
    """A cause of completed probes that were not scored."""

    code: Annotated[UnscoredCode, read_from("cause.code")]
    """What kept the check from a result, such as `judge_reply`: the judge gave no usable reply.

    Example: judge_failed
    """
    model: Annotated[str | None, read_from("cause.model")]
    """The judge or embedding model; null if the cause is no call of a model. Example: openai/gpt-6.1-terra"""
    provider_code: Annotated[str | None, read_from("cause.provider_code")]
    """The error code of the failed call; only of `judge_failed`. Example: auth"""
    count: int
    """Completed probes that were not scored for this reason. Example: 3"""
    probe_index: int
    """The index of the first of them."""
    example: Annotated[str | None, read_from("message")]
    """The error of its check; null if it was deleted, or is not among those that are read.

    Example: the judge openai/gpt-6.1-terra: auth: Incorrect API key provided
    """

    @classmethod
    def list_of(
        cls, causes: Iterable[CauseCount], messages: Mapping[int, str] = _NO_MESSAGES
    ) -> "list[UnscoredReasonResponse]":
        """The most frequent ones; `messages` are by the index of the probe that is the example."""
        return [
            cls.from_value(
                each, count=each.probes, probe_index=each.first_index, example=messages.get(each.first_index)
            )
            for each in islice(causes, MAX_CAUSES)
        ]


UnscoredReasons = Annotated[
    list[UnscoredReasonResponse],
    Field(
        description=f"Why completed probes were not scored, the most frequent first, at most {MAX_CAUSES}; each probe "
        "counts for one reason",
    ),
]
