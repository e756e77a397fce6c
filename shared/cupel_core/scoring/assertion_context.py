"""Defines the input of assertions: the output, the conversation that led to it, and its time and cost."""

import json
from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any

from cupel_core.base.deferred import dataclass
from cupel_core.domain.codec import decode_all, encode
from cupel_core.domain.conversations.material import MaterialValue, as_json, messages_material
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.conversations.tools import Tool, ToolCall
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.domain.scoring.structured_answers import structured_value
from cupel_core.domain.text.javascript_values import as_text, well_formed


class ShortConversation(ValueError):
    """The conversation ended before the answer that an assertion is about."""


@dataclass(frozen=True)
class AssertionContext:
    output: str
    """The target's last reply, or the result of the assertion's transform."""
    messages: tuple[Message, ...] = ()
    """The whole conversation, including the system message and the output."""
    latency_ms: float | None = None
    cost_usd: float | None = None
    finish_reason: str | None = None
    variables: Mapping[str, Any] = field(default_factory=dict)
    """Values for the `{{name}}` placeholders in assertion values."""
    turns: int = 1
    """The last answers of the conversation, this many, are the target's."""
    target_calls: int = 1
    """The last assistant messages, this many, are the target's: an answer with executed calls has several."""
    tools: tuple[Tool, ...] = ()
    conversation_id: str = ""
    goal: str | None = None
    name: str = ""
    """The scenario's name, which code of assertions receives, like `metadata`."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    assertions: tuple[Assertion, ...] = ()
    value: Any = None
    """The result of the transform, or the answer's declared structure; None if that is a text."""
    has_schema: bool = False
    is_transformed: bool = False

    @property
    def replies(self) -> tuple[Message, ...]:
        """Return everything the target said and called, in order; an answer with executed calls consists of several
        replies."""
        said = [message for message in self.messages if message.role is MessageRole.ASSISTANT]
        return tuple(said[max(0, len(said) - self.target_calls) :])

    @property
    def answer_replies(self) -> tuple[Message, ...]:
        after = max((n for n, message in enumerate(self.messages) if message.role is MessageRole.USER), default=-1)
        count = sum(message.role is MessageRole.ASSISTANT for message in self.messages[after + 1 :])
        return self.replies[max(0, len(self.replies) - count) :] if count else ()

    @property
    def answer_calls(self) -> tuple[ToolCall, ...]:
        return tuple(call for reply in self.answer_replies for call in reply.tool_calls)

    def to_json(self) -> dict[str, Any]:
        """Return what the checks need that may be computed in the sandbox."""
        return {
            "output": self.output,
            "value": json.dumps(self.value),
            "is_transformed": self.is_transformed,
            "messages": [message.without_reasoning.to_json() for message in self.messages],
            "target_calls": self.target_calls,
            "tools": [encode(tool) for tool in self.tools],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "AssertionContext":
        messages = tuple(map(Message.from_json, data["messages"]))
        tools = decode_all(Tool, data["tools"])
        return cls(**{**data, "messages": messages, "tools": tools, "value": json.loads(data["value"])})

    @property
    def answer(self) -> Any:
        """Return what transforms and code receive: the value, or the text if there is none."""
        return self.output if self.value is None else self.value

    @property
    def with_structure(self) -> "AssertionContext":
        """Return the context with the answer's declared structure as its value, and its compact JSON as the output."""
        answers = [message for message in self.messages if message.role is MessageRole.ASSISTANT]
        value = structured_value(answers[-1], has_schema=self.has_schema) if answers else None
        if value is None:
            return self
        return replace(self, output=well_formed(as_text(value)), value=None if isinstance(value, str) else value)

    def at_turn(self, turn: int) -> "AssertionContext":
        """Return the conversation up to this answer, from 1. Raises ShortConversation if it has fewer answers."""
        answers = self._answers()
        if turn > len(answers):
            raise ShortConversation(f"the conversation has only {len(answers)} answers")
        end = answers[turn - 1] + 1
        later = sum(message.role is MessageRole.ASSISTANT for message in self.messages[end:])
        return replace(
            self,
            output=self.messages[end - 1].text,
            messages=self.messages[:end],
            turns=turn,
            target_calls=self.target_calls - later,
        )

    def _answers(self) -> list[int]:
        """Return the positions at which answers of the target end: before the user, or at the end of the
        conversation."""
        positions: list[int] = []
        follows_user = True
        for position in reversed(range(len(self.messages))):
            role = self.messages[position].role
            if role is MessageRole.ASSISTANT and follows_user:
                positions.append(position)
            if role is not MessageRole.TOOL:
                follows_user = role is MessageRole.USER
        return positions[: self.turns][::-1]

    @property
    def messages_without_system(self) -> tuple[Message, ...]:
        return tuple(message for message in self.messages if message.role is not MessageRole.SYSTEM)

    @property
    def question(self) -> str:
        questions = [message.content for message in self.messages if message.role is MessageRole.USER]
        return questions[-1] if questions else ""

    @property
    def prompt(self) -> str:
        """Return what led to the output: the user's message, or a longer conversation as JSON."""
        asked = self.prompt_material
        return asked if isinstance(asked, str) else as_json(asked)

    @property
    def prompt_material(self) -> str | list[MaterialValue]:
        """Return the prompt for a judge's material: a text, or a list of messages if there was more than one."""
        before = self.messages_without_system[:-1]
        return self.question if len(before) < 2 else messages_material(before)
