"""Finds what the author of a scenario expects as its answer, as far as its assertions say so."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from cupel_core.domain.scoring.assertions import Assertion

_COMPARING = frozenset(
    {
        *("equals", "contains", "icontains", "contains-any", "icontains-any", "contains-all", "icontains-all"),
        *("starts-with", "exact-match", "match", "choice", "number-equals", "fuzzy-match", "json-match"),
        *("factuality", "similar", "levenshtein"),
    }
)
"""Types whose value is an answer, or a part of one; rubrics, code and patterns are not."""
_VARIABLE = re.compile(r"\{\{\s*([^{}|]+?)\s*\}\}")


def expected_answer(assertions: Iterable[Assertion], variables: Mapping[str, Any]) -> str | None:
    """Return what the answer is compared with, with the scenario's variables; None if it is compared with nothing."""
    found = (_text(each.value, variables) for each in assertions if each.kind in _COMPARING and not each.negated)
    return "; ".join(dict.fromkeys(text for text in found if text)) or None


def _text(value: Any, variables: Mapping[str, Any]) -> str:
    if isinstance(value, list):
        return ", ".join(_text(each, variables) for each in value)
    if isinstance(value, str):
        return _VARIABLE.sub(lambda match: str(variables.get(match[1], match[0])), value)
    return str(value) if isinstance(value, int | float) else ""
