"""The result of reading an import file, before anything is written: definition drafts with scenarios, and a report."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import astuple, field
from typing import Any

from cupel_core.deferred import dataclass
from cupel_core.domain.definitions.scenarios import Scenario

MAX_SCENARIOS = 10_000
"""Of a promptfoo configuration: variables with lists multiply, and an API request has seconds, not minutes."""
MAX_NOTES = 1_000
"""Per kind of note; a file may repeat one mistake ten thousand times."""
MAX_REASONS = 5
"""In the message about a file from which nothing is imported."""


@dataclass(frozen=True)
class ImportNote:
    """Something that was changed or skipped: `where` in the file, `what` it is, and `why`."""

    where: str
    what: str
    why: str


@dataclass
class ImportReport:
    """The parts of a file that an import took over (counts by kind), changed or skipped."""

    imported: Counter[str] = field(default_factory=Counter)
    changed: dict[ImportNote, None] = field(default_factory=dict)
    """Each note once, in order: a test yields the same note for every prompt."""
    skipped: dict[ImportNote, None] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        notes = {name: [astuple(note) for note in getattr(self, name)] for name in ("changed", "skipped")}
        return {"imported": dict(self.imported), **notes}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "ImportReport":
        changed, skipped = ({ImportNote(*note): None for note in data[name]} for name in ("changed", "skipped"))
        return cls(Counter(data["imported"]), changed, skipped)

    def reasons(self) -> str:
        """Why something was skipped, in words for the author of a file from which nothing is left."""
        notes = list(self.skipped)
        listed = "; ".join(f"{note.where}: {note.what}: {note.why}" for note in notes[:MAX_REASONS])
        return f"{listed}; and {len(notes) - MAX_REASONS} more" if len(notes) > MAX_REASONS else listed

    def count_imported(self, what: str, count: int = 1) -> None:
        self.imported[what] += count

    def note_change(self, where: str, what: str, why: str) -> None:
        _add(self.changed, ImportNote(where, what, why))

    def skip(self, where: str, what: str, why: str) -> None:
        _add(self.skipped, ImportNote(where, what, why))


def _add(notes: dict[ImportNote, None], note: ImportNote) -> None:
    if len(notes) < MAX_NOTES:
        notes[note] = None
    elif note not in notes:
        notes[ImportNote("", "and more", f"only the first {MAX_NOTES:,} notes are listed")] = None


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

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "content": dict(self.content),
            "scenarios": [scenario.to_json() for scenario in self.scenarios],
            "models": self.models,
            "tags": self.tags,
            "targets": [dict(target) for target in self.targets],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "DefinitionDraft":
        scenarios, targets = tuple(map(Scenario.from_json, data["scenarios"])), tuple(data["targets"])
        return cls(data["name"], data["content"], scenarios, tuple(data["models"]), tuple(data["tags"]), targets)


@dataclass(frozen=True)
class ConnectorDraft:
    """An agent that an imported file evaluates, of connector type `http`. The import does not create it."""

    name: str
    base_url: str
    config: Mapping[str, Any]
    headers: Mapping[str, str]
    """Headers to set; their values are only references to environment variables, such as `Bearer ${TOKEN}`."""

    def to_json(self) -> dict[str, Any]:
        """As the body of a request that creates it, and in a definition file."""
        return {
            "name": self.name,
            "type": "http",
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

    def to_json(self) -> dict[str, Any]:
        return {
            "drafts": [draft.to_json() for draft in self.drafts],
            "report": self.report.to_json(),
            "repeats": self.repeats,
            "temperature": self.temperature,
            "connectors": [connector.to_json() for connector in self.connectors],
            "dataUrls": dict(self.data_urls),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "ImportedSuite":
        drafts = tuple(map(DefinitionDraft.from_json, data["drafts"]))
        connectors = tuple(map(ConnectorDraft.from_json, data["connectors"]))
        report, urls = ImportReport.from_json(data["report"]), data["dataUrls"]
        return cls(drafts, report, data["repeats"], data["temperature"], connectors, urls)


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
