"""JMESPath, the expression language that maps an agent's own JSON.

An expression that only selects is computed here. Any other may cost far more than its length and the JSON suggest: each
stage of `{a: @, b: @} | {a: @, b: @} | …` doubles the input of the next one. It is computed in a sandbox.
"""

import json
from collections.abc import Mapping
from math import inf
from typing import Any, NamedTuple

import jmespath
from jmespath.exceptions import JMESPathError

from cupel_core import sandbox

MAX_EXPRESSION_LENGTH = 2000
MAX_WORK = 500_000
"""The limit of expressions computed here: characters of JSON times the parts of it that they select."""
_TASK = "cupel_core.providers.connectors.expressions:select"
_SELECTING = frozenset({"field", "subexpression", "identity", "current", "index", "index_expression", "literal"})
_BUILDING = frozenset({"multi_select_dict", "multi_select_list", "key_val_pair"})


class Selected(NamedTuple):
    """The value that an expression selects. `error` says why it cannot be applied, such as an unknown function."""

    value: Any = None
    error: str | None = None


def expression_error(expression: str) -> str | None:
    """Return why an expression is invalid, whatever it is applied to, or None if it is valid."""
    if len(expression) > MAX_EXPRESSION_LENGTH:
        return f"must be at most {MAX_EXPRESSION_LENGTH} characters"
    try:
        jmespath.compile(expression)
    except JMESPathError as error:
        return f"is not a valid JMESPath expression: {_first_line(error)}"
    except RecursionError:
        return "is nested too deeply"
    return None


async def evaluate_expressions(expressions: Mapping[str, str], value: object, size: int) -> dict[str, Selected]:
    """Return the values that the named expressions select from a value whose JSON has this size. Raise
    sandbox.ExpressionError when they exceed the limits."""
    if size * sum(map(_parts, expressions.values())) <= MAX_WORK:
        selected = select(expressions, value)
    else:
        selected = await sandbox.run(_TASK, dict(expressions), value)
    return {name: Selected(*result) for name, result in selected.items()}


def select(expressions: Mapping[str, str], value: object) -> dict[str, tuple[Any, str | None]]:
    """Return value and error by name. The sandbox runs this."""
    return {name: tuple(_select(expression, value)) for name, expression in expressions.items()}


def _select(expression: str, value: object) -> Selected:
    try:
        found = jmespath.search(expression, value)
        json.dumps(found, allow_nan=False)
    except JMESPathError as error:
        return Selected(error=_first_line(error))
    except (TypeError, ValueError):  # Results such as those of `&a` and `1e308 + 1e308` are no JSON.
        return Selected(error="its result is no JSON")
    return Selected(found)


def _parts(expression: str) -> float:
    """Return how many parts of its input an expression selects. It is infinite for any that does more than select."""
    return _count(jmespath.compile(expression).parsed, may_build=True)


def _count(node: Mapping[str, Any], *, may_build: bool) -> float:
    if node["type"] in _SELECTING:
        return inf if any(_count(child, may_build=False) == inf for child in node["children"]) else 1
    if may_build and node["type"] in _BUILDING:
        return sum(_count(child, may_build=True) for child in node["children"])
    return inf


def _first_line(error: JMESPathError) -> str:
    """Return the first line of the error. The others repeat the expression."""
    text = str(error).removeprefix("Invalid jmespath expression: ")
    return text.partition("\n")[0].partition(", for expression")[0].rstrip(":")
