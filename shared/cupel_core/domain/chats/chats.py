"""Chats: conversations that a person has with one model, in branches."""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import Any

from cupel_core.base.deferred import dataclass
from cupel_core.domain.codec import decode
from cupel_core.domain.runs.targets import Target

DEFAULT_HISTORY_LIMIT = 50
MAX_EXCHANGES = 2_000
"""Of a branch."""
MAX_BRANCHES = 200
MAX_VARIANTS = 200
"""Of one message."""
MAX_MESSAGE_LENGTH = 100_000
MAX_PROMPT_LENGTH = 1_000_000
"""Of the messages of a branch that a turn begins with; the oldest exchanges are left out."""


MAX_OPENING_LENGTH = 100


def opening_of(message: str) -> str:
    """Return the beginning of a message, in one line."""
    words = " ".join(message[: 10 * MAX_OPENING_LENGTH].split())
    return words if len(words) <= MAX_OPENING_LENGTH else f"{words[: MAX_OPENING_LENGTH - 1]}…"


@dataclass(frozen=True)
class ChatSettings:
    """The settings of a chat's next turn."""

    target: Mapping[str, Any]
    """`{model, params, maxAttempts, callTimeoutSeconds}`, as runs name their targets."""
    title: str | None = None
    system: str | None = None
    profile_id: str | None = None
    history_limit: int = DEFAULT_HISTORY_LIMIT
    """How many of the last exchanges are part of a prompt."""
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def model(self) -> str:
        return str(self.target["model"])

    @property
    def parsed_target(self) -> Target:
        return decode(Target, self.target)


@dataclass(frozen=True)
class Chat:
    workspace: str
    id: str
    settings: ChatSettings
    active_branch_id: str
    created_by: str
    """The id of the token that created it."""
    created_at: datetime
    updated_at: datetime
    branch_count: int = 1
    expires_at: datetime | None = None
    """When it is erased, unless it is changed before."""
    revision: int = 1
    """Of its settings."""
    opening: str | None = None
    """The beginning of its first message, by which people recognize a chat without a title; None before it."""
