"""Defines what an operation stores under its tag, and where the value is placed in the prompt."""

from enum import StrEnum

from cupel_core.base.deferred import dataclass

DEFAULT_VERSIONS = 20
MAX_VERSIONS = 100
MAX_AGE_DAYS = 3_650
MAX_DEPTH_FROM_END = 500


class ArtifactFormat(StrEnum):
    TEXT = "text"
    MARKDOWN = "markdown"
    JSON = "json"


class ArtifactPersistence(StrEnum):
    PERSISTED = "persisted"
    """The value and its history last until the conversation ends."""
    RUN_ONLY = "run_only"


class ArtifactUsage(StrEnum):
    PROMPT_ONLY = "prompt_only"
    UI_ONLY = "ui_only"
    PROMPT_AND_UI = "prompt+ui"
    INTERNAL = "internal"

    @property
    def has_prompt(self) -> bool:
        return self in (ArtifactUsage.PROMPT_ONLY, ArtifactUsage.PROMPT_AND_UI)


class WriteMode(StrEnum):
    REPLACE = "replace"
    APPEND = "append"


class PromptRole(StrEnum):
    """An operation adds messages with these roles to the prompt."""

    SYSTEM = "system"
    DEVELOPER = "developer"
    """The message is stored and sent as `system`."""
    USER = "user"
    ASSISTANT = "assistant"


class PromptPlace(StrEnum):
    SYSTEM_PREPEND = "system_prepend"
    SYSTEM_APPEND = "system_append"
    AFTER_LAST_USER = "after_last_user"
    DEPTH = "depth"


@dataclass(frozen=True)
class Inclusion:
    at: PromptPlace
    depth_from_end: int | None = None
    role: PromptRole | None = None
    template: str | None = None
    """The template that renders the value; None to convert the value to text."""


@dataclass(frozen=True)
class HistoryLimit:
    """Limits the history of a persisted artifact; its newest value is never removed."""

    max_versions: int = DEFAULT_VERSIONS
    max_age_days: int | None = None


@dataclass(frozen=True)
class ArtifactSpec:
    """Defines how an operation stores its value; operations and tags correspond one to one."""

    tag: str
    format: ArtifactFormat
    persistence: ArtifactPersistence
    usage: ArtifactUsage
    semantics: str
    """`state`, `log/feed`, `lore/memory`, `intermediate` or another word, and only used for display."""
    write_mode: WriteMode = WriteMode.REPLACE
    title: str | None = None
    retention: HistoryLimit | None = None
    inclusion: Inclusion | None = None
