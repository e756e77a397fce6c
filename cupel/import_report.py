"""The report of an import as the command prints it: equal notes once, with how many there are."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from cupel.json_types import Json
from cupel_core.interop.imports.files import NOT_A_TEXT_FILE

if TYPE_CHECKING:
    from cupel_core.domain.definitions.drafts import ImportedSuite

MAX_LISTED = 50
"""Groups of notes of one kind; `--json` has all of them."""


def grouped_notes(notes: Sequence[Json]) -> list[Json]:
    """A note for each cause and thing, at the first place where it occurs, in order.

    What becomes of 200 tests for one reason is one line, so that the other reasons can be found.
    """
    groups: dict[tuple[str, str], list[Json]] = {}
    for note in notes:
        groups.setdefault((note["what"], note["why"]), []).append(note)
    listed = [_grouped(group) for group in list(groups.values())[:MAX_LISTED]]
    if len(groups) > MAX_LISTED:
        rest = sum(map(_count, list(groups.values())[MAX_LISTED:]))
        listed.append({"where": "", "what": f"{rest:,} more", "why": "print all of them with --json"})
    return listed


_MODEL_OPTIONS = {"judgeModel": "--judge-model", "embeddingModel": "--embedding-model"}
PLACEHOLDER = "provider/model"
"""Stands for a model that the user has to choose."""


def required_model_options(fields: Sequence[str]) -> list[str]:
    """The options of `cupel run` without which it would refuse the definition."""
    return [word for field in fields for word in (_MODEL_OPTIONS[field], PLACEHOLDER)]


def with_local_reasons(imported: Json, suite: "ImportedSuite") -> Json:
    """The response of the API with why files could not be read here, which the API was not sent."""
    reasons = {(note.where, note.what): note.why for note in suite.report.skipped}
    skipped = [_with_reason(note, reasons) for note in imported["report"]["skipped"]]
    return {**imported, "report": {**imported["report"], "skipped": skipped}}


def _with_reason(note: Json, reasons: Mapping[tuple[str, str], str]) -> Json:
    if not note["why"].endswith(NOT_A_TEXT_FILE):
        return note
    return {**note, "why": reasons.get((note["where"], note["what"]), note["why"])}


def _count(notes: Sequence[Json]) -> int:
    return sum(note.get("count", 1) for note in notes)


def _grouped(notes: Sequence[Json]) -> Json:
    first, count = notes[0], _count(notes)
    return first if count == 1 else {**first, "where": f"{first['where']} and {count - 1:,} more"}
