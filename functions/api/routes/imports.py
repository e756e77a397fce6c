"""Imports: evaluations in the formats of other tools become definitions with scenarios."""

from api.routing import OperationRouter
from cupel_core.base.clock import utc_now
from cupel_core.contract.imports import ImportDataset, ImportOptions, ImportPromptfoo, ImportResultResponse
from cupel_core.domain.definitions.datasets import DatasetFormat
from cupel_core.interop.imports import creation
from cupel_core.interop.imports.creation import ImportContext

router = OperationRouter()


@router.operation("importPromptfoo", status=201)
def import_promptfoo(body: ImportPromptfoo) -> ImportResultResponse:
    return ImportResultResponse.of(creation.import_promptfoo(_context(body), body.config, body.files))


@router.operation("importDataset", status=201)
def import_dataset(format: DatasetFormat, body: ImportDataset) -> ImportResultResponse:  # noqa: A002 - the name in the path
    return ImportResultResponse.of(
        creation.import_dataset(_context(body), body.content, format, body.name, body.scorer, body.options())
    )


def _context(body: ImportOptions) -> ImportContext:
    return ImportContext(router.workspace, utc_now(), dry_run=body.dry_run, folder=body.folder, uploads=body.uploads)
