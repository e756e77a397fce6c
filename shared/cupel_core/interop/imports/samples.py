"""Defines a sample of a dataset as its file has it, and notes that a report combines for all samples concerned."""

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any

from cupel_core.base.deferred import dataclass
from cupel_core.domain.definitions.datasets import DatasetScorer
from cupel_core.domain.definitions.drafts import ImportReport
from cupel_core.domain.text.control_characters import single_line
from cupel_core.interop.imports.json_documents import to_json
from cupel_core.interop.imports.media import ImportedMedia

_MAX_NAME_LENGTH = 500


@dataclass
class Notes:
    report: ImportReport
    counts: dict[tuple[str, str, bool], tuple[str, int]] = field(default_factory=dict)

    def change(self, where: str, what: str, why: str) -> None:
        self._count(where, (what, why, True))

    def skip(self, where: str, what: str, why: str) -> None:
        self._count(where, (what, why, False))

    def _count(self, where: str, key: tuple[str, str, bool]) -> None:
        first, count = self.counts.get(key, (where, 0))
        self.counts[key] = (first, count + 1)

    def add_to_report(self) -> None:
        for (what, why, is_change), (first, count) in self.counts.items():
            more = f" and {count - 1:,} more" if count > 1 else ""
            note = self.report.note_change if is_change else self.report.skip
            note(f"{first}{more}", what, why)


@dataclass(frozen=True)
class Sample:
    where: str
    fields: Mapping[str, Any]
    scorer: DatasetScorer | None
    notes: Notes
    media: ImportedMedia
    compares: bool = True
    """If true, the expected answer becomes an assertion; otherwise the author's own assertions compare with it."""

    def with_fields(self, fields: Mapping[str, Any]) -> "Sample":
        return replace(self, fields=fields)


class UsedNames:
    """Numbers repeated names of scenarios: results are distinguished by name."""

    def __init__(self) -> None:
        self._next: dict[str, int] = {}

    def add(self, name: str) -> str:
        """Return the name, with a number if it was used before, or an empty name if there is none."""
        unique, number = name, self._next.get(name, 1)
        while name and unique in self._next:
            number += 1
            unique = f"{name[: _MAX_NAME_LENGTH - 10]} ({number})"
        self._next[name], self._next[unique] = number, self._next.get(unique, 1)
        return unique


def texts_of(value: Any) -> list[str]:
    """Convert expected answers to stripped texts: 0 and false are answers, null and blanks are none."""
    values = value if isinstance(value, list) else [value]
    texts = [item if isinstance(item, str) else to_json(item) for item in values if item is not None]
    return [stripped for text in texts if (stripped := text.strip())]


def non_empty(sample: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: sample[name] for name in names if sample.get(name) not in (None, "", [])}


def sample_name(value: Any) -> str:
    return "" if value is None else single_line(str(value))[:_MAX_NAME_LENGTH]
