import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from enum import StrEnum
from typing import Annotated, Any

from cupel_core.base.deferred import dataclass
from cupel_core.domain.codec import WRITTEN, decode_all, encode
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


@dataclass(frozen=True)
class Message:
    role: MessageRole
    content: str
    """A message with files has a note in place of each file."""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    is_error: bool = False
    parts: tuple[MessagePart, ...] = ()
    reasoning: str = ""
    """The reasoning is stored and shown, but neither graded nor sent back."""

    @classmethod
    def of_parts(cls, role: MessageRole, parts: Iterable[MessagePart]) -> "Message":
        """Return a message of these parts; if all of them are texts, they become one text."""
        given = tuple(parts)
        return cls(role, as_text(given), parts=given if any(files_of(given)) else ())

    @property
    def files(self) -> tuple[FilePart, ...]:
        return tuple(files_of(self.parts))

    @property
    def spoken_text(self) -> str:
        return as_text(part for part in self.parts if isinstance(part, TextPart)) if self.parts else self.content

    def with_texts(self, change: Callable[[str], str]) -> "Message":
        if self.parts:
            return Message.of_parts(self.role, map_texts(self.parts, change))
        return replace(self, content=change(self.content))

    @property
    def without_reasoning(self) -> "Message":
        return replace(self, reasoning="") if self.reasoning else self

    @property
    def text(self) -> str:
        """Return the content followed by the called functions, as assertions and token counts read it."""
        if not self.tool_calls:
            return self.content
        return f"{self.content}\n\n{self.calls_text}" if self.content else self.calls_text

    @property
    def calls_text(self) -> str:
        calls = [
            {"type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in self.tool_calls
        ]
        return json.dumps(calls, ensure_ascii=False)

    def to_json(self) -> dict[str, Any]:
        """Return the message as it is stored; empty fields besides role and content are left out."""
        calls = {"toolCalls": [encode(call) for call in self.tool_calls]} if self.tool_calls else {}
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
        calls = decode_all(ToolCall, data.get("toolCalls") or ())
        failed, reasoning = data.get("isError", False), data.get("reasoning", "")
        return cls(role, content, calls, data.get("toolCallId"), failed, reasoning=reasoning)


@dataclass(frozen=True)
class SimulationKey:
    """Identifies the probe for simulated models, whose answer is a function of it."""

    scenario_id: str = ""
    dimensions: dict[str, float] = field(default_factory=dict)
    repeat: int = 0
    seed: int = 0
    variant: str = ""
    """The target's label and the prompt, if there are several, so that a simulated model answers differently under
    each."""


@dataclass(frozen=True)
class AgentThread:
    """Identifies a conversation to an agent. The id is a UUID made by Cupel until the agent assigns its own."""

    id: str
    turn: int = 0
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The headers of the current persona are secret."""
    persona: str | None = None
    variables: Mapping[str, Any] = field(default_factory=dict, repr=False)


class RequestParameter(StrEnum):
    """Parts of a request that a model may refuse; the values are the same in stored items and the API."""

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
    """A default of the definition or the run was left out because only servers of the user's own accept it."""
    SYSTEM_ROLE = "systemRole"
    """The system prompt was put before the first user message instead."""
    JSON_SCHEMA = "jsonSchema"
    """The schema, or the request for any JSON object, was put into the prompt instead."""
    PERSONA_HEADERS = "personaHeaders"
    """The headers of a persona were left out because they belong to other connectors."""


@dataclass(frozen=True)
class ModelRequest:
    """Contains the messages so far (a system message, if any, comes first) and the parameters of the next one."""

    messages: tuple[Message, ...]
    parameters: ModelParameters = field(default_factory=ModelParameters)
    simulation_key: SimulationKey = SimulationKey()
    thread: AgentThread | None = None
    """Agents behind a connector use it; models receive every message each time."""
    role: ModelRole = ModelRole.TARGET
    files: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    renames_limit: bool = False
    """The token limit is sent under its other name, because the model refused the first."""

    @property
    def is_graders(self) -> bool:
        """Return whether the called model is not the target but, for example, a judge or a simulated user."""
        return self.role is not ModelRole.TARGET

    @property
    def wants_json(self) -> bool:
        """Return whether the answer must be one JSON object, through the provider's native support if it has any."""
        reply_format = self.parameters.response_format
        return reply_format is not None and reply_format.type is not FormatType.TEXT

    @property
    def json_schema(self) -> dict[str, object] | None:
        """Return the schema of the answer's JSON object; None if the answer may be any object, or text."""
        reply_format = self.parameters.response_format
        return None if reply_format is None else reply_format.schema

    def with_parameters(self, **changes: Any) -> "ModelRequest":
        return replace(self, parameters=replace(self.parameters, **changes))

    @property
    def system(self) -> str | None:
        return "\n\n".join(m.content for m in self.messages[: self._leading_count]) or None

    @property
    def exchanges(self) -> tuple[Message, ...]:
        """Return what follows the system prompt, for formats with a separate field for the only system message. A later
        system message becomes the user's, and is joined with an adjacent user message."""
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
    parts = [part for each in (first, second) for part in (each.parts or (TextPart(each.content),))]
    if first.parts or second.parts:
        return Message.of_parts(first.role, parts)
    return replace(first, content=f"{first.content}\n\n{second.content}")


@dataclass(frozen=True)
class Usage:
    """`input_tokens` counts all tokens of the prompt, including those read from and written to the provider's cache."""

    input_tokens: Annotated[int, WRITTEN] = 0
    output_tokens: Annotated[int, WRITTEN] = 0
    cached_input_tokens: int = 0
    """Number of tokens that were read from the cache, which costs less."""
    cache_write_tokens: int = 0
    """Number of tokens that were written to the cache, which may cost more."""
    unreported_calls: int = 0
    """The usage of these calls was not reported, so their tokens are in none of the counts."""

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_input_tokens + other.cached_input_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
            self.unreported_calls + other.unreported_calls,
        )

    @property
    def total(self) -> int:
        return self.input_tokens + self.output_tokens


UNKNOWN_USAGE = Usage(unreported_calls=1)


@dataclass(frozen=True)
class ExhaustedAllowance:
    """The rate limit headers of a successful reply report that the account's allowance is exhausted."""

    wait_seconds: float
    """Another call is possible after this time."""


@dataclass(frozen=True)
class Reply:
    """`model_version` is the version the provider reports, e.g. `gpt-5-mini-2025-08-07`."""

    text: str
    model_version: str | None = None
    usage: Usage | None = None
    """None if it was not reported; then the usage and the cost of the call are unknown."""
    finish_reason: str | None = None
    exhausted_allowance: ExhaustedAllowance | None = None
    """None while the account has allowance left."""
    thread_id: str | None = None
    """The id that the agent assigned to the conversation; None if it assigned none."""
    output: Mapping[str, object] | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    omitted_parameters: tuple[RequestParameter, ...] = ()
    """Parts that were left out of the request because the model refuses them."""
    cost_usd: float | None = None
    """The cost according to the provider; None if the provider does not report it."""
    cached_duration_ms: int | None = None
    """The duration of the call whose answer was cached; None if the reply is not from a cache."""
    reasoning: str = ""
    """The reasoning is not part of `text`."""

    @property
    def counted_usage(self) -> Usage:
        return UNKNOWN_USAGE if self.usage is None else self.usage

    @property
    def message(self) -> Message:
        return Message(MessageRole.ASSISTANT, self.text, self.tool_calls, reasoning=self.reasoning)


class ProbeErrorCode(StrEnum):
    """The code says why a probe has no transcript. It is the same in stored items, metrics, API and UI."""

    RATE_LIMITED = "rate_limited"
    TIMEOUT = "timeout"
    PROVIDER_ERROR = "provider_error"
    AUTH = "auth"
    INVALID_REQUEST = "invalid_request"
    CONTENT_FILTERED = "content_filtered"
    NETWORK = "network"
    JUDGE_ERROR = "judge_error"
    """The judge could not be called or returned no usable reply; this says nothing about the target."""
    SIMULATED_USER_ERROR = "simulated_user_error"
    """The model that writes the simulated user's messages could not be called or returned no usable reply."""
    TOOL_ERROR = "tool_error"
    """The executor of tool calls could not be called or gave no usable answer; this says nothing about the target."""
    OPERATION_ERROR = "operation_error"
    """A required operation of the run's profile was not done; this says nothing about the target."""
    EXPRESSION_LIMIT = "expression_limit"
    FILE_NOT_FOUND = "file_not_found"
    BUDGET = "budget"
    """No call was made because the budget is used up. Summaries and selections end with this error; on a stack, probes
    wait instead."""
    DEAD_LETTER = "dead_letter"
    INTERNAL = "internal"

    @property
    def retryable(self) -> bool:
        return self in _RETRYABLE

    @property
    def is_repeated_by_retry(self) -> bool:
        """Return whether the same conversation ends with the same error at every retry of the run."""
        return self in _REPEATED_BY_RETRY


_REPEATED_BY_RETRY = frozenset(
    {ProbeErrorCode.INVALID_REQUEST, ProbeErrorCode.CONTENT_FILTERED, ProbeErrorCode.EXPRESSION_LIMIT}
)
_RETRYABLE = frozenset(
    {ProbeErrorCode.RATE_LIMITED, ProbeErrorCode.TIMEOUT, ProbeErrorCode.PROVIDER_ERROR, ProbeErrorCode.NETWORK}
)
