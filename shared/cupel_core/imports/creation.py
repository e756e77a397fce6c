"""Creates the definitions and scenarios of an import, after all of them have been validated."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from cupel_core.definitions import catalog
from cupel_core.definitions.validation import validate_content
from cupel_core.domain.definitions.datasets import DatasetFormat, DatasetScorer
from cupel_core.domain.definitions.definitions import Labels
from cupel_core.domain.definitions.drafts import DefinitionDraft, ImportedDefinition, ImportedSuite, ImportResult
from cupel_core.errors import Invalid
from cupel_core.imports import datasets
from cupel_core.imports.files import InMemoryFiles
from cupel_core.imports.json_documents import InvalidDocument
from cupel_core.store import definition_scenarios


@dataclass(frozen=True)
class ImportContext:
    """The workspace and folder in which an import creates definitions. A dry run writes nothing."""

    workspace: str
    now: datetime
    dry_run: bool = False
    folder: str | None = None


def import_promptfoo(context: ImportContext, config: str, files: dict[str, str]) -> ImportResult:
    """Import a promptfoo configuration; `files` are the texts of the files it names, by relative path.

    Raises `Invalid` if the configuration cannot be read.
    """
    from cupel_core.imports.promptfoo import read_config

    return _import(context, "config", lambda: read_config(config, InMemoryFiles(files)))


def import_dataset(
    context: ImportContext, text: str, kind: DatasetFormat, name: str, scorer: DatasetScorer | None
) -> ImportResult:
    """Import a file of samples as one definition named `name`. Raises `Invalid` if a sample is invalid."""
    return _import(context, "content", lambda: datasets.read_dataset(text, kind, name, scorer))


def _import(context: ImportContext, field: str, read: Callable[[], ImportedSuite]) -> ImportResult:
    try:
        suite = read()
    except InvalidDocument as error:
        raise Invalid.field(field, str(error)) from error
    for draft in suite.drafts:
        validate_content(dict(draft.content))
    definitions = tuple(
        ImportedDefinition(draft, None if context.dry_run else _create(context, draft)) for draft in suite.drafts
    )
    return ImportResult(definitions, suite.repeats, suite.temperature, suite.report)


def _create(context: ImportContext, draft: DefinitionDraft) -> str:
    labels = Labels(draft.name, context.folder, draft.tags)
    definition = catalog.create(context.workspace, labels, draft.content, context.now)
    definition_scenarios.append(context.workspace, definition.head.id, draft.scenarios, context.now)
    return definition.head.id
