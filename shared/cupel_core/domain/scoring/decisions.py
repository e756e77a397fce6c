"""Reading the decision of a transcript with a pattern."""

import re
from collections.abc import Iterable

from cupel_core.domain.turns.model_request import Message, MessageRole

CODES = ("1", "2", "3", "4", "5")
OTHER = "other"
_MAX_SEARCHED_LENGTH = 20_000
"""Characters at the end of an answer that a pattern is applied to; bounds the cost of a user's expression."""
_MAX_EXCERPT_LENGTH = 280


def read_decision(pattern: str, messages: Iterable[Message]) -> tuple[str, str] | None:
    """Code and text from the last answer that matches the pattern; a first group other than `1`-`5` is `other`."""
    expression = re.compile(pattern)
    for answer in reversed([message.content for message in messages if message.role is MessageRole.ASSISTANT]):
        match = None
        for match in expression.finditer(answer[-_MAX_SEARCHED_LENGTH:]):  # noqa: B007 - the last match is the final decision
            pass
        if match:
            code = (match.group(1) or "").strip()
            return (code if code in CODES else OTHER), excerpt(answer)
    return None


def excerpt(answer: str) -> str:
    """The start of an answer on one line, cut at a word boundary."""
    line = " ".join(answer.split())
    if len(line) <= _MAX_EXCERPT_LENGTH:
        return line
    return line[:_MAX_EXCERPT_LENGTH].rsplit(" ", 1)[0] + " …"


def last_answer(messages: Iterable[Message]) -> str:
    """The last assistant message; empty if there is none."""
    answers = [message.content for message in messages if message.role is MessageRole.ASSISTANT]
    return answers[-1] if answers else ""
