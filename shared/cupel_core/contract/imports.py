"""Imports of evaluations and datasets in the formats of other tools."""

from typing import Annotated, Any

from pydantic import Field

from cupel_core.contract.common import RequestModel, ResponseModel, example
from cupel_core.contract.content_parts import FileId
from cupel_core.contract.definitions import Folder, Name
from cupel_core.contract.fields import Assertions, Flag
from cupel_core.domain.definitions.datasets import ColumnMapping, DatasetOptions, DatasetScorer
from cupel_core.domain.definitions.drafts import ImportedDefinition, ImportResult
from cupel_core.domain.definitions.scenarios import MAX_SCENARIOS
from cupel_core.domain.resources.connectors import ConnectorType

MAX_TEXT_LENGTH = 5_000_000
"""A request to a Lambda function has at most 6 MB."""
MAX_ROWS = 100_000_000
ColumnName = Annotated[str, Field(strict=True, min_length=1, max_length=1_000)]
FileText = Annotated[str, Field(strict=True, min_length=1, max_length=MAX_TEXT_LENGTH)]


class ImportOptions(RequestModel):
    folder: Folder | None = None
    """Folder for the imported definitions."""
    dry_run: Flag = False
    """Report what would be created without creating it."""
    uploads: Annotated[
        dict[Annotated[str, Field(max_length=1_000)], FileId], Field(default_factory=dict, max_length=10_000)
    ]
    """Ids of its images and PDFs, uploaded before with `POST /v1/files`, by path relative to the imported file.

    Example: {"images/cat.png": "file_9f86d081884c7d659a2feaa0c55ad015"}
    """


class ImportPromptfoo(ImportOptions):
    """A promptfoo configuration. Nothing in it is executed or fetched."""

    model_config = example(
        {
            "folder": "imported",
            "dryRun": True,
            "config": "prompts:\n  - file://prompt.txt\ntests:\n  - vars: {question: How do I get a refund?}\n",
            "files": {"prompt.txt": "{{question}}"},
        }
    )

    config: FileText
    """Content of promptfooconfig.yaml, as YAML or JSON."""
    files: Annotated[
        dict[
            Annotated[str, Field(max_length=1_000)],
            Annotated[str, Field(strict=True, max_length=MAX_TEXT_LENGTH)],
        ],
        Field(default_factory=dict, max_length=1_000),
    ]
    """Contents of the files it references, by path relative to the configuration file."""


class ImportDataset(ImportOptions):
    model_config = example(
        {
            "name": "GSM8K sample",
            "content": '{"input": "2 + 2 = ?", "target": "4"}\n',
            "scorer": "includes",
            "inputColumn": "input",
            "limit": 1000,
            "dryRun": False,
        }
    )

    name: Name
    """Name of the new definition."""
    content: FileText
    """Content of the file as text."""
    scorer: DatasetScorer | None = None
    """Comparison with the expected answer; defaults to `includes`, or to `match` for OpenAI evals."""
    input_column: ColumnName | None = None
    """Column with the prompt; by default one with a known name, such as `question`."""
    answer_column: ColumnName | None = None
    """Column with the expected answer; by default one with a known name, such as `answer`. Example: target"""
    id_column: ColumnName | None = None
    """The column with the scenarios' names; by default `id` or `name`. Example: id"""
    offset: Annotated[int, Field(strict=True, ge=0, le=MAX_ROWS)] = 0
    """Number of rows to skip. Example: 0"""
    limit: Annotated[int | None, Field(strict=True, ge=1, le=MAX_SCENARIOS)] = None
    """Number of rows to read after that."""
    assertions: Annotated[Assertions, Field(default_factory=list)]
    """Assertions of the definition instead of the default comparison; they may use the columns as variables, such as
    `{{answer}}`."""

    def options(self) -> DatasetOptions:
        columns = ColumnMapping(self.input_column, self.answer_column, self.id_column)
        return DatasetOptions(columns, self.limit, self.offset, tuple(self.assertions))


class ImportNoteResponse(ResponseModel):
    where: str
    """Location in the file. Example: summarize"""
    what: str
    """The part of the file that was changed or skipped. Example: tests.0.assert.1"""
    why: str
    """Reason for the change or omission. Example: code in JavaScript is never executed"""
    count: int = 1
    """Number of places it stands for: of one cause, those after the hundredth are only counted."""


class ImportReportResponse(ResponseModel):
    imported: dict[str, int]
    """Number of imported items by kind. Example: {"definitions": 1, "scenarios": 2}"""
    changed: list[ImportNoteResponse]
    """Parts that were converted to something similar."""
    skipped: list[ImportNoteResponse]
    """Parts that were not imported."""


class ImportedDefinitionResponse(ResponseModel):
    id: str | None
    """Id of the new definition; null in a dry run. Example: def_01"""
    name: str
    content: dict[str, Any]
    """Content of the new definition. Example: {"template": "{{question}}"}"""
    scenario_count: int
    """Number of scenarios."""
    required_models: list[str]
    """Settings that a run needs for its checks: `judgeModel`, `embeddingModel`, both or none.

    Example: ["judgeModel"]
    """
    models: list[str]
    """Models the imported file evaluates."""
    targets: list[dict[str, Any]]
    """The same with labels and parameters, as in `targets` of a run.

    Example: [{"model": "openai/gpt-6.1-terra", "label": "sober", "params": {"temperature": 0}}]
    """

    @classmethod
    def of(cls, definition: ImportedDefinition) -> "ImportedDefinitionResponse":
        draft = definition.draft
        required = [each.field for each in draft.missing_models]
        return cls.from_value(
            draft, id=definition.definition_id, scenario_count=len(draft.scenarios), required_models=required
        )


class ImportedConnectorResponse(ResponseModel):
    name: str
    type: ConnectorType
    """Always `http`."""
    base_url: str
    """Example: https://agent.example.com/v1"""
    config: dict[str, Any]
    headers: dict[str, str]
    """Headers to set, with environment variables in place of secrets."""


class ImportResultResponse(ResponseModel):
    definitions: list[ImportedDefinitionResponse]
    """The definitions that were created."""
    repeats: int
    temperature: float | None
    report: ImportReportResponse
    """Changed and skipped parts."""
    connectors: list[ImportedConnectorResponse]
    """Agents that the file evaluates, as connectors to create; the import creates none."""

    @classmethod
    def of(cls, result: ImportResult) -> "ImportResultResponse":
        return cls.from_value(result, definitions=list(map(ImportedDefinitionResponse.of, result.definitions)))
