"""Parameters that several operations have, in the query or in a header of a request."""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, get_args

from cupel_core.base.errors import Invalid
from cupel_core.base.paging import MAX_LIMIT, Creation
from cupel_core.contract.fields import Moment


class Parameter:
    """It annotates an argument of an operation that is no part of the path or the body.

    Its name in a request is the argument's in camel case, unless `name` is another one.
    """

    def __init__(
        self,
        description: str | None = None,
        *,
        name: str | None = None,
        is_header: bool = False,
        is_split: bool = True,
        **constraints: Any,
    ) -> None:
        self.description = description
        self.name = name
        self.is_header = is_header
        self.is_split = is_split
        """If true, a value with commas counts as several values."""
        self.constraints = constraints
        """They limit the value, as the arguments of pydantic's Field do."""


def parameter_of(annotation: Any) -> Parameter | None:
    """Return what an argument's annotation says of it; None for a part of the path, and for the body."""
    return next((note for note in get_args(annotation)[1:] if isinstance(note, Parameter)), None)


MAX_METADATA_ENTRIES = 5
"""Runs are filtered by at most this many entries of their metadata."""


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
Limit = Annotated[int, Parameter(ge=1, le=MAX_LIMIT, description=_LIMIT)]
TranscriptLimit = Annotated[int, Parameter(ge=1, le=MAX_TRANSCRIPTS, description=f"{_LIMIT}: it ends before 5 MB")]
Cursor = Annotated[str | None, Parameter(max_length=1_024, description="`nextCursor` of the previous page")]
CreatedAfter = Annotated[Moment | None, Parameter(description="Return only what was created then or later")]
CreatedBefore = Annotated[Moment | None, Parameter(description="Return only what was created earlier")]
Sort = Annotated[
    CreationSort, Parameter(description="By creation time: `createdAt` ascending, `-createdAt` descending")
]
ModelFilter = Annotated[
    str | None, Parameter(description="Return only items of the target with this id, or of the targets of this model")
]
PromptFilter = Annotated[str | None, Parameter(description="Return only items of this prompt of the definition")]
ProviderFilter = Annotated[str | None, Parameter(description="Return only items of this provider")]
DefinitionFilter = Annotated[str | None, Parameter(description="Return only items of this definition")]
ExperimentFilter = Annotated[str | None, Parameter(description="Return only items of this experiment")]
ScheduleFilter = Annotated[str | None, Parameter(description="Return only runs of this schedule")]
TagFilter = Annotated[
    str | None, Parameter(min_length=1, max_length=100, description="Return only items with this tag")
]
MetadataFilter = Annotated[
    Sequence[str],
    Parameter(
        is_split=False,
        description="Return only runs with this entry of metadata, as `key=value`; up to "
        f"{MAX_METADATA_ENTRIES} times, and all must match. Numbers and truth values match as they are written: "
        "`build=812`, `final=true`",
    ),
]
RunNameFilter = Annotated[
    str | None,
    Parameter(
        min_length=1, max_length=200, description="Return only runs whose name contains this text, ignoring case"
    ),
]
EvalFilter = Annotated[str | None, Parameter(description="Return only items of this eval")]
ScenarioFilter = Annotated[str | None, Parameter(description="Return only items of this scenario")]
PersonaFilter = Annotated[str | None, Parameter(description="Return only items of this persona")]
VersionFilter = Annotated[
    int | None,
    Parameter(ge=1, lt=1_000_000, description="Version to return; defaults to the latest"),
]
RescoreId = Annotated[
    str | None,
    Parameter(min_length=1, max_length=64, description="Rescore to read; defaults to the run's own scoring"),
]
