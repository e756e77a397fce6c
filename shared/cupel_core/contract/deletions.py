"""Deletion of many things by one request: each is deleted, or not, for itself."""

from typing import Annotated

from pydantic import Field

from cupel_core.contract.common import RequestModel, ResponseModel, example

MAX_DELETED = 100


class _Ids(RequestModel):
    ids: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=200)]], Field(min_length=1, max_length=MAX_DELETED)
    ]
    """Ids to delete; a repeated one counts once."""


class DeleteRuns(_Ids):
    model_config = example({"ids": ["run_01k1f0aa", "run_01k1f0ab"]})


class DeleteDefinitions(_Ids):
    model_config = example({"ids": ["def_01k1f0aa", "def_01k1f0ab"]})


class DeleteProbeContents(_Ids):
    model_config = example({"ids": ["run_01k1f0aa-0", "run_01k1f0aa-7"]})


class DeletionProblemResponse(ResponseModel):
    status: int
    """The status that deleting it alone would be answered with."""
    title: str
    """The kind of problem."""
    detail: str
    """Reason why it was not deleted."""


class DeletionResponse(ResponseModel):
    id: str
    """The id, as it was sent."""
    deleted: bool
    """True if it was deleted. Example: true"""
    problem: DeletionProblemResponse | None
    """Null if it was deleted."""


class DeletionListResponse(ResponseModel):
    items: list[DeletionResponse]
    """One result for each id, in the order of the request."""
