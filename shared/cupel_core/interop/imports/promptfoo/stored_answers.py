"""Converts variables that promptfoo's `storeOutputAs` fills with answers of earlier tests.

The test that stores an answer and those that use it become separate turns of one scenario, in which a message has
`[answer 1]` in place of the variable. There, each target's own answer is used, in any order of the scenarios.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.conversations.separate_turns import placeholder
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.interop.imports.json_documents import from_json, to_json
from cupel_core.interop.imports.promptfoo.tests import PromptfooTest

OPTION = "storeOutputAs"
_MARK = "\ufdd2"
"""The mark around the name of a variable in place of its answer; no prompt contains this noncharacter."""


def marked(names: Iterable[str]) -> dict[str, str]:
    return {name: f"{_MARK}{name}{_MARK}" for name in names}


def uses_otherwise(test: PromptfooTest, prompt: str, names: Iterable[str]) -> str | None:
    """Return the first name that a template uses in another way than `{{name}}`, so that it cannot be rendered."""
    tags = re.findall(r"\{[{%].*?[}%]\}", test.templates(prompt))
    for name in names:
        word = re.compile(rf"\b{re.escape(name)}\b")
        if any(word.search(tag) and not re.fullmatch(rf"\{{\{{-?\s*{re.escape(name)}\s*-?\}}\}}", tag) for tag in tags):
            return name
    return None


def can_be_stored(test: PromptfooTest, messages: tuple[Message, ...]) -> bool:
    """Return whether later tests get this answer unchanged, and another message can follow its question."""
    options = test.data["options"]
    transforms = (test.provider_transform, options.get("transform"), options.get("postprocess"))
    is_plain = all(each is None for each in transforms)
    return is_plain and messages[-1].role is MessageRole.USER and not messages[-1].parts


def has_marks(assertion: Assertion) -> bool:
    return _MARK in to_json(assertion.to_json())


def with_placeholders(scenario: Scenario, turns: Mapping[str, int]) -> Scenario:
    marks = [(mark, placeholder(turns[name])) for name, mark in marked(turns).items()]

    def replaced(text: str) -> str:
        for mark, standing in marks:
            text = text.replace(mark, standing)
        return text

    messages = (
        replace(each, content=replaced(each.content)) if _MARK in each.content else each for each in scenario.messages
    )
    metadata: Any = from_json(replaced(to_json(scenario.metadata)), "metadata")
    return replace(scenario, messages=tuple(messages), metadata=metadata)
