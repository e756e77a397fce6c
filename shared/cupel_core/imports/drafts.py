"""What an import comes to before anything is written: definitions with their scenarios, and a report about the rest."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cupel_core.domain.definitions.scenarios import Scenario

MAX_SCENARIOS = 10_000
"""Of one import; a request has seconds, not minutes."""
MAX_NOTES = 1_000
"""Of each sort; a file with one mistake may make it ten thousand times."""


@dataclass(frozen=True)
class Note:
    """Something that did not come over as it was: where it stands, what it is, and why."""

    where: str
    what: str
    why: str


@dataclass
class Report:
    """What was taken, counted; what was changed on the way; and what was left behind."""

    taken: Counter[str] = field(default_factory=Counter)
    changes: dict[Note, None] = field(default_factory=dict)
    """Each once, in order: of two prompts, a test tells the same."""
    leavings: dict[Note, None] = field(default_factory=dict)

    def take(self, what: str, count: int = 1) -> None:
        self.taken[what] += count

    def change(self, where: str, what: str, why: str) -> None:
        _add(self.changes, Note(where, what, why))

    def leave(self, where: str, what: str, why: str) -> None:
        _add(self.leavings, Note(where, what, why))


def _add(notes: dict[Note, None], note: Note) -> None:
    if len(notes) < MAX_NOTES:
        notes[note] = None
    elif note not in notes:
        notes[Note("", "and more", f"the first {MAX_NOTES:,} are told")] = None


@dataclass(frozen=True)
class Draft:
    """A definition that an import would make, and which models its file runs it with."""

    name: str
    content: Mapping[str, Any]
    scenarios: tuple[Scenario, ...]
    models: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Suite:
    drafts: tuple[Draft, ...]
    report: Report
    repeats: int = 1
    temperature: float | None = None
