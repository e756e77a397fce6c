"""What is said to a model and what comes back, whatever the provider."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum


class Role(StrEnum):
    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True)
class Message:
    role: Role
    content: str


@dataclass(frozen=True)
class Case:
    """Which probe is asking. Only simulated models read it; their answer is a function of it."""

    scenario_id: str = ""
    dimensions: dict[str, float] = field(default_factory=dict)
    repeat: int = 0
    seed: int = 0


@dataclass(frozen=True)
class Thread:
    """How an agent knows a conversation. The id is a UUID of ours until the agent gives one of its own."""

    id: str
    turn: int = 0
    """Answers that the agent has given in it so far."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Of the persona that speaks; secrets."""
    persona: str | None = None
    """Its name."""


@dataclass(frozen=True)
class Conversation:
    """Messages so far (a system message, if any, comes first) and how the next one is to be sampled."""

    messages: tuple[Message, ...]
    temperature: float | None = None
    max_output_tokens: int | None = None
    json_schema: dict[str, object] | None = None
    """Asks for one JSON object of this schema, natively where the provider can."""
    case: Case = Case()
    thread: Thread | None = None
    """Only agents behind a connector ask for it; models are told everything each time."""

    @property
    def system(self) -> str | None:
        return "\n\n".join(m.content for m in self.messages if m.role is Role.SYSTEM) or None

    @property
    def exchanges(self) -> tuple[Message, ...]:
        return tuple(m for m in self.messages if m.role is not Role.SYSTEM)

    def say(self, role: Role, content: str) -> "Conversation":
        return replace(self, messages=(*self.messages, Message(role, content)))


@dataclass(frozen=True)
class Usage:
    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(self.input_tokens + other.input_tokens, self.output_tokens + other.output_tokens)

    @property
    def total(self) -> int:
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True)
class RateLimits:
    """The answer came, and with it the word that an allowance of the account is spent."""

    wait_seconds: float
    """Until enough of it is back to go on."""


@dataclass(frozen=True)
class Reply:
    """One answer of a model. `model_version` is what the provider says answered, e.g. `gpt-5-mini-2025-08-07`."""

    text: str
    model_version: str | None = None
    usage: Usage = Usage()
    finish_reason: str | None = None
    limits: RateLimits | None = None
    """None while the account has something left."""
    thread_id: str | None = None
    """Where an agent calls the conversation otherwise than we do."""
    output: Mapping[str, object] | None = None
    """What an agent answered beside its words."""


class ErrorCode(StrEnum):
    """Why a probe has no transcript. The same words in items, metrics, API and UI."""

    RATE_LIMITED = "rate_limited"
    TIMEOUT = "timeout"
    PROVIDER_ERROR = "provider_error"
    AUTH = "auth"
    INVALID_REQUEST = "invalid_request"
    CONTENT_FILTERED = "content_filtered"
    NETWORK = "network"
    JUDGE_ERROR = "judge_error"
    """The judge or the simulated user gave no usable answer: nothing is said about the target."""
    DEAD_LETTER = "dead_letter"
    INTERNAL = "internal"

    @property
    def retryable(self) -> bool:
        return self in _RETRYABLE


_RETRYABLE = frozenset({ErrorCode.RATE_LIMITED, ErrorCode.TIMEOUT, ErrorCode.PROVIDER_ERROR, ErrorCode.NETWORK})
