from cupel_core.contract.imports import ImportDataset, ImportOptions, ImportPromptfoo, ImportResultResponse
from cupel_core.contract.operation import (
    MEMBER,
    Call,
    Replay,
    operation,
)
from cupel_core.domain.definitions.datasets import DatasetFormat
from cupel_core.interop.imports import creation
from cupel_core.interop.imports.creation import ImportContext


@operation(
    "POST /v1/imports/promptfoo",
    "Import a promptfoo configuration",
    role=MEMBER,
    returns="The new definitions, and what was changed or skipped",
    status=201,
    location="/v1/definitions/{definitions.0.id}",
    replay=Replay.RESPONSE,
)
def import_promptfoo(call: Call, body: ImportPromptfoo) -> ImportResultResponse:
    return ImportResultResponse.of(creation.import_promptfoo(_context(call, body), body.config, body.files))


@operation(
    "POST /v1/imports/{format}",
    "Import a dataset in another tool's format",
    role=MEMBER,
    returns="The new definition, and what was changed or skipped",
    status=201,
    location="/v1/definitions/{definitions.0.id}",
    replay=Replay.RESPONSE,
)
def import_dataset(call: Call, format: DatasetFormat, body: ImportDataset) -> ImportResultResponse:  # noqa: A002 - the name in the path
    return ImportResultResponse.of(
        creation.import_dataset(_context(call, body), body.content, format, body.name, body.scorer, body.options())
    )


def _context(call: Call, body: ImportOptions) -> ImportContext:
    return ImportContext(call.workspace, call.now, dry_run=body.dry_run, folder=body.folder, uploads=body.uploads)
