from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import Any

from cupel_core.base.deferred import dataclass
from cupel_core.domain.codec import decode
from cupel_core.domain.runs.targets import Target
from cupel_core.domain.text.beginnings import beginning

DEFAULT_HISTORY_LIMIT = 50
MAX_EXCHANGES = 2_000
MAX_BRANCHES = 200
MAX_VARIANTS = 200
MAX_MESSAGE_LENGTH = 100_000
MAX_PROMPT_LENGTH = 1_000_000
"""The messages that a turn begins with have at most this many characters; the oldest exchanges are left out."""


MAX_OPENING_LENGTH = 100


def opening_of(message: str) -> str:
    return beginning(" ".join(message[: 10 * MAX_OPENING_LENGTH].split()), MAX_OPENING_LENGTH)


@dataclass(frozen=True)
class ChatSettings:
    target: Mapping[str, Any]
    """The fields `{model, params, maxAttempts, callTimeoutSeconds}`, as in the targets of runs."""
    title: str | None = None
    system: str | None = None
    profile_id: str | None = None
    history_limit: int = DEFAULT_HISTORY_LIMIT
    """A prompt has at most this many of the last exchanges."""
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
    created_at: datetime
    updated_at: datetime
    branch_count: int = 1
    expires_at: datetime | None = None
    """The chat is erased at this time unless it is changed before."""
    revision: int = 1
    opening: str | None = None
    """The beginning of the first message, by which people recognize a chat without a title; None before it."""
    playground: bool = False
    """True if the chat is a column of the page's playground."""
