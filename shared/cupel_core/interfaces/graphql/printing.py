"""Prints the schema type by type, because the whole is longer than a model can read."""

from functools import cache

from graphql import TypeDefinitionNode, parse, print_ast

from cupel_core.interfaces.graphql.schema import printed


@cache
def printed_types() -> dict[str, str]:
    definitions = parse(printed(), no_location=True).definitions
    return {each.name.value: print_ast(each) + "\n" for each in definitions if isinstance(each, TypeDefinitionNode)}
