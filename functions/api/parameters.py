"""Parameters that several operations have."""

from collections.abc import Callable, Sequence
from datetime import datetime
from enum import StrEnum
from time import monotonic
from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Header, Query

from cupel_core.base.errors import Invalid
from cupel_core.base.paging import MAX_LIMIT, Creation
from cupel_core.contract.fields import Moment

MAX_METADATA_ENTRIES = 5
"""Of metadata, by which runs are filtered."""


class CreationSort(StrEnum):
    OLDEST_FIRST = "createdAt"
    NEWEST_FIRST = "-createdAt"


def creation(after: datetime | None, before: datetime | None, sort: CreationSort) -> Creation:
    return Creation(after, before, sort is CreationSort.OLDEST_FIRST)


def metadata_entries(values: Sequence[str]) -> Sequence[str]:
    """The values of MetadataFilter, checked."""
    if len(values) > MAX_METADATA_ENTRIES:
        raise Invalid.field("metadata", f"must not be given more than {MAX_METADATA_ENTRIES} times")
    for value in values:
        key, equals, _ = value.partition("=")
        if not key or not equals:
            raise Invalid.field("metadata", "must be key=value, such as team=search")
    return values


MAX_TRANSCRIPTS = 500
_LIMIT = "Maximum number of items to return; a page may have fewer, even none, and still a `nextCursor`"
Limit = Annotated[int, Query(ge=1, le=MAX_LIMIT, description=_LIMIT)]
TranscriptLimit = Annotated[int, Query(ge=1, le=MAX_TRANSCRIPTS, description=f"{_LIMIT}: it ends before 5 MB")]
Cursor = Annotated[str | None, Query(max_length=1_024, description="`nextCursor` of the previous page")]
CreatedAfter = Annotated[
    Moment | None, Query(alias="createdAfter", description="Return only what was created then or later")
]
CreatedBefore = Annotated[
    Moment | None, Query(alias="createdBefore", description="Return only what was created earlier")
]
Sort = Annotated[CreationSort, Query(description="By creation time: `createdAt` ascending, `-createdAt` descending")]
ModelFilter = Annotated[
    str | None, Query(description="Return only items of the target with this id, or of the targets of this model")
]
PromptFilter = Annotated[
    str | None, Query(alias="promptId", description="Return only items of this prompt of the definition")
]
ProviderFilter = Annotated[str | None, Query(description="Return only items of this provider")]
DefinitionFilter = Annotated[
    str | None, Query(alias="definitionId", description="Return only items of this definition")
]
ExperimentFilter = Annotated[
    str | None, Query(alias="experimentId", description="Return only items of this experiment")
]
ScheduleFilter = Annotated[str | None, Query(alias="scheduleId", description="Return only runs of this schedule")]
TagFilter = Annotated[str | None, Query(min_length=1, max_length=100, description="Return only items with this tag")]
MetadataFilter = Annotated[
    Sequence[str],
    Query(
        description="Return only runs with this entry of metadata, as `key=value`; up to "
        f"{MAX_METADATA_ENTRIES} times, and all must match. Numbers and truth values match as they are written: "
        "`build=812`, `final=true`",
    ),
]
RunNameFilter = Annotated[
    str | None,
    Query(min_length=1, max_length=200, description="Return only runs whose name contains this text, ignoring case"),
]
EvalFilter = Annotated[str | None, Query(alias="evalId", description="Return only items of this eval")]
ScenarioFilter = Annotated[str | None, Query(alias="scenarioId", description="Return only items of this scenario")]
PersonaFilter = Annotated[str | None, Query(alias="personaId", description="Return only items of this persona")]
VersionFilter = Annotated[
    int | None,
    Query(alias="version", ge=1, lt=1_000_000, description="Version to return; defaults to the latest"),
]
IfMatch = Annotated[
    str | None,
    Header(
        alias="If-Match",
        min_length=1,
        max_length=1_000,
        description="`ETag` of the state that the change is based on; 412 if it is not the current one",
    ),
]


RescoreId = Annotated[
    str | None,
    Query(
        alias="rescoreId", min_length=1, max_length=64, description="Rescore to read; defaults to the run's own scoring"
    ),
]
_SECONDS_TO_COUNT = 12.0
"""Of the 29 of a request."""


def counting_time() -> Callable[[], bool]:
    """Whether this request may still count outcomes."""
    until = monotonic() + _SECONDS_TO_COUNT
    return lambda: monotonic() < until
