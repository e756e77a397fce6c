"""Derives the GraphQL types of the contract's models from docs/openapi.json, so that REST and GraphQL cannot differ.

`python -m tools.generate` writes them to shared/cupel_core/interfaces/graphql/types.graphql: the fields of Query and
Mutation that are derived from operations, every type that these and schema.graphql name and do not define, and the
types of their fields.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from graphql import DocumentNode, ObjectTypeExtensionNode, parse
from graphql.language import Visitor, visit

from tools.openapi_changes import resolve
from tools.refresh import graphql_operations

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "shared" / "cupel_core" / "interfaces" / "graphql"
HEADER = "# Written by `python -m tools.generate`, from docs/openapi.json."
_SCALARS = {"ID", "String", "Int", "Float", "Boolean"}
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_INPUTS = {"StartRunInput": "CreateRun"}
"""Models of inputs whose name is not `<model>Input`."""
_AS_JSON = {
    ("CreateDefinition", "content"),
    ("CreateSchedule", "evalRun"),
    ("CreateSchedule", "run"),
    ("Definition", "content"),
    ("ForkDefinition", "content"),
    ("Run", "config"),
    ("ScheduledEvalRun", "config"),
    ("ScheduledRun", "config"),
    ("UpdateDefinition", "content"),
    ("UpdateSchedule", "evalRun"),
    ("UpdateSchedule", "run"),
}
"""Objects that are read and written as a whole."""
_MAX_INT = 2**31 - 1
_LARGE = re.compile(r"token|seed|bytes|_ms$|Ms$", re.IGNORECASE)
"""Names of integers that may exceed the 32 bits of `Int` and become `Float`."""


def render() -> str:
    document = resolve(json.loads((ROOT / "docs" / "openapi.json").read_text()))
    types = _Types(document["components"]["schemas"], parse((FOLDER / "schema.graphql").read_text()))
    roots = graphql_operations.render(document, types)
    types.want(parse(roots))
    return "\n".join([HEADER, "", roots, types.render()])


class _Types:
    def __init__(self, schemas: dict[str, Any], declared: DocumentNode) -> None:
        self._schemas = schemas
        self._defined = _SCALARS | _defined_names(declared)
        self._extended = _extended_fields(declared)
        self._wanted: list[str] = []
        self._rendered: dict[str, str] = {}
        self.want(declared)

    def want(self, document: DocumentNode) -> None:
        self._wanted += [name for name in _named_types(document) if name not in self._defined]

    def render(self) -> str:
        while self._wanted:
            name = self._wanted.pop()
            if name not in self._rendered:
                self._rendered[name] = self._type(name)
        return "\n".join(self._rendered[name] for name in sorted(self._rendered))

    def model(self, name: str) -> dict[str, Any]:
        return dict(self._schemas[name])

    def _type(self, name: str) -> str:
        model, is_input = self._model(name)
        schema = self._schemas[model]
        if "enum" in schema:
            return f"{_description(schema)}enum {name} {{\n" + "".join(f"  {each}\n" for each in schema["enum"]) + "}\n"
        required = set(schema.get("required", ()))
        fields = []
        for field, described in schema["properties"].items():
            if (name, field) in self._extended:
                continue
            kind = self.kind(field, described, is_input=is_input, model=model)
            has_value = not _is_nullable(described) and (field in required or not is_input)
            fields.append(f"{_description(described, '  ')}  {field}: {kind}{'!' if has_value else ''}\n")
        keyword = "input" if is_input else "type"
        return f"{_description(schema)}{keyword} {name} {{\n{''.join(fields)}}}\n"

    def _model(self, name: str) -> tuple[str, bool]:
        if name in _INPUTS:
            return _INPUTS[name], True
        if name in self._schemas:
            return name, name.endswith("Input")
        without = name.removesuffix("Input")
        if name != without and without in self._schemas:
            return without, True
        raise KeyError(f"schema.graphql names {name}, which is no schema of docs/openapi.json")

    def kind(self, field: str, schema: dict[str, Any], *, is_input: bool, model: str = "") -> str:
        """Return the type of a field, of the named model if it has one; types that it needs are rendered later."""
        if (model, field) in _AS_JSON:
            return "JSON"
        choices = [each for each in _alternatives(schema) if each.get("type") != "null"]
        if len(choices) != 1:
            return "JSON"
        (schema,) = choices
        if "$ref" in schema:
            return self._reference(schema["$ref"].rpartition("/")[2], is_input=is_input)
        if "enum" in schema or "const" in schema:
            return "String"
        match schema.get("type"):
            case "array":
                item = schema.get("items", {})
                return f"[{self.kind(field, item, is_input=is_input)}{'' if _is_nullable(item) else '!'}]"
            case "string":
                return _text_kind(field, schema)
            case "integer":
                return "Float" if _LARGE.search(field) or schema.get("maximum", 0) > _MAX_INT else "Int"
            case "number":
                return "Float"
            case "boolean":
                return "Boolean"
        return "JSON"

    def _reference(self, model: str, *, is_input: bool) -> str:
        schema = self._schemas[model]
        if not is_input and model.endswith("Input"):  # This answer repeats an input.
            return "JSON"
        if "enum" in schema:
            if not all(_NAME.fullmatch(str(each)) for each in schema["enum"]):
                return "String"
            name = model
        elif "properties" not in schema:
            return "JSON"
        else:
            name = f"{model}Input" if is_input and not model.endswith("Input") else model
        if name not in self._defined:
            self._wanted.append(name)
        return name


def _extended_fields(declared: DocumentNode) -> set[tuple[str, str]]:
    """Return type and name of the fields that schema.graphql adds; they replace fields of the model with the same
    name."""
    extensions = [each for each in declared.definitions if isinstance(each, ObjectTypeExtensionNode)]
    return {(each.name.value, field.name.value) for each in extensions for field in each.fields}


def _text_kind(field: str, schema: dict[str, Any]) -> str:
    if schema.get("format") == "date-time":
        return "DateTime"
    return "ID" if field == "id" or field.endswith(("Id", "Ids")) else "String"


def _is_nullable(schema: dict[str, Any]) -> bool:
    return any(each.get("type") == "null" for each in _alternatives(schema))


def _alternatives(schema: dict[str, Any]) -> list[dict[str, Any]]:
    types = schema.get("type")
    if isinstance(types, list):
        return [{**schema, "type": each} for each in types]
    return schema.get("anyOf") or [schema]


def _description(schema: dict[str, Any], indent: str = "") -> str:
    text = schema.get("description")
    return f"{indent}{json.dumps(text, ensure_ascii=False)}\n" if text else ""


def _defined_names(document: DocumentNode) -> set[str]:
    return {
        each.name.value for each in document.definitions if each.kind.endswith("_definition") and hasattr(each, "name")
    }


def _named_types(document: DocumentNode) -> Iterator[str]:
    """Yield each type that the document names or extends once."""
    found: dict[str, None] = {}

    class _Collect(Visitor):
        def enter_named_type(self, node: Any, *_: Any) -> None:
            found[node.name.value] = None

    visit(document, _Collect())
    extended = (
        each.name.value for each in document.definitions if each.kind.endswith("_extension") and hasattr(each, "name")
    )
    yield from dict.fromkeys([*found, *extended])
