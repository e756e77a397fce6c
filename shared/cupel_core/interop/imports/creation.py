from collections.abc import Mapping
from dataclasses import field, replace
from datetime import datetime

from cupel_core import sandbox
from cupel_core.base.deferred import dataclass
from cupel_core.base.errors import Invalid
from cupel_core.definitions import catalog
from cupel_core.definitions.files import catalog as catalog_of_files
from cupel_core.definitions.files.attachments import attach_to_scenarios
from cupel_core.definitions.validation import validate_content
from cupel_core.domain.codec import decode, encode
from cupel_core.domain.definitions.datasets import DatasetFormat, DatasetOptions, DatasetScorer
from cupel_core.domain.definitions.definitions import Labels
from cupel_core.domain.definitions.drafts import DefinitionDraft, ImportedDefinition, ImportedSuite, ImportResult
from cupel_core.domain.files import data_urls
from cupel_core.domain.files.formats import FileInfo
from cupel_core.store import definition_scenarios

LIMITS = sandbox.TaskLimits(cpu_seconds=10.0, memory_mb=320, max_output_bytes=64 << 20, wall_seconds=20.0)
"""The API's requests have 29 s. Aliases in YAML, templates and path patterns can take any time and memory."""


@dataclass(frozen=True)
class ImportContext:
    """Names the workspace and folder in which an import creates definitions. A dry run writes nothing."""

    workspace: str
    now: datetime
    dry_run: bool = False
    folder: str | None = None
    uploads: Mapping[str, str] = field(default_factory=dict)


def import_promptfoo(context: ImportContext, config: str, files: dict[str, str]) -> ImportResult:
    """Import a promptfoo configuration; `files` maps relative paths to the texts of the files it names.

    Raises `Invalid` if the configuration cannot be read, or nothing in it can be imported.
    """
    return _import(context, "config", "read_promptfoo", config, files, dict(context.uploads))


def import_dataset(
    context: ImportContext,
    text: str,
    kind: DatasetFormat,
    name: str,
    scorer: DatasetScorer | None,
    options: DatasetOptions = DatasetOptions(),  # noqa: B008 - frozen
) -> ImportResult:
    """Import a file of samples as one definition. Raises `Invalid` if a sample is invalid."""
    uploads = dict(context.uploads)
    return _import(context, "content", "read_samples", text, kind, name, scorer, encode(options), uploads)


def _import(context: ImportContext, field: str, task: str, *arguments: object) -> ImportResult:
    suite = _read_in_sandbox(context.workspace, field, task, arguments)
    if not suite.drafts:
        raise Invalid.field(field, f"nothing in it can be imported: {suite.report.reasons()}")
    for draft in suite.drafts:
        validate_content(dict(draft.content))
    drafts = suite.drafts if context.dry_run else _with_files(context, suite)
    definitions = tuple(
        ImportedDefinition(draft, None if context.dry_run else _create(context, draft)) for draft in drafts
    )
    return ImportResult(definitions, suite.repeats, suite.temperature, suite.report, suite.connectors)


def _with_files(context: ImportContext, suite: ImportedSuite) -> list[DefinitionDraft]:
    decoded = {file_id: data_urls.decode(url) for file_id, url in suite.data_urls.items()}
    infos = {file_id: file.info for file_id, file in decoded.items()}
    drafts = [_with_file_infos(context, draft, infos) for draft in suite.drafts]
    for content, info in decoded.values():
        catalog_of_files.store(context.workspace, f"imported.{info.format}", content, info, context.now)
    return drafts


def _with_file_infos(context: ImportContext, draft: DefinitionDraft, infos: Mapping[str, FileInfo]) -> DefinitionDraft:
    located = [(f'scenario "{each.name}"', each) for each in draft.scenarios]
    attached = attach_to_scenarios(context.workspace, located, context.now, also_known=infos)
    return replace(draft, scenarios=tuple(attached))


def _read_in_sandbox(workspace: str, field: str, task: str, arguments: tuple[object, ...]) -> ImportedSuite:
    sandbox.use_workspace(workspace)
    try:
        read = sandbox.run_blocking(f"cupel_core.interop.imports.sandbox_tasks:{task}", *arguments, limits=LIMITS)
    except sandbox.LimitExceeded as error:
        raise Invalid.field(field, f"reading it {error}") from None
    except sandbox.ExpressionError as error:
        raise Invalid.field(field, str(error)) from None
    return decode(ImportedSuite, read)


def _create(context: ImportContext, draft: DefinitionDraft) -> str:
    labels = Labels(draft.name, context.folder, draft.tags)
    definition = catalog.create(context.workspace, labels, draft.content, context.now)
    definition_scenarios.append(context.workspace, definition.head.id, draft.scenarios, context.now)
    return definition.head.id
