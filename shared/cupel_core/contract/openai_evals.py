"""Requests of OpenAI's Evals API. The official `openai` package has the specification (docs/decisions.md)."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, FiniteFloat, StringConstraints, model_validator

from cupel_core.contract.definitions import Name
from cupel_core.contract.fields import JsonObject
from cupel_core.contract.openai_fields import (
    MAX_GRADERS,
    NOT_COPIED,
    AnyGrader,
    CustomDataSource,
    Grader,
    MessageTemplate,
    Metadata,
    Model,
    OpenAIRequest,
    StoredDataSource,
    grader_json,
)
from cupel_core.contract.run_labels import RunName
from cupel_core.domain.turns.model_parameters import ReasoningEffort

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
    template: Annotated[list[MessageTemplate], Field(min_length=1, max_length=_MAX_TEMPLATE_MESSAGES)]

    def to_json(self) -> dict[str, Any]:
        return {"type": self.type, "template": [message.to_json() for message in self.template]}


class ItemReference(OpenAIRequest):
    type: Literal["item_reference"]
    item_reference: Annotated[str, StringConstraints(strict=True, pattern=r"^item[.\[]", max_length=500)]

    def to_json(self) -> dict[str, Any]:
        return {"type": self.type, "item_reference": self.item_reference}


InputMessages = Annotated[TemplateMessages | ItemReference, Field(discriminator="type")]


class SharedSampling(OpenAIRequest):
    max_completion_tokens: Annotated[int, Field(strict=True, ge=1, le=10_000_000)] | None = None
    temperature: Annotated[FiniteFloat, Field(ge=0, le=2)] | None = None
    top_p: Annotated[FiniteFloat, Field(gt=0, le=1)] | None = None
    seed: Annotated[int, Field(strict=True, ge=0, lt=2**53)] | None = None
    reasoning_effort: ReasoningEffort | None = None


class NamedSchema(OpenAIRequest):
    name: str
    schema_: Annotated[JsonObject | None, Field(alias="schema")] = None
    description: str | None = None
    strict: bool | None = None


class ChatFormat(OpenAIRequest):
    type: Literal["text", "json_object", "json_schema"]
    json_schema: NamedSchema | None = None


class ResponsesFormat(OpenAIRequest):
    type: Literal["text", "json_object", "json_schema"]
    name: str | None = None
    schema_: Annotated[JsonObject | None, Field(alias="schema")] = None
    description: str | None = None
    strict: bool | None = None


class ResponsesText(OpenAIRequest):
    format: ResponsesFormat | None = None
    verbosity: Literal["low", "medium", "high"] | None = None


class FunctionFields(OpenAIRequest):
    name: str
    description: str | None = None
    parameters: JsonObject | None = None
    strict: bool | None = None


class ChatTool(OpenAIRequest):
    type: Literal["function"]
    function: FunctionFields


class ResponsesTool(FunctionFields):
    type: Literal["function"]


class ChatSampling(SharedSampling):
    response_format: ChatFormat | None = None
    tools: list[ChatTool] | None = None


class ResponsesSampling(SharedSampling):
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
