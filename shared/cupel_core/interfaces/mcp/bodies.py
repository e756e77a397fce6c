"""Bodies of the API's operations from the arguments of a tool."""

from collections.abc import Mapping
from typing import Any

from pydantic.alias_generators import to_camel

from cupel_core.interfaces.mcp.models import Arguments


def body_of(arguments: Arguments, without: tuple[str, ...] = ()) -> dict[str, Any]:
    """The arguments that were given, in camel case; null ones count as not given."""
    given = arguments.model_dump(exclude_unset=True, exclude_none=True, exclude=set(without))
    return in_camel_case(given)


def in_camel_case(values: Mapping[str, Any]) -> dict[str, Any]:
    """With its names in camel case; those that are already so stay."""
    return {to_camel(name) if "_" in name else name: value for name, value in values.items()}
