"""Requests of OpenAI's Evals API. The official `openai` package has the specification (docs/decisions.md)."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, StringConstraints, ValidationInfo, field_validator

from cupel_core.contract.definitions import Name
from cupel_core.contract.fields import Flag, FunctionName, JsonObject
from cupel_core.contract.openai_fields import (
    MAX_GRADERS,
    AnyGrader,
    CustomDataSource,
    Grader,
    Ignored,
    InputMessage,
    MaxTokens,
    Metadata,
    Model,
    OpenAIRequest,
    ReadOnly,
    SharedSampling,
    StoredDataSource,
    grader_json,
)
from cupel_core.contract.parameters import JsonSchema
from cupel_core.contract.run_labels import RunName

MAX_ROWS = 10_000
"""A run has at most this many. Cupel's own API takes definitions with 100,000 scenarios."""
_MAX_TEMPLATE_MESSAGES = 100
MAX_TIMESTAMP = 32_503_680_000
"""The year 3000, in seconds."""


class CreateOpenAIEval(OpenAIRequest):
    name: Name | None = None
    data_source_config: Annotated[CustomDataSource | StoredDataSource, Field(discriminator="type")]
    testing_criteria: Annotated[list[Grader], Field(min_length=1, max_length=MAX_GRADERS)]
    metadata: Metadata | None = None
    share_with_openai: Ignored = None
    id: ReadOnly = None
    object: ReadOnly = None
    created_at: ReadOnly = None
    updated_at: ReadOnly = None

    def graders(self) -> list[dict[str, Any]]:
        return [grader_json(grader) for grader in self.testing_criteria]


class UpdateOpenAIEval(OpenAIRequest):
    name: Name | None = None
    metadata: Metadata | None = None


class DataRow(OpenAIRequest):
    """Lines of an export of OpenAI's dashboard have further fields, such as `grades`."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    item: JsonObject
    sample: JsonObject | None = None


class FileContent(OpenAIRequest):
    type: Literal["file_content"]
    content: Annotated[list[DataRow], Field(min_length=1, max_length=MAX_ROWS)]

    def rows(self) -> list[dict[str, Any]]:
        return [row.model_dump(mode="json", exclude_none=True) for row in self.content]


class FileId(OpenAIRequest):
    type: Literal["file_id"]
    id: Annotated[str, StringConstraints(strict=True, min_length=1, max_length=200)]


class StoredAnswers(OpenAIRequest):
    """Answers of the workspace's runs: `metadata` is that of the runs, and adds to the eval's."""

    metadata: Metadata | None = None
    model: Model | None = None
    created_after: Annotated[int, Field(strict=True, ge=0, le=MAX_TIMESTAMP)] | None = None
    created_before: Annotated[int, Field(strict=True, ge=0, le=MAX_TIMESTAMP)] | None = None
    limit: Annotated[int, Field(strict=True, ge=1, le=MAX_ROWS)] | None = None

    def to_json(self) -> dict[str, Any]:
        return self.model_dump(mode="json", exclude_none=True)


class StoredCompletions(StoredAnswers):
    type: Literal["stored_completions"]


class StoredResponses(StoredAnswers):
    """The service's other filters are refused, because an ignored filter would choose other answers."""

    type: Literal["responses"]
    instructions_search: None = None
    users: None = None
    tools: None = None
    temperature: None = None
    top_p: None = None
    reasoning_effort: None = None
    has_tool_calls: None = None
    allow_parallel_tool_calls: None = None


CompletionsSource = Annotated[FileContent | FileId | StoredCompletions, Field(discriminator="type")]
ResponsesSource = Annotated[FileContent | FileId | StoredResponses, Field(discriminator="type")]


class TemplateMessages(OpenAIRequest):
    type: Literal["template"]
    template: Annotated[list[InputMessage], Field(min_length=1, max_length=_MAX_TEMPLATE_MESSAGES)]

    def to_json(self) -> dict[str, Any]:
        return {"type": self.type, "template": [message.to_json() for message in self.template]}


class ItemReference(OpenAIRequest):
    type: Literal["item_reference"]
    item_reference: Annotated[str, StringConstraints(strict=True, pattern=r"^item[.\[]", max_length=500)]

    def to_json(self) -> dict[str, Any]:
        return {"type": self.type, "item_reference": self.item_reference}


InputMessages = Annotated[TemplateMessages | ItemReference, Field(discriminator="type")]


class NamedSchema(OpenAIRequest):
    name: FunctionName
    schema_: Annotated[JsonSchema | None, Field(alias="schema")] = None
    description: str | None = None
    strict: Flag | None = None


class PlainFormat(OpenAIRequest):
    type: Literal["text", "json_object"]


class ChatSchemaFormat(OpenAIRequest):
    type: Literal["json_schema"]
    json_schema: NamedSchema


class ResponsesSchemaFormat(OpenAIRequest):
    type: Literal["json_schema"]
    name: FunctionName
    schema_: Annotated[JsonSchema, Field(alias="schema")]
    description: str | None = None
    strict: Flag | None = None


class ResponsesText(OpenAIRequest):
    format: Annotated[PlainFormat | ResponsesSchemaFormat, Field(discriminator="type")] | None = None
    verbosity: Ignored = None


class _FunctionTool(OpenAIRequest):
    """Other tools run on OpenAI's servers, or call one."""

    type: Literal["function"]


class FunctionFields(OpenAIRequest):
    name: FunctionName
    description: str | None = None
    parameters: JsonSchema | None = None
    strict: Flag | None = None


class ChatTool(_FunctionTool):
    function: FunctionFields


class ResponsesTool(FunctionFields, _FunctionTool):
    """A missing name is the second error, not the first, if the type is another one."""


class RunSampling(SharedSampling):
    max_completion_tokens: MaxTokens = None


class ChatSampling(RunSampling):
    response_format: Annotated[PlainFormat | ChatSchemaFormat, Field(discriminator="type")] | None = None
    tools: list[ChatTool] | None = None


class ResponsesSampling(RunSampling):
    text: ResponsesText | None = None
    tools: list[ResponsesTool] | None = None


class JsonlDataSource(OpenAIRequest):
    """Graded as it is: no model is called."""

    type: Literal["jsonl"]
    source: Annotated[FileContent | FileId, Field(discriminator="type")]


class SampledDataSource(OpenAIRequest):
    """Stored answers are graded as they are, unless a model is given."""

    source: CompletionsSource | ResponsesSource
    model: Annotated[Model | None, Field(validate_default=True)] = None
    input_messages: Annotated[InputMessages | None, Field(validate_default=True)] = None

    @field_validator("model", "input_messages")
    @classmethod
    def _asks(cls, value: Any, info: ValidationInfo) -> Any:
        if value is None and isinstance(info.data.get("source"), FileContent | FileId):
            raise ValueError("is required, unless the source is stored answers")
        if value is not None and info.field_name == "input_messages" and info.data.get("model", value) is None:
            raise ValueError("needs a model that is asked")
        return value

    @property
    def asked_messages(self) -> "TemplateMessages | ItemReference | None":
        """None if stored answers are graded as they are."""
        if self.model is None:
            return None
        return self.input_messages or ItemReference(type="item_reference", item_reference="item.input")


class CompletionsDataSource(SampledDataSource):
    type: Literal["completions"]
    source: CompletionsSource
    sampling_params: ChatSampling | None = None


class ResponsesDataSource(SampledDataSource):
    type: Literal["responses"]
    source: ResponsesSource
    sampling_params: ResponsesSampling | None = None


class CreateOpenAIEvalRun(OpenAIRequest):
    data_source: Annotated[JsonlDataSource | CompletionsDataSource | ResponsesDataSource, Field(discriminator="type")]
    name: RunName | None = None
    metadata: Metadata | None = None
    share_with_openai: Ignored = None


class CreateUpload(OpenAIRequest):
    bytes: Annotated[int, Field(strict=True, ge=1)]
    filename: Annotated[str, StringConstraints(strict=True, min_length=1, max_length=300)]
    mime_type: Annotated[str, StringConstraints(strict=True, max_length=200)]
    purpose: Literal["evals"]


class CompleteUpload(OpenAIRequest):
    part_ids: Annotated[list[str], Field(min_length=1, max_length=64)]
    md5: str | None = None


class ValidateGrader(OpenAIRequest):
    grader: AnyGrader


class RunGrader(OpenAIRequest):
    grader: AnyGrader
    model_sample: Annotated[str, StringConstraints(strict=True, max_length=500_000)]
    item: JsonObject | None = None
