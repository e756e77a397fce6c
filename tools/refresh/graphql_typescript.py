from collections.abc import Iterator

from graphql import (
    GraphQLEnumType,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLList,
    GraphQLNamedType,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLSchema,
)
from graphql.pyutils import Undefined

HEADER = """\
// Written by `python -m tools.generate`, from the schema of /v1/graphql. An answer has the fields that a query
// has: `Pick<Run, "id" | "status">` for `{ run(id: "…") { id status } }`.
"""
_SCALARS = {
    "ID": "string",
    "String": "string",
    "DateTime": "string",
    "Int": "number",
    "Float": "number",
    "Boolean": "boolean",
    "JSON": "unknown",
}


def render(schema: GraphQLSchema) -> str:
    declared = (_declaration(each) for name, each in sorted(schema.type_map.items()) if not name.startswith("__"))
    return "\n".join([HEADER, *filter(None, declared)])


def _declaration(kind: GraphQLNamedType) -> str | None:
    if isinstance(kind, GraphQLEnumType):
        values = " | ".join(f'"{each}"' for each in kind.values)
        return f"{_comment(kind.description)}export type {kind.name} = {values};\n"
    if isinstance(kind, (GraphQLObjectType, GraphQLInputObjectType)):
        fields = "".join(_fields(kind))
        return f"{_comment(kind.description)}export interface {kind.name} {{\n{fields}}}\n"
    return None


def _fields(kind: GraphQLObjectType | GraphQLInputObjectType) -> Iterator[str]:
    for name, field in kind.fields.items():
        mark = "?" if isinstance(field, GraphQLInputField) and _may_be_omitted(field) else ""
        yield f"{_comment(field.description, '  ')}  {name}{mark}: {_type(field.type)};\n"


def _may_be_omitted(field: GraphQLInputField) -> bool:
    return not isinstance(field.type, GraphQLNonNull) or field.default_value is not Undefined


def _type(kind: object) -> str:
    return _required(kind.of_type) if isinstance(kind, GraphQLNonNull) else f"{_required(kind)} | null"


def _required(kind: object) -> str:
    if isinstance(kind, GraphQLList):
        item = _type(kind.of_type)
        return f"({item})[]" if " " in item else f"{item}[]"
    name = kind.name if isinstance(kind, GraphQLNamedType) else "unknown"
    return _SCALARS.get(name, name)


def _comment(text: str | None, indent: str = "") -> str:
    return f"{indent}/** {text.replace('*/', '* /')} */\n" if text else ""
