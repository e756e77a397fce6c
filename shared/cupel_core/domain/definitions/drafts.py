from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, field, replace
from typing import Any

from cupel_core.base.deferred import dataclass
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.definitions.required_models import MissingModel, missing_models
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.resources.connectors import ConnectorType
from cupel_core.domain.scoring.grader_config import GraderConfig

MAX_CAUSES = 1_000
"""A report lists notes of one kind for at most this many different causes."""
MAX_PLACES = 100
"""A report lists at most this many places for one cause and counts the others, because a mistake may be repeated
often."""
MAX_REASONS = 5
"""The message about a file from which nothing is imported has at most this many reasons."""


@dataclass(frozen=True)
class ImportNote:
    """Describes something that was changed or skipped: `where` in the file, `what` it is, and `why`."""

    where: str
    what: str
    why: str
    count: int = 1
    """The note stands for this many places, of which `where` is the first."""


@dataclass
class ImportNotes:
    """Contains notes of one kind in order, each once, because a test yields the same note for every prompt."""

    listed: dict[ImportNote, None] = field(default_factory=dict)
    places: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Counts the notes of each cause; a cause is what a note is about, and why."""
    further: dict[tuple[str, str], ImportNote] = field(default_factory=dict)
    """The first unlisted note of each cause; its `count` includes all further notes of the cause."""
    seen: set[int] = field(default_factory=set, compare=False)
    """The hashes of the notes that are only counted."""

    def __iter__(self) -> Iterator[ImportNote]:
        yield from self.listed
        yield from self.further.values()

    def __len__(self) -> int:
        return len(self.listed) + len(self.further)

    def add(self, note: ImportNote) -> None:
        cause = (note.what, note.why)
        if note in self.listed or hash(note) in self.seen:
            return
        if cause not in self.places and len(self.places) >= MAX_CAUSES:
            note = ImportNote("", "and more", f"only the first {MAX_CAUSES:,} reasons are listed")
            self.listed[note] = None
            return
        self.places[cause] += 1
        if self.places[cause] <= MAX_PLACES:
            self.listed[note] = None
        else:
            self.seen.add(hash(note))
            first = self.further.get(cause, replace(note, count=0))
            self.further[cause] = replace(first, count=first.count + 1)

    def to_json(self) -> list[tuple[Any, ...]]:
        return [astuple(note) for note in self]

    @classmethod
    def from_json(cls, data: Iterable[Sequence[Any]]) -> "ImportNotes":
        notes = [ImportNote(*each) for each in data]
        listed = {note: None for note in notes if note.count == 1}
        further = {(note.what, note.why): note for note in notes if note.count > 1}
        places = Counter((note.what, note.why) for note in listed)
        for cause, note in further.items():
            places[cause] += note.count
        return cls(listed, places, further)


@dataclass
class ImportReport:
    """Lists the parts of a file that an import took over (counts by kind), changed or skipped."""

    imported: Counter[str] = field(default_factory=Counter)
    changed: ImportNotes = field(default_factory=ImportNotes)
    skipped: ImportNotes = field(default_factory=ImportNotes)

    def reasons(self) -> str:
        """Return why parts were skipped, for the author of a file from which nothing is left."""
        notes = list(self.skipped)
        listed = "; ".join(f"{note.where}: {note.what}: {note.why}" for note in notes[:MAX_REASONS])
        return f"{listed}; and {len(notes) - MAX_REASONS} more" if len(notes) > MAX_REASONS else listed

    def count_imported(self, what: str, count: int = 1) -> None:
        self.imported[what] += count

    def note_change(self, where: str, what: str, why: str) -> None:
        self.changed.add(ImportNote(where, what, why))

    def skip(self, where: str, what: str, why: str) -> None:
        self.skipped.add(ImportNote(where, what, why))


@dataclass(frozen=True)
class DefinitionDraft:
    name: str
    content: Mapping[str, Any]
    scenarios: tuple[Scenario, ...]
    models: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    targets: tuple[Mapping[str, Any], ...] = ()
    """The same models with labels and parameters, as in a request that starts a run."""

    @property
    def missing_models(self) -> tuple[MissingModel, ...]:
        return missing_models(GraderConfig(), Content.from_json(self.content), self.scenarios)


@dataclass(frozen=True)
class ConnectorDraft:
    """Describes an agent of connector type `http` that an imported file evaluates. The import does not create it."""

    name: str
    base_url: str
    config: Mapping[str, Any]
    headers: Mapping[str, str]
    """The values are only references to environment variables, such as `Bearer ${TOKEN}`."""

    @property
    def type(self) -> ConnectorType:
        return ConnectorType.HTTP

    def to_json(self) -> dict[str, Any]:
        """Return the body of a request that creates the agent, which is also part of a definition file."""
        return {
            "name": self.name,
            "type": self.type.value,
            "baseUrl": self.base_url,
            "config": dict(self.config),
            "headers": dict(self.headers),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "ConnectorDraft":
        return cls(data["name"], data["baseUrl"], data["config"], data["headers"])


@dataclass(frozen=True)
class ImportedSuite:
    drafts: tuple[DefinitionDraft, ...]
    report: ImportReport
    repeats: int = 1
    temperature: float | None = None
    connectors: tuple[ConnectorDraft, ...] = ()
    data_urls: Mapping[str, str] = field(default_factory=dict)
    """Images and PDFs of the file's text, by the ids that messages name."""
    places: tuple[str, ...] = ()
    """The scenarios are at these places of a table, such as `row 3 (line 4)`. Only the reader of the file has them."""


@dataclass(frozen=True)
class ImportedDefinition:
    """Contains a draft and the id of the definition created from it; None in a dry run."""

    draft: DefinitionDraft
    definition_id: str | None


@dataclass(frozen=True)
class ImportResult:
    definitions: tuple[ImportedDefinition, ...]
    repeats: int
    temperature: float | None
    report: ImportReport
    connectors: tuple[ConnectorDraft, ...] = ()
