"""Requests to models and their replies, independent of the provider."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from enum import StrEnum
from typing import Any

from cupel_core.base.deferred import dataclass
from cupel_core.domain.conversations.model_parameters import FormatType, ModelParameters
from cupel_core.domain.conversations.parts import (
    FilePart,
    MessagePart,
    TextPart,
    as_text,
    files_of,
    map_texts,
    part_from_json,
)
from cupel_core.domain.conversations.roles import ModelRole
from cupel_core.domain.conversations.tools import ToolCall


class MessageRole(StrEnum):
    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    """The result of a tool call."""


@dataclass(frozen=True)
class Message:
    role: MessageRole
    content: str
    """The text; of a message with files, its texts with a note in place of each file."""
    tool_calls: tuple[ToolCall, ...] = ()
    """Of an assistant: the functions it called, besides what it said."""
    tool_call_id: str | None = None
    """Of a tool's result: the call that it answers."""
    is_error: bool = False
    """Of a tool's result: whether it says why the call failed."""
    parts: tuple[MessagePart, ...] = ()
    """Of a user's message with files: all of it, in order."""
    reasoning: str = ""
    """An assistant wrote it to itself. It is stored and shown, but neither graded nor sent back."""

    @classmethod
    def of_parts(cls, role: MessageRole, parts: Iterable[MessagePart]) -> "Message":
        """Texts alone are one text."""
        given = tuple(parts)
        return cls(role, as_text(given), parts=given if any(files_of(given)) else ())

    @property
    def files(self) -> tuple[FilePart, ...]:
        return tuple(files_of(self.parts))

    @property
    def spoken_text(self) -> str:
        """Its texts without notes of files."""
        return as_text(part for part in self.parts if isinstance(part, TextPart)) if self.parts else self.content

    def with_texts(self, change: Callable[[str], str]) -> "Message":
        """With each text changed."""
        if self.parts:
            return Message.of_parts(self.role, map_texts(self.parts, change))
        return replace(self, content=change(self.content))

    @property
    def without_reasoning(self) -> "Message":
        return replace(self, reasoning="") if self.reasoning else self

    @property
    def text(self) -> str:
        """Return the content and the functions that the message calls, as assertions and counts of tokens read it."""
        if not self.tool_calls:
            return self.content
        return f"{self.content}\n\n{self.calls_text}" if self.content else self.calls_text

    @property
    def calls_text(self) -> str:
        """The JSON of the functions it calls."""
        calls = [
            {"type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in self.tool_calls
        ]
        return json.dumps(calls, ensure_ascii=False)

    def to_json(self) -> dict[str, Any]:
        """As in stored items; only an assistant's calls and a tool's results have more than role and content."""
        calls = {"toolCalls": [call.to_json() for call in self.tool_calls]} if self.tool_calls else {}
        answered = {"toolCallId": self.tool_call_id} if self.tool_call_id else {}
        failed = {"isError": True} if self.is_error else {}
        content = [part.to_json() for part in self.parts] if self.parts else self.content
        reasoning = {"reasoning": self.reasoning} if self.reasoning else {}
        return {"role": self.role, "content": content, **calls, **answered, **failed, **reasoning}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Message":
        role, content = MessageRole(data["role"]), data.get("content", "")
        if not isinstance(content, str):
            return cls.of_parts(role, map(part_from_json, content))
        calls = tuple(map(ToolCall.from_json, data.get("toolCalls") or ()))
        failed, reasoning = data.get("isError", False), data.get("reasoning", "")
        return cls(role, content, calls, data.get("toolCallId"), failed, reasoning=reasoning)


@dataclass(frozen=True)
class SimulationKey:
    """Identifies the probe. Read only by simulated models, whose answer is a function of it."""

    scenario_id: str = ""
    dimensions: dict[str, float] = field(default_factory=dict)
    repeat: int = 0
    seed: int = 0
    variant: str = ""
    """The target's label and the prompt, where there are several: the same model answers differently under each."""


@dataclass(frozen=True)
class AgentThread:
    """Identifies a conversation to an agent. The id is a UUID made by Cupel until the agent assigns its own."""

    id: str
    turn: int = 0
    """Number of answers the agent has given in it so far."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Headers of the current persona; secrets."""
    persona: str | None = None
    """Name of the current persona."""
    variables: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """Those of the scenario."""


class RequestParameter(StrEnum):
    """Parts of a request that may have to be left out; the values are the same in stored items and the API."""

    TEMPERATURE = "temperature"
    TOP_P = "topP"
    TOP_K = "topK"
    MAX_OUTPUT_TOKENS = "maxOutputTokens"
    STOP = "stop"
    SEED = "seed"
    FREQUENCY_PENALTY = "frequencyPenalty"
    PRESENCE_PENALTY = "presencePenalty"
    REASONING_EFFORT = "reasoningEffort"
    TOOLS = "tools"
    TOOL_CHOICE = "toolChoice"
    EXTRA_BODY = "extraBody"
    """A default of the definition or the run that only servers of the user's own take."""
    SYSTEM_ROLE = "systemRole"
    """The system prompt was put before the first user message instead."""
    JSON_SCHEMA = "jsonSchema"
    """The schema, or the request for any JSON object, was put into the prompt instead."""
    PERSONA_HEADERS = "personaHeaders"
    """They were made for other connectors."""


@dataclass(frozen=True)
class ModelRequest:
    """Messages so far (a system message, if any, comes first) and how the next one is sampled."""

    messages: tuple[Message, ...]
    parameters: ModelParameters = field(default_factory=ModelParameters)
    simulation_key: SimulationKey = SimulationKey()
    thread: AgentThread | None = None
    """Used only by agents behind a connector; models receive every message each time."""
    role: ModelRole = ModelRole.TARGET
    """What the model is called for."""
    files: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    """The content of the files in the messages, by id."""
    renames_limit: bool = False
    """Whether the limit of tokens is sent under its other name, because the model refused the first."""

    @property
    def is_graders(self) -> bool:
        """Whether a judge or a simulated user makes it, and not the target."""
        return self.role is not ModelRole.TARGET

    @property
    def wants_json(self) -> bool:
        """Whether the answer is to be one JSON object, through the provider's native support where there is any."""
        reply_format = self.parameters.response_format
        return reply_format is not None and reply_format.type is not FormatType.TEXT

    @property
    def json_schema(self) -> dict[str, object] | None:
        """Of the JSON object that the answer is to be; None if it may be any object, or text."""
        reply_format = self.parameters.response_format
        return None if reply_format is None else reply_format.schema

    def with_parameters(self, **changes: Any) -> "ModelRequest":
        return replace(self, parameters=replace(self.parameters, **changes))

    @property
    def system(self) -> str | None:
        """Of the system messages that lead."""
        return "\n\n".join(m.content for m in self.messages[: self._leading_count]) or None

    @property
    def exchanges(self) -> tuple[Message, ...]:
        """What follows the system prompt, for formats that have one in a field of its own and no other system message:
        one that does not lead is the user's, and joins the user's message beside it."""
        rest = self.messages[self._leading_count :]
        if all(message.role is not MessageRole.SYSTEM for message in rest):
            return rest
        joined: list[Message] = []
        for message in rest:
            is_system = message.role is MessageRole.SYSTEM
            own = replace(message, role=MessageRole.USER) if is_system else message
            if joined and own.role is MessageRole.USER and joined[-1].role is MessageRole.USER:
                joined[-1] = _joined(joined[-1], own)
            else:
                joined.append(own)
        return tuple(joined)

    @property
    def _leading_count(self) -> int:
        roles = [message.role for message in self.messages]
        return next((n for n, role in enumerate(roles) if role is not MessageRole.SYSTEM), len(roles))

    def with_message(self, message: Message) -> "ModelRequest":
        return replace(self, messages=(*self.messages, message))


def _joined(first: Message, second: Message) -> Message:
    """Two messages of a role as one, with the files of both."""
    parts = [part for each in (first, second) for part in (each.parts or (TextPart(each.content),))]
    if first.parts or second.parts:
        return Message.of_parts(first.role, parts)
    return replace(first, content=f"{first.content}\n\n{second.content}")


@dataclass(frozen=True)
class Usage:
    """`input_tokens` are all tokens of the prompt; those that its provider's cache had, or stored, are among them."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_input_tokens: int = 0
    """Read from the cache, which costs less."""
    cache_write_tokens: int = 0
    """Written to it, which may cost more."""
    unreported_calls: int = 0
    """Calls whose usage nobody has reported, so that their tokens are in none of the counts."""

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_input_tokens + other.cached_input_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
            self.unreported_calls + other.unreported_calls,
        )

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Usage":
        """Of a document with `inputTokens`, `outputTokens` and perhaps more."""
        cached, written = data.get("cacheTokens", (0, 0))
        return cls(data["inputTokens"], data["outputTokens"], cached, written, data.get("unreportedCalls", 0))

    def to_json(self) -> dict[str, Any]:
        """Omit counts that are zero, as they are in most documents."""
        cached = {"cacheTokens": [self.cached_input_tokens, self.cache_write_tokens]} if self.uses_cache else {}
        unreported = {"unreportedCalls": self.unreported_calls} if self.unreported_calls else {}
        return {"inputTokens": self.input_tokens, "outputTokens": self.output_tokens, **cached, **unreported}

    @property
    def uses_cache(self) -> bool:
        return bool(self.cached_input_tokens or self.cache_write_tokens)

    @property
    def total(self) -> int:
        return self.input_tokens + self.output_tokens


UNKNOWN_USAGE = Usage(unreported_calls=1)
"""It represents one call whose usage is unknown."""


@dataclass(frozen=True)
class ExhaustedAllowance:
    """The account's allowance is exhausted, as the rate limit headers of a successful reply say."""

    wait_seconds: float
    """Until enough of the allowance is restored for another call."""


@dataclass(frozen=True)
class Reply:
    """One reply of a model. `model_version` is the version the provider reports, e.g. `gpt-5-mini-2025-08-07`."""

    text: str
    model_version: str | None = None
    usage: Usage | None = None
    """It is None if it was not reported; what the call has used and cost is unknown then."""
    finish_reason: str | None = None
    exhausted_allowance: ExhaustedAllowance | None = None
    """None while the account has some allowance left."""
    thread_id: str | None = None
    """The agent's own id of the conversation, if it assigned one."""
    output: Mapping[str, object] | None = None
    """Structured output that an agent returned with its text."""
    tool_calls: tuple[ToolCall, ...] = ()
    omitted_parameters: tuple[RequestParameter, ...] = ()
    """What was left out of the request because the model rejects it."""
    cost_usd: float | None = None
    """What the call cost, if the provider reports it."""
    cached_duration_ms: int | None = None
    """Of a reply from a cache: how long the call took that it answered."""
    reasoning: str = ""
    """The model wrote it to itself; it is not part of `text`."""

    @property
    def counted_usage(self) -> Usage:
        """Its usage, which says so if it is unknown."""
        return UNKNOWN_USAGE if self.usage is None else self.usage

    @property
    def message(self) -> Message:
        return Message(MessageRole.ASSISTANT, self.text, self.tool_calls, reasoning=self.reasoning)


class ProbeErrorCode(StrEnum):
    """Why a probe has no transcript. The values are the same in stored items, metrics, API and UI."""

    RATE_LIMITED = "rate_limited"
    TIMEOUT = "timeout"
    PROVIDER_ERROR = "provider_error"
    AUTH = "auth"
    INVALID_REQUEST = "invalid_request"
    CONTENT_FILTERED = "content_filtered"
    NETWORK = "network"
    JUDGE_ERROR = "judge_error"
    """The judge could not be called or returned no usable reply; says nothing about the target."""
    SIMULATED_USER_ERROR = "simulated_user_error"
    """The same of the model that writes the simulated user's messages."""
    TOOL_ERROR = "tool_error"
    """What executes the calls of tools could not be called or gave no usable answer; says nothing about the target."""
    OPERATION_ERROR = "operation_error"
    """A required operation of the run's profile was not done; says nothing about the target."""
    EXPRESSION_LIMIT = "expression_limit"
    """An expression of the connector exceeds the limits of one."""
    FILE_NOT_FOUND = "file_not_found"
    """A file in the messages was deleted."""
    BUDGET = "budget"
    """No call was made, because the budget is used up. Of summaries and selections; on a stack, probes wait instead."""
    DEAD_LETTER = "dead_letter"
    INTERNAL = "internal"

    @property
    def retryable(self) -> bool:
        return self in _RETRYABLE

    @property
    def is_repeated_by_retry(self) -> bool:
        """Return whether the same conversation ends with the same error again, whenever the run is retried."""
        return self in _REPEATED_BY_RETRY


_REPEATED_BY_RETRY = frozenset(
    {ProbeErrorCode.INVALID_REQUEST, ProbeErrorCode.CONTENT_FILTERED, ProbeErrorCode.EXPRESSION_LIMIT}
)
_RETRYABLE = frozenset(
    {ProbeErrorCode.RATE_LIMITED, ProbeErrorCode.TIMEOUT, ProbeErrorCode.PROVIDER_ERROR, ProbeErrorCode.NETWORK}
)
