"""Reduces a scenario to the texts of a row in a result table: its input, its expected answer and its variables."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import field
from itertools import chain, islice
from typing import Any

from cupel_core.base.deferred import dataclass
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.text.beginnings import beginning

MAX_CHARACTERS = 280
"""An input or expectation has at most this many characters, to fit into a cell of a table."""
MAX_VALUE_CHARACTERS = 120
MAX_VALUES = 20
"""A case has at most this many variables, dimensions and metadata fields."""

_REFERENCES = (
    *("equals", "choice", "match", "exact-match", "number-equals", "fuzzy-match", "json-match", "levenshtein"),
    *("rouge-n", "bleu", "gleu", "factuality", "similar", "text-similarity", "embedding-similarity"),
)
"""Assertions whose value is an answer that would be right."""


@dataclass(frozen=True)
class CaseTexts:
    input: str | None = None
    """The first message of the user, or the goal of the simulated user; None if the run's snapshot is gone."""
    expected: str | None = None
    """The reference answer, the criterion of success, or the checks of this scenario."""
    values: Mapping[str, str] = field(default_factory=dict)
    """The variables, the scores of dimensions and the metadata, as texts."""

    @classmethod
    def of_json(cls, scenario: Mapping[str, Any]) -> "CaseTexts":
        metadata = scenario.get("metadata") or {}
        variables = metadata.get("vars")
        named = chain(
            variables.items() if isinstance(variables, Mapping) else (),
            (scenario.get("dimensions") or {}).items(),
            ((name, value) for name, value in metadata.items() if name != "vars"),
        )
        values = {name: beginning(_text(value), MAX_VALUE_CHARACTERS) for name, value in islice(named, MAX_VALUES)}
        expected = _expected(scenario)
        return cls(
            beginning(_input(scenario), MAX_CHARACTERS),
            None if expected is None else beginning(expected, MAX_CHARACTERS),
            values,
        )


def _input(scenario: Mapping[str, Any]) -> str:
    by_prompt = scenario.get("messagesByPrompt") or {}
    for each in chain(scenario["messages"], *by_prompt.values()):
        message = Message.from_json(each)
        if message.role is MessageRole.USER:
            return message.text
    return str(scenario.get("instructions") or "")


def _expected(scenario: Mapping[str, Any]) -> str | None:
    if criterion := scenario.get("successCriteria"):
        return str(criterion)
    assertions = scenario.get("assertions") or ()
    for each in assertions:
        if each.get("type") in _REFERENCES and each.get("value") is not None:
            return _text(each["value"])
    return "; ".join(islice(_checks(assertions), MAX_VALUES)) or None


def _checks(assertions: Any) -> Iterator[str]:
    for each in assertions:
        value = each.get("value")
        yield str(each.get("type")) if value is None else f"{each.get('type')}: {_text(value)}"


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
