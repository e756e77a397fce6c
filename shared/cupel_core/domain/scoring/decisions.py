"""The decision of a transcript where a pattern can read it."""

import re
from collections.abc import Iterable

from cupel_core.domain.turns.model_request import Message, Role

CODES = ("1", "2", "3", "4", "5")
OTHER = "other"
_SEEN = 20_000
"""Characters of an answer that a pattern sees, from its end: what a user's expression may cost is bounded."""
_SHOWN = 280


def read_decision(pattern: str, messages: Iterable[Message]) -> tuple[str, str] | None:
    """Code and text of the last answer in which the pattern is found; a first group that is not `1`-`5` is `other`."""
    expression = re.compile(pattern)
    for answer in reversed([message.content for message in messages if message.role is Role.ASSISTANT]):
        found = None
        for found in expression.finditer(answer[-_SEEN:]):  # noqa: B007 - the last match is the answer's last word
            pass
        if found:
            code = (found.group(1) or "").strip()
            return (code if code in CODES else OTHER), excerpt(answer)
    return None


def excerpt(answer: str) -> str:
    """The beginning of an answer in one line, cut at a word."""
    line = " ".join(answer.split())
    if len(line) <= _SHOWN:
        return line
    return line[:_SHOWN].rsplit(" ", 1)[0] + " …"


def last_answer(messages: Iterable[Message]) -> str:
    """What the model said last; empty when it said nothing."""
    answers = [message.content for message in messages if message.role is Role.ASSISTANT]
    return answers[-1] if answers else ""
