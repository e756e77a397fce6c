"""Writes what an import has read: definitions with their scenarios, after all of them have been checked."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from cupel_core.definitions import catalog
from cupel_core.definitions.catalog import Labels
from cupel_core.definitions.resolution import check
from cupel_core.errors import Invalid
from cupel_core.imports import datasets
from cupel_core.imports.drafts import Draft, Report, Suite
from cupel_core.imports.files import GivenFiles
from cupel_core.imports.json_documents import Unreadable
from cupel_core.store import scenarios


@dataclass(frozen=True)
class Made:
    """A draft, and the id of the definition it became; None when nothing was to be written."""

    draft: Draft
    definition_id: str | None


@dataclass(frozen=True)
class Imported:
    made: tuple[Made, ...]
    repeats: int
    temperature: float | None
    report: Report


@dataclass(frozen=True)
class Order:
    """What every import is told beside its text. A dry one writes nothing."""

    workspace: str
    now: datetime
    dry: bool = False
    folder: str | None = None


def promptfoo(order: Order, config: str, files: dict[str, str]) -> Imported:
    from cupel_core.imports.promptfoo import read

    return _write(order, "config", lambda: read(config, GivenFiles(files)))


def dataset(order: Order, text: str, kind: datasets.Format, name: str, scorer: datasets.Scorer | None) -> Imported:
    return _write(order, "content", lambda: datasets.read(text, kind, name, scorer))


def _write(order: Order, field: str, read: Callable[[], Suite]) -> Imported:
    try:
        suite = read()
    except Unreadable as error:
        raise Invalid.field(field, str(error)) from error
    for draft in suite.drafts:
        check(dict(draft.content))
    made = tuple(Made(draft, None if order.dry else _create(order, draft)) for draft in suite.drafts)
    return Imported(made, suite.repeats, suite.temperature, suite.report)


def _create(order: Order, draft: Draft) -> str:
    labels = Labels(draft.name, order.folder, draft.tags)
    definition = catalog.create(order.workspace, labels, draft.content, order.now)
    scenarios.append(order.workspace, definition.head.id, draft.scenarios)
    return definition.head.id
