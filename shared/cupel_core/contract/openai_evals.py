"""Requests of OpenAI's Evals API. The official `openai` package has the specification (docs/decisions.md)."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, StringConstraints, model_validator

from cupel_core.contract.definitions import Name
from cupel_core.contract.fields import Flag, FunctionName, JsonObject
from cupel_core.contract.openai_fields import (
    MAX_GRADERS,
    NOT_COPIED,
    AnyGrader,
    CustomDataSource,
    Grader,
    InputMessage,
    MaxTokens,
    Metadata,
    Model,
    OpenAIRequest,
    SharedSampling,
    StoredDataSource,
    grader_json,
)
from cupel_core.contract.parameters import JsonSchema
from cupel_core.contract.run_labels import RunName

MAX_ROWS = 10_000
"""Of a run. Cupel's own API takes definitions with 100,000 scenarios."""
_MAX_TEMPLATE_MESSAGES = 100


class CreateOpenAIEval(OpenAIRequest):
    name: Name | None = None
    data_source_config: Annotated[CustomDataSource | StoredDataSource, Field(discriminator="type")]
    testing_criteria: Annotated[list[Grader], Field(min_length=1, max_length=MAX_GRADERS)]
    metadata: Metadata | None = None

    def graders(self) -> list[dict[str, Any]]:
        return [grader_json(grader) for grader in self.testing_criteria]


class UpdateOpenAIEval(OpenAIRequest):
    name: Name | None = None
    metadata: Metadata | None = None


class DataRow(OpenAIRequest):
    """Lines of an export of OpenAI's dashboard have further fields, such as `grades`."""

    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)

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


class StoredSource(OpenAIRequest):
    """Refused, whatever its filters are."""

    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)

    type: Literal["stored_completions", "responses"]

    @model_validator(mode="after")
    def _is_refused(self) -> "StoredSource":
        raise ValueError(NOT_COPIED)


RowSource = Annotated[FileContent | FileId | StoredSource, Field(discriminator="type")]


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
    source: RowSource


class _SampledDataSource(OpenAIRequest):
    model: Model
    source: RowSource
    input_messages: InputMessages


class CompletionsDataSource(_SampledDataSource):
    type: Literal["completions"]
    sampling_params: ChatSampling | None = None


class ResponsesDataSource(_SampledDataSource):
    type: Literal["responses"]
    sampling_params: ResponsesSampling | None = None


class CreateOpenAIEvalRun(OpenAIRequest):
    data_source: Annotated[JsonlDataSource | CompletionsDataSource | ResponsesDataSource, Field(discriminator="type")]
    name: RunName | None = None
    metadata: Metadata | None = None


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
