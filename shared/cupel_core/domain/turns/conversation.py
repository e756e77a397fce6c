"""A conversation with a target as it grows: what is to be done next, and whether it has passed.

send → judge → stop on success; on failure at once, or only at the last message; else the next user message. What is
decided here is pure: everything that calls a model is in `shared/turns`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from cupel_core.domain.turns.model_request import Message, Role, Usage

DEFAULT_MAX_MESSAGES = 10


class FailureMode(StrEnum):
    ON_MAX_MESSAGES = "on_max_messages"
    EVERY_TURN = "every_turn"


@dataclass(frozen=True)
class Criteria:
    """What a judge looks for after each answer; without both there is nothing to judge."""

    success: str | None = None
    failure: str | None = None
    mode: FailureMode = FailureMode.ON_MAX_MESSAGES

    def __bool__(self) -> bool:
        return bool(self.success or self.failure)


@dataclass(frozen=True)
class Verdict:
    """What a judge says of a conversation; `confidence` from 0 to 1."""

    success_met: bool
    failure_met: bool
    confidence: float
    reasoning: str
    raw_response: str

    def to_json(self) -> dict[str, Any]:
        return {
            "successMet": self.success_met,
            "failureMet": self.failure_met,
            "confidence": self.confidence,
            "reasoning": self.reasoning,
            "rawResponse": self.raw_response,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Verdict":
        return cls(
            data["successMet"], data["failureMet"], data["confidence"], data["reasoning"], data.get("rawResponse", "")
        )


@dataclass(frozen=True)
class Spend:
    """What a role other than the target has used; `cost_usd` is None once a price was not known."""

    calls: int = 0
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = 0.0

    def __add__(self, other: "Spend") -> "Spend":
        known = self.cost_usd is not None and other.cost_usd is not None
        cost = (self.cost_usd or 0.0) + (other.cost_usd or 0.0) if known else None
        return Spend(self.calls + other.calls, self.usage + other.usage, cost)

    def to_json(self) -> dict[str, Any]:
        return {
            "calls": self.calls,
            "inputTokens": self.usage.input_tokens,
            "outputTokens": self.usage.output_tokens,
            "costUsd": self.cost_usd,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Spend":
        return cls(data["calls"], Usage(data["inputTokens"], data["outputTokens"]), data["costUsd"])


@dataclass(frozen=True)
class Rules:
    """How far a conversation goes. `scripted` are user messages that are said before any is generated."""

    criteria: Criteria = field(default_factory=Criteria)
    judged: bool = False
    """Whether there is a judge; without one nothing is generated either."""
    max_messages: int = DEFAULT_MAX_MESSAGES
    """Of user and assistant together, those of the scenario included; at least one answer is always asked for."""
    scripted: tuple[str, ...] = ()
    max_turns: int | None = None

    @property
    def evaluated(self) -> bool:
        return self.judged and bool(self.criteria)


@dataclass(frozen=True)
class Dialogue:
    """A conversation so far: what was said, and what it has cost. Stored whenever something was added."""

    messages: tuple[Message, ...]
    turns: int = 0
    usage: Usage = field(default_factory=Usage)
    duration_ms: int = 0
    cost_usd: float | None = 0.0
    model_version: str | None = None
    finish_reason: str | None = None
    verdict: Verdict | None = None
    """On the last answer; None when it was not judged yet."""
    judge: Spend = field(default_factory=Spend)
    persona: Spend = field(default_factory=Spend)
    thread_id: str | None = None
    """How an agent knows this conversation."""
    output: Mapping[str, Any] | None = field(default=None, compare=False)
    """What an agent answered beside its words."""

    @property
    def length(self) -> int:
        return sum(message.role is not Role.SYSTEM for message in self.messages)

    @property
    def is_answered(self) -> bool:
        return bool(self.messages) and self.messages[-1].role is Role.ASSISTANT and self.turns > 0

    @property
    def wants_answer(self) -> bool:
        return bool(self.messages) and self.messages[-1].role is Role.USER


class Move(StrEnum):
    ASK = "ask the target"
    JUDGE = "judge the answer"
    SPEAK = "say what the user says next"
    END = "end"


class Ruling(StrEnum):
    CONTINUE = "continue"
    PASSED = "passed"
    FAILED = "failed"


def next_move(dialogue: Dialogue, rules: Rules) -> Move:
    """What is to be done now. Whatever is stored in between, the same dialogue leads to the same move."""
    if dialogue.wants_answer:
        return Move.ASK
    if not dialogue.is_answered:
        # A scenario that leaves off with the agent's words is gone on with by the user, if there is one.
        return Move.ASK if dialogue.length and not rules.evaluated else Move.SPEAK
    if rules.evaluated and dialogue.verdict is None:
        return Move.JUDGE
    if rules.evaluated and rule(dialogue, rules) is not Ruling.CONTINUE:
        return Move.END
    return Move.SPEAK if _goes_on(dialogue, rules) else Move.END


def rule(dialogue: Dialogue, rules: Rules) -> Ruling:
    """What a judged answer means for the conversation; raises ValueError before there is a verdict."""
    if dialogue.verdict is None:
        raise ValueError("there is no verdict yet")
    return decide(dialogue.verdict, rules.criteria, is_last=not _goes_on(dialogue, rules))


def decide(verdict: Verdict, criteria: Criteria, *, is_last: bool) -> Ruling:
    """Success ends it first. With nothing but failure criteria, a conversation passes that reaches its end without."""
    if criteria.success and verdict.success_met:
        return Ruling.PASSED
    failed = bool(criteria.failure) and verdict.failure_met
    if failed and (is_last or criteria.mode is FailureMode.EVERY_TURN):
        return Ruling.FAILED
    if not is_last:
        return Ruling.CONTINUE
    return Ruling.FAILED if criteria.success else Ruling.PASSED


def _goes_on(dialogue: Dialogue, rules: Rules) -> bool:
    """Whether there is room for a further exchange, and somebody to begin it."""
    if rules.max_turns is not None and dialogue.turns >= rules.max_turns:
        return False
    if rules.evaluated:
        return dialogue.length + 2 <= rules.max_messages
    return dialogue.turns <= len(rules.scripted)
