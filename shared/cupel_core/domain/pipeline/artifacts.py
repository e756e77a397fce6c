"""What an operation stores under its tag, and where that stands in the prompt."""

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
    """Stays with its history until the conversation ends."""
    RUN_ONLY = "run_only"
    """Belongs to one turn."""


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
    """Of a message that an operation adds to the prompt."""

    SYSTEM = "system"
    DEVELOPER = "developer"
    """Stored and sent as `system`."""
    USER = "user"
    ASSISTANT = "assistant"


class PromptPlace(StrEnum):
    SYSTEM_PREPEND = "system_prepend"
    SYSTEM_APPEND = "system_append"
    AFTER_LAST_USER = "after_last_user"
    DEPTH = "depth"


@dataclass(frozen=True)
class Inclusion:
    """Where the value of an artifact stands in the prompt."""

    at: PromptPlace
    depth_from_end: int | None = None
    role: PromptRole | None = None
    template: str | None = None
    """Renders the value; the value as text if None."""


@dataclass(frozen=True)
class HistoryLimit:
    """How much of the history of a persisted artifact stays; its newest value always does."""

    max_versions: int = DEFAULT_VERSIONS
    max_age_days: int | None = None
    """None for no limit."""


@dataclass(frozen=True)
class ArtifactSpec:
    """How an operation stores its value: one tag per operation, one operation per tag."""

    tag: str
    format: ArtifactFormat
    persistence: ArtifactPersistence
    usage: ArtifactUsage
    semantics: str
    """`state`, `log/feed`, `lore/memory`, `intermediate` or another word: only for who shows it."""
    write_mode: WriteMode = WriteMode.REPLACE
    title: str | None = None
    retention: HistoryLimit | None = None
    inclusion: Inclusion | None = None
