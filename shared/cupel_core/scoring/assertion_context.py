"""What assertions are about: what was answered, in which conversation, and what it took."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cupel_core.domain.turns.model_request import Message, Role
from cupel_core.grading.grader import quoted


@dataclass(frozen=True)
class Evidence:
    output: str
    """The last answer."""
    messages: tuple[Message, ...] = ()
    """All of them, the system's and the last answer included."""
    latency_ms: float | None = None
    cost_usd: float | None = None
    finish_reason: str | None = None
    variables: Mapping[str, Any] = field(default_factory=dict)
    """What `{{name}}` in a value stands for."""
    conversation_id: str = ""
    goal: str | None = None

    @property
    def exchanges(self) -> tuple[Message, ...]:
        return tuple(message for message in self.messages if message.role is not Role.SYSTEM)

    @property
    def question(self) -> str:
        """What the user said last."""
        said = [message.content for message in self.messages if message.role is Role.USER]
        return said[-1] if said else ""

    @property
    def prompt(self) -> str:
        """What led to the output: the user's words, or the conversation where there was one."""
        before = self.exchanges[:-1]
        return self.question if len(before) < 2 else quoted(before)
