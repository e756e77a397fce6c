"""The name, tags and metadata of a run, in requests."""

from typing import Annotated, Self

import orjson
from pydantic import (
    AfterValidator,
    Field,
    PlainValidator,
    StringConstraints,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from cupel_core.contract.common import RequestModel, example
from cupel_core.contract.fields import SINGLE_LINE, Label, not_blank, not_null
from cupel_core.domain.runs.labels import LabelChanges, MetadataValue
from cupel_core.domain.text.json_limits import json_limit_error

MAX_TAGS = 20
MAX_METADATA = 50
MAX_VALUE_LENGTH = 500
MAX_METADATA_BYTES = 8_000
"""The metadata has at most this many bytes as JSON: a list of runs reads the labels of every run that it examines."""


def _bounded[V](metadata: dict[str, V]) -> dict[str, V]:
    if len(orjson.dumps(metadata)) > MAX_METADATA_BYTES:
        raise ValueError(f"must not take more than {MAX_METADATA_BYTES:,} bytes as JSON")
    return metadata


RunName = Annotated[
    str, StringConstraints(strict=True, min_length=1, max_length=200), AfterValidator(not_blank), SINGLE_LINE
]


def _metadata_value(value: object) -> MetadataValue:
    """One message instead of one for each type."""
    is_long = isinstance(value, str) and len(value) > MAX_VALUE_LENGTH
    if is_long or not isinstance(value, str | int | float):
        raise ValueError(f"must be a text of at most {MAX_VALUE_LENGTH} characters, a number, true or false")
    if why := json_limit_error(value):
        raise ValueError(why)
    return value


RunMetadataValue = Annotated[
    MetadataValue,
    PlainValidator(_metadata_value),
    WithJsonSchema(
        {"anyOf": [{"type": "string", "maxLength": MAX_VALUE_LENGTH}, {"type": "number"}, {"type": "boolean"}]}
    ),
]


Metadata = Annotated[dict[Label, RunMetadataValue], AfterValidator(_bounded), Field(max_length=MAX_METADATA)]


class LabelFields(RequestModel):
    """Labels for people; without effect on the run."""

    name: RunName | None = None
    """Need not be unique."""
    tags: Annotated[list[Label] | None, Field(max_length=MAX_TAGS)] = None
    """Words to find runs by, without an order."""
    metadata: Metadata | None = None
    """Your own data about the run, such as a commit."""

    def labels(self) -> LabelChanges:
        """A null `name` is an empty one: it removes the name that there may be."""
        name = self.name or "" if "name" in self.model_fields_set else None
        return LabelChanges(name, None if self.tags is None else tuple(self.tags), self.metadata)


class UpdateRun(LabelFields):
    """Omitted fields keep their value; `tags` and `metadata` replace all of them, and a null `name` removes it."""

    model_config = example({"name": "Release candidate 2", "tags": ["release", "nightly"], "metadata": {"build": 812}})

    @model_validator(mode="after")
    def _has_a_change(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("must have at least one field to change")
        return self

    _required_fields = field_validator("tags", "metadata")(not_null)
