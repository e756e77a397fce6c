"""The result of reading an import file, before anything is written: definition drafts with scenarios, and a report."""

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
"""In the message about a file from which nothing is imported."""


@dataclass(frozen=True)
class ImportNote:
    """Something that was changed or skipped: `where` in the file, `what` it is, and `why`."""

    where: str
    what: str
    why: str
    count: int = 1
    """It counts the places that the note stands for; `where` is the first of them."""


@dataclass
class ImportNotes:
    """It has the notes of one kind in order, each once: a test yields the same note for every prompt."""

    listed: dict[ImportNote, None] = field(default_factory=dict)
    places: Counter[tuple[str, str]] = field(default_factory=Counter)
    """It counts the notes of each cause; a cause is what a note is about, and why."""
    further: dict[tuple[str, str], ImportNote] = field(default_factory=dict)
    """It has the first note that is not listed for each cause; its `count` includes all further notes of the cause."""
    seen: set[int] = field(default_factory=set, compare=False)
    """These are the hashes of the notes that are only counted."""

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
    """The parts of a file that an import took over (counts by kind), changed or skipped."""

    imported: Counter[str] = field(default_factory=Counter)
    changed: ImportNotes = field(default_factory=ImportNotes)
    skipped: ImportNotes = field(default_factory=ImportNotes)

    def reasons(self) -> str:
        """Why something was skipped, in words for the author of a file from which nothing is left."""
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
    """A definition to be created by an import, and the models that its file runs it with."""

    name: str
    content: Mapping[str, Any]
    scenarios: tuple[Scenario, ...]
    models: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    targets: tuple[Mapping[str, Any], ...] = ()
    """The same models with labels and parameters, as in a request that starts a run."""

    @property
    def missing_models(self) -> tuple[MissingModel, ...]:
        """Return the models that its checks need and none of them names; a run must name these."""
        return missing_models(GraderConfig(), Content.from_json(self.content), self.scenarios)


@dataclass(frozen=True)
class ConnectorDraft:
    """An agent that an imported file evaluates, of connector type `http`. The import does not create it."""

    name: str
    base_url: str
    config: Mapping[str, Any]
    headers: Mapping[str, str]
    """Headers to set; their values are only references to environment variables, such as `Bearer ${TOKEN}`."""

    @property
    def type(self) -> ConnectorType:
        return ConnectorType.HTTP

    def to_json(self) -> dict[str, Any]:
        """Return the body of a request that creates it, which a definition file has, too."""
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
    """Everything read from one import file."""

    drafts: tuple[DefinitionDraft, ...]
    report: ImportReport
    repeats: int = 1
    temperature: float | None = None
    connectors: tuple[ConnectorDraft, ...] = ()
    data_urls: Mapping[str, str] = field(default_factory=dict)
    """Images and PDFs of the file's text, by the ids that messages name."""
    places: tuple[str, ...] = ()
    """Where in a table the scenarios of its draft are, such as `row 3 (line 4)`. Only the reader of the file has it."""


@dataclass(frozen=True)
class ImportedDefinition:
    """A draft and the id of the definition created from it; None in a dry run."""

    draft: DefinitionDraft
    definition_id: str | None


@dataclass(frozen=True)
class ImportResult:
    """The definitions of an import, with the suggested settings of a run and the report."""

    definitions: tuple[ImportedDefinition, ...]
    repeats: int
    temperature: float | None
    report: ImportReport
    connectors: tuple[ConnectorDraft, ...] = ()
