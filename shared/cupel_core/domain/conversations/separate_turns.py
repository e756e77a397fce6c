"""Builds separate turns: each is a request without the earlier turns, whose answers its message may quote."""

import re
from collections.abc import Iterator, Sequence

from cupel_core.domain.conversations.model_request import Message, MessageRole

_ANSWER = re.compile(r"\[answer ([1-9]\d{0,2})\]")

type Messages = tuple[Message, ...]


def placeholder(turn: int) -> str:
    """Return the placeholder for the answer of this turn in a later message; the first turn is 1."""
    return f"[answer {turn}]"


def later_answers(follow_ups: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield (position, turn) of each placeholder of an answer that does not precede its message."""
    for position, text in enumerate(follow_ups):
        yield from ((position, turn) for turn in _turns_in(text) if turn > position + 1)


def with_answers(text: str, opening: Messages, messages: Messages, max_length: int) -> str:
    """Return the message with the answers of earlier turns. Raises ValueError if it is longer than `max_length`."""
    answers = _answers(opening, messages)
    used = [turn for turn in _turns_in(text) if turn <= len(answers)]
    length = len(text) + sum(len(answers[turn - 1]) for turn in used)
    if length > max_length:
        raise ValueError(f"the message has {length:,} characters with the answers in it, more than {max_length:,}")
    return _ANSWER.sub(lambda match: answers[int(match[1]) - 1] if int(match[1]) <= len(answers) else match[0], text)


def request_messages(opening: Messages, messages: Messages) -> Messages:
    begins = [number for number, message in enumerate(messages) if message.role is MessageRole.USER]
    if not begins:
        return messages
    common = opening[:-1] if opening and opening[-1].role is MessageRole.USER else opening
    return (*common, *messages[begins[-1] :])


def _turns_in(text: str) -> list[int]:
    return [int(match[1]) for match in _ANSWER.finditer(text)]


def _answers(opening: Messages, messages: Messages) -> list[str]:
    answers = [""]
    for message in messages[len(opening) :]:
        if message.role is MessageRole.USER:
            answers.append("")
        elif message.role is MessageRole.ASSISTANT:
            answers[-1] = message.text
    return answers
