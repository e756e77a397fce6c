"""Accepts variables that are declared as `String` where an id or an enum is expected, as clients of earlier systems do.

Such a variable gets the type that its place expects, so that its value is checked like any other.
"""

from typing import Any

from graphql import (
    DocumentNode,
    GraphQLEnumType,
    GraphQLSchema,
    NamedTypeNode,
    OperationDefinitionNode,
    TypeInfo,
    TypeInfoVisitor,
    TypeNode,
    VariableDefinitionNode,
    VariableNode,
    Visitor,
    get_named_type,
    separate_operations,
    visit,
)


def declare_expected_types(schema: GraphQLSchema, document: DocumentNode) -> None:
    """Change the declarations in `document`. A variable that is also used as a text keeps its type."""
    operations = [each for each in document.definitions if isinstance(each, OperationDefinitionNode)]
    if not any(map(_texts, operations)):
        return
    alone = separate_operations(document)
    for operation in operations:
        _declare(schema, alone[operation.name.value if operation.name else ""], _texts(operation))


def _declare(schema: GraphQLSchema, document: DocumentNode, texts: dict[str, VariableDefinitionNode]) -> None:
    usages = _Usages(TypeInfo(schema))
    visit(document, TypeInfoVisitor(usages.type_info, usages))
    for name, declared in texts.items():
        kinds = usages.types.get(name, set())
        named = [kind.name for kind in kinds if isinstance(kind, GraphQLEnumType) or (kind and kind.name == "ID")]
        if len(kinds) == len(named) == 1:
            _innermost(declared.type).name.value = named[0]


def _texts(operation: OperationDefinitionNode) -> dict[str, VariableDefinitionNode]:
    declared = operation.variable_definitions or ()
    return {each.variable.name.value: each for each in declared if _innermost(each.type).name.value == "String"}


def _innermost(declared: TypeNode) -> NamedTypeNode:
    while not isinstance(declared, NamedTypeNode):
        declared = declared.type  # type: ignore[attr-defined]
    return declared


class _Usages(Visitor):
    def __init__(self, type_info: TypeInfo) -> None:
        super().__init__()
        self.type_info = type_info
        self.types: dict[str, set[Any]] = {}

    def enter_variable_definition(self, *_: Any) -> Any:
        return self.SKIP

    def enter_variable(self, node: VariableNode, *_: Any) -> None:
        self.types.setdefault(node.name.value, set()).add(get_named_type(self.type_info.get_input_type()))
