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
    folder: Annotated[Folder | None, Field(description="Folder for the imported definitions")] = None
    dry_run: Annotated[Flag, Field(description="Report what would be created without creating it")] = False
    uploads: Annotated[
        dict[Annotated[str, Field(max_length=1_000)], FileId],
        Field(
            default_factory=dict,
            max_length=10_000,
            description="Ids of the images and PDFs it refers to, by path relative to the imported file; they were "
            "uploaded before, with `POST /v1/files`",
        ),
    ]


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

    config: Annotated[FileText, Field(description="Content of promptfooconfig.yaml, as YAML or JSON")]
    files: Annotated[
        dict[
            Annotated[str, Field(max_length=1_000)],
            Annotated[str, Field(strict=True, max_length=MAX_TEXT_LENGTH)],
        ],
        Field(
            default_factory=dict,
            max_length=1_000,
            description="Contents of the files it references, by path relative to the configuration file",
        ),
    ]


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

    name: Annotated[Name, Field(description="Name of the new definition")]
    content: Annotated[FileText, Field(description="Content of the file as text")]
    scorer: Annotated[
        DatasetScorer | None,
        Field(
            description="How a response is compared with the expected answer; defaults to `includes`, or to `match` "
            "for OpenAI evals"
        ),
    ] = None
    input_column: Annotated[
        ColumnName | None,
        Field(description="The column with the prompt; by default one with a known name, such as `question`"),
    ] = None
    answer_column: Annotated[
        ColumnName | None,
        Field(description="The column with the expected answer; by default one with a known name, such as `answer`"),
    ] = None
    id_column: Annotated[
        ColumnName | None, Field(description="The column with the scenarios' names; by default `id` or `name`")
    ] = None
    offset: Annotated[int, Field(strict=True, ge=0, le=MAX_ROWS, description="How many rows are skipped")] = 0
    limit: Annotated[
        int | None, Field(strict=True, ge=1, le=MAX_SCENARIOS, description="How many rows are read after that")
    ] = None
    assertions: Annotated[
        Assertions,
        Field(
            default_factory=list,
            description="Assertions of the definition, which may use the columns as variables, such as `{{answer}}`; "
            "they replace the default comparison",
        ),
    ]

    def options(self) -> DatasetOptions:
        columns = ColumnMapping(self.input_column, self.answer_column, self.id_column)
        return DatasetOptions(columns, self.limit, self.offset, tuple(self.assertions))


class ImportNoteResponse(ResponseModel):
    where: Annotated[str, Field(description="Location in the file")]
    what: str
    why: str
    count: Annotated[
        int,
        Field(description="How many places it stands for: of one cause, places after the hundredth are counted only"),
    ] = 1


class ImportReportResponse(ResponseModel):
    imported: Annotated[dict[str, int], Field(description="Number of imported items by kind")]
    changed: Annotated[list[ImportNoteResponse], Field(description="What was converted to something similar")]
    skipped: Annotated[list[ImportNoteResponse], Field(description="What was not imported")]


class ImportedDefinitionResponse(ResponseModel):
    id: Annotated[str | None, Field(description="Id of the new definition; null in a dry run")]
    name: str
    content: dict[str, Any]
    scenario_count: int
    required_models: Annotated[
        list[str],
        Field(description="What a run of it must name for its checks: `judgeModel`, `embeddingModel`, both or none"),
    ]
    models: Annotated[list[str], Field(description="Models the imported file evaluates")]
    targets: Annotated[
        list[dict[str, Any]], Field(description="The same with labels and parameters, as in `targets` of a run")
    ]

    @classmethod
    def of(cls, definition: ImportedDefinition) -> "ImportedDefinitionResponse":
        draft = definition.draft
        required = [each.field for each in draft.missing_models]
        return cls.from_value(
            draft, id=definition.definition_id, scenario_count=len(draft.scenarios), required_models=required
        )


class ImportedConnectorResponse(ResponseModel):
    name: str
    type: Annotated[ConnectorType, Field(description="Always `http`")]
    base_url: str
    config: dict[str, Any]
    headers: Annotated[
        dict[str, str], Field(description="Headers to set, with environment variables in place of secrets")
    ]


class ImportResultResponse(ResponseModel):
    definitions: list[ImportedDefinitionResponse]
    repeats: int
    temperature: float | None
    report: ImportReportResponse
    connectors: Annotated[
        list[ImportedConnectorResponse],
        Field(description="Agents that the file evaluates, as connectors to create; the import creates none"),
    ]

    @classmethod
    def of(cls, result: ImportResult) -> "ImportResultResponse":
        return cls.from_value(result, definitions=list(map(ImportedDefinitionResponse.of, result.definitions)))
