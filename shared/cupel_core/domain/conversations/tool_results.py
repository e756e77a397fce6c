"""Answers a model's tool calls with scripted results, or with errors if they are invalid."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any, NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.conversations.tools import ToolCall
from cupel_core.domain.text.json_equality import is_same_json
from cupel_core.domain.text.json_limits import json_limit_error

NOT_EXECUTED = "The call was recorded and not executed."
"""A call that was the answer gets this result before the user continues."""
MAX_TOOL_ROUNDS = 100
DEFAULT_TOOL_ROUNDS = 10
MAX_RESULT_LENGTH = 100_000


class ToolOutcome(NamedTuple):
    content: str
    is_error: bool = False


@dataclass(frozen=True)
class ScriptedResult:
    """Scripts what calls of a function return instead of being executed."""

    name: str
    result: Any = None
    """A text is returned as it is, and anything else as JSON."""
    error: str | None = None
    arguments: Mapping[str, Any] | None = None
    """Only calls with these arguments, and possibly others, are answered."""
    times: int | None = None
    """No more calls of a conversation than this are answered; all if None."""

    def answers(self, name: str, arguments: Mapping[str, Any]) -> bool:
        expected = self.arguments or {}
        return self.name == name and all(
            each in arguments and is_same_json(arguments[each], value) for each, value in expected.items()
        )

    @property
    def outcome(self) -> ToolOutcome:
        return ToolOutcome(as_content(self.result)) if self.error is None else ToolOutcome(self.error, is_error=True)

    def to_json(self) -> dict[str, Any]:
        own = {"arguments": dict(self.arguments) if self.arguments else None, "times": self.times}
        returned = {"result": self.result} if self.error is None else {"error": self.error}
        return {"name": self.name, **{name: value for name, value in own.items() if value is not None}, **returned}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "ScriptedResult":
        return cls(data["name"], data.get("result"), data.get("error"), data.get("arguments"), data.get("times"))


def as_content(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


class ArgumentsError(ValueError):
    """The arguments of a call are no JSON object within the limits; the message is for the model."""


def arguments_of(call: ToolCall) -> dict[str, Any]:
    """Return the arguments, which are empty if the model wrote nothing. Raises ArgumentsError."""
    try:
        arguments = json.loads(call.arguments) if call.arguments.strip() else {}
    except (ValueError, RecursionError):
        raise ArgumentsError("The arguments are not valid JSON.") from None
    if not isinstance(arguments, dict):
        raise ArgumentsError("The arguments are not a JSON object.")
    if problem := json_limit_error(arguments):
        raise ArgumentsError(f"The arguments {problem}.")
    return arguments


def unknown_call_error(name: str, offered: Iterable[str]) -> str:
    if name in offered:
        return "No result is defined for this call."
    return "There is no function of this name."


class ScriptedResults:
    """Answers the calls of one conversation in order; a script with `times` answers only that many."""

    def __init__(self, scripts: Sequence[ScriptedResult], earlier: Iterable[ToolCall]) -> None:
        """Count the `earlier` calls of the conversation, which were answered before."""
        self._scripts = scripts
        self._names = {script.name for script in scripts}
        self._left = [script.times for script in scripts]
        if any(times is not None for times in self._left):
            for call in earlier:
                self.answer(call)

    def answer(self, call: ToolCall) -> ToolOutcome | None:
        """Return what the first matching script returns; None if none matches."""
        if call.name not in self._names:
            return None
        try:
            arguments = arguments_of(call)
        except ArgumentsError:
            return None
        for position, script in enumerate(self._scripts):
            times = self._left[position]
            if times != 0 and script.answers(call.name, arguments):
                self._left[position] = None if times is None else times - 1
                return script.outcome
        return None


def executed_calls(messages: Sequence[Message], target_calls: int) -> list[ToolCall]:
    """Return the calls of the target's replies that have a result, in order; the replies are the last assistant
    messages."""
    replies = [n for n, message in enumerate(messages) if message.role is MessageRole.ASSISTANT]
    executed: list[ToolCall] = []
    for position in replies[max(0, len(replies) - target_calls) :]:
        results = takewhile(lambda each: each.role is MessageRole.TOOL, messages[position + 1 :])
        answered = {result.tool_call_id for result in results}
        executed += [call for call in messages[position].tool_calls if call.id in answered]
    return executed


def with_distinct_ids(message: Message, messages: Iterable[Message]) -> Message:
    """Return the reply with call ids that are unique in the conversation, because results refer to them."""
    if not message.tool_calls:
        return message
    used = {call.id for each in messages for call in each.tool_calls}
    calls = []
    for call in message.tool_calls:
        distinct = call if call.id and call.id not in used else replace(call, id=_new_id(used))
        used.add(distinct.id)
        calls.append(distinct)
    return replace(message, tool_calls=tuple(calls))


def _new_id(used: set[str]) -> str:
    number = len(used) + 1
    while f"call_{number}" in used:
        number += 1
    return f"call_{number}"


def shown_to_user(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Return what a user sees of a conversation, without system prompt, tool results, and calls that have results."""
    shown: list[Message] = []
    for message in messages:
        if message.role is MessageRole.TOOL and shown and shown[-1].tool_calls and message.content != NOT_EXECUTED:
            called = replace(shown.pop(), tool_calls=())
            shown += [called] if called.content else []
        elif message.role not in (MessageRole.SYSTEM, MessageRole.TOOL):
            shown.append(message)
    return tuple(shown)
