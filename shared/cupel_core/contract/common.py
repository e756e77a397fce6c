"""What requests and answers have in common: camelCase names, and requests that refuse what they do not know."""

from datetime import datetime
from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Query
from pydantic import BaseModel, ConfigDict, PlainSerializer
from pydantic.alias_generators import to_camel

from cupel_core.clock import to_iso
from cupel_core.paging import DEFAULT_LIMIT, MAX_LIMIT


class Request(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", frozen=True, defer_build=True)


class Answer(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, defer_build=True)


Time = Annotated[datetime, PlainSerializer(to_iso, when_used="json")]
"""Written as ISO 8601 in UTC, whatever it was read from."""

Limit = Annotated[int, Query(ge=1, le=MAX_LIMIT, description=f"How many items, {DEFAULT_LIMIT} unless told")]
Cursor = Annotated[str | None, Query(max_length=1_024, description="The nextCursor of the answer before")]
