"""Examples of fields and schemas, for the OpenAPI document and the pages that show it.

A field's example is, in this order: the one in the example of its request (`json_schema_extra` of the model), that of
its docstring, that of the schema it refers to, that of `CommonFields`. A schema's example consists of its fields'
examples.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

from pydantic import BaseModel
from pydantic.alias_generators import to_camel

from cupel_core.contract.common import RequestModel, ResponseModel
from cupel_core.contract.common_fields import CommonFields
from cupel_core.contract.field_docs import FieldDoc, docs_of
from cupel_core.interfaces.routes import load_all
from cupel_core.interfaces.schema_sharing import schema_name

ABSENT = frozenset(
    {
        "attempts",
        "disabledReason",
        "erasedAt",
        "erasureCompletedAt",
        "error",
        "evaluatorNote",
        "exhaustedBudget",
        "failure",
        "pauseCause",
        "pauseReason",
        "stopReason",
        "problem",
        "revokedAt",
        "shortage",
        "summaryCause",
        "summaryError",
        "suspendedModels",
        "suspendedUntil",
        "text",
        "throttledUntil",
        "unusableReply",
    }
)
"""Fields that are null or empty in the example of a schema, where they would contradict the others."""

_ENUMS = {
    "AccessRole": "member",
    "CallbackStatus": "DELIVERED",
    "ComparisonVerdict": "HIGHER",
    "ExperimentStatus": "RUNNING",
    "EffectSize": "medium",
    "JobStatus": "COMPLETED",
    "GenerationStatus": "COMPLETED",
    "MessageRole": "assistant",
    "Priority": "NORMAL",
    "ProbeStatus": "COMPLETED",
    "RescoreStatus": "COMPLETED",
    "RunStatus": "COMPLETED",
}
"""Of the other enumerations, the first value is the example."""
_EVIDENT_TYPES = {"integer", "number", "boolean", "null"}


class SchemaExamples:
    def __init__(self, schemas: dict[str, Any]):
        self._schemas = schemas

    def of_field(self, schema: str, field: str) -> Any:
        for example in self._schemas[schema].get("examples", ()):
            if field in example:
                return example[field]
        if (example := self._own(schema, field)) is not None:
            return example
        if own := self._schemas[schema]["properties"][field].get("examples"):
            return own[-1]
        made = self._made(schema, field)
        return _common_example(field) if made is None else made

    def is_evident(self, schema: str, field: str) -> bool:
        """Return whether every value of the field is a number, a truth value or a time, which need no example."""
        described = self._schemas[schema]["properties"][field]
        choices = described.get("anyOf", [described])
        is_time = any(each.get("format") == "date-time" for each in choices)
        types = {kind for choice in choices for kind in _types(choice)}
        return types <= _EVIDENT_TYPES | ({"string"} if is_time else set())

    def is_repeated(self, schema: str, field: str) -> bool:
        """Return whether the field's example is part of its schema's, or is that of a schema it refers to."""
        if any(field in example for example in self._schemas[schema].get("examples", ())):
            return True
        made = self._made(schema, field)
        own = self._own(schema, field)
        return made is not None and (own is None or own == made)

    def _own(self, schema: str, field: str) -> Any:
        doc = documented_fields().get((schema, field))
        return doc and doc.example

    def _made(self, schema: str, field: str) -> Any:
        """Return the example that a schema makes to which the field refers; None if it refers to none."""
        described = self._schemas[schema]["properties"][field]
        for choice in (described, *described.get("anyOf", ())):
            if "$ref" in choice:
                return self.of_schema(_name(choice))
            if "$ref" in choice.get("items", ()):
                return [self.of_schema(_name(choice["items"]))]
        return None

    def absent(self, schema: str, field: str) -> list[Any]:
        """Return the null or the empty list that a field has in an example of its schema; nothing for most fields."""
        described = self._schemas[schema]["properties"][field]
        if field in ABSENT and described.get("type") == "array":
            return [[]]
        is_nullable = any("null" in _types(choice) for choice in (described, *described.get("anyOf", ())))
        return [None] if field in ABSENT and is_nullable else []

    def of_schema(self, name: str) -> Any:
        """Return the example of a schema: one of its own, or what the examples of its fields make."""
        schema = self._schemas[name]
        if choices := schema.get("enum"):
            return _ENUMS.get(name, choices[0])
        if examples := schema.get("examples"):
            return examples[0]
        return dict(self._fields_of(name))

    def _fields_of(self, name: str) -> Iterator[tuple[str, Any]]:
        for field in self._schemas[name]["properties"]:
            absent = self.absent(name, field)
            yield field, absent[0] if absent else self.of_field(name, field)


def models() -> list[type[BaseModel]]:
    load_all()
    return [*_subclasses(RequestModel), *_subclasses(ResponseModel)]


@cache
def documented_fields() -> dict[tuple[str, str], FieldDoc]:
    return {
        (schema_name(model.__name__), field.serialization_alias or name): doc
        for model in models()
        for name, doc in docs_of(model).items()
        if (field := model.model_fields.get(name)) is not None
    }


@cache
def common_fields() -> dict[str, FieldDoc]:
    return {to_camel(name): doc for name, doc in docs_of(CommonFields).items()}


def _common_example(field: str) -> Any:
    doc = common_fields().get(field)
    return doc and doc.example


def _subclasses(model: type[Any]) -> Iterator[type[Any]]:
    for each in model.__subclasses__():
        yield each
        yield from _subclasses(each)


def _types(schema: dict[str, Any]) -> list[str]:
    """Return the types that a schema names; a reference has none, and is a type of its own."""
    types = schema.get("type", "")
    return types if isinstance(types, list) else [types]


def _name(reference: dict[str, Any]) -> str:
    name: str = reference["$ref"].rpartition("/")[2]
    return name
