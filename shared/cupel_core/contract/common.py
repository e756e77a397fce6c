"""What request and response models have in common: camelCase names; requests refuse unknown fields."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, PlainSerializer, WithJsonSchema
from pydantic.alias_generators import to_camel

from cupel_core.clock import to_iso


class RequestModel(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", frozen=True, defer_build=True)


class ResponseModel(BaseModel):
    """A class `RunResponse` is published as the schema `Run`."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, defer_build=True)


Time = Annotated[
    datetime,
    PlainSerializer(to_iso, when_used="json"),
    WithJsonSchema({"type": "string", "format": "date-time"}, mode="serialization"),
]
"""Serialized as ISO 8601 in UTC with milliseconds."""


def example(body: Mapping[str, Any]) -> ConfigDict:
    """The configuration of a request model, with this body as its example in the OpenAPI document."""
    return ConfigDict(json_schema_extra={"examples": [dict(body)]})
