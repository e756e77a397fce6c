from collections.abc import Iterable

from cupel_core.domain.conversations.model_request import Message, MessageRole

CODES = ("1", "2", "3", "4", "5")
OTHER = "other"
_MAX_SEARCHED_LENGTH = 20_000
"""A pattern is applied to at most this many characters at the end of an answer, which bounds the cost of a user's
expression."""
_MAX_EXCERPT_LENGTH = 280


def answers_newest_first(messages: Iterable[Message]) -> list[str]:
    return [message.text for message in messages if message.role is MessageRole.ASSISTANT][::-1]


def searched_part(answer: str) -> str:
    """Return the end of an answer, to which a pattern is applied: the last match in it is the final decision."""
    return answer[-_MAX_SEARCHED_LENGTH:]


def decision_code(group: str | None) -> str:
    """Return the code in a pattern's first group; anything but `1`-`5` is `other`."""
    code = (group or "").strip()
    return code if code in CODES else OTHER


def excerpt(answer: str) -> str:
    """Return the start of an answer on one line, cut at a word boundary."""
    line = " ".join(answer.split())
    if len(line) <= _MAX_EXCERPT_LENGTH:
        return line
    return line[:_MAX_EXCERPT_LENGTH].rsplit(" ", 1)[0] + " …"


def last_answer(messages: Iterable[Message]) -> str:
    answers = [message.text for message in messages if message.role is MessageRole.ASSISTANT]
    return answers[-1] if answers else ""
