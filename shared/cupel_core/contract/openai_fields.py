"""Parts of requests in the shape of OpenAI's Evals API, whose names are in snake_case."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import (
    AfterValidator,
    AliasChoices,
    ConfigDict,
    Discriminator,
    Field,
    FiniteFloat,
    StringConstraints,
    Tag,
    ValidationInfo,
    field_validator,
    model_validator,
)

from cupel_core.base.deferred_models import DeferredModel
from cupel_core.contract.fields import SINGLE_LINE, Flag, Seed, not_blank
from cupel_core.contract.parameters import JsonSchema
from cupel_core.domain.conversations.model_parameters import ReasoningEffort
from cupel_core.domain.openai_evals.graders import COSINE, NAMESPACES
from cupel_core.domain.openai_evals.rows import ITEM, as_text
from cupel_core.domain.scoring.assertion_rules import CODE_REFUSED
from cupel_core.domain.scoring.derived_metrics import MAX_LENGTH, expression_issue
from cupel_core.domain.scoring.grader_templates import template_error
from cupel_core.domain.scoring.grader_values import MAX_LABEL_LENGTH, MAX_LABELS, MAX_MESSAGES, TextMetric

MAX_GRADERS = 20
"""An eval has at most this many; its results are counted by grader."""
MAX_METADATA = 16
ONE_GRADER, NAMED_GRADERS = "[grader]", "[graders]"
"""Forms of the graders of a `multi` grader, as paths of invalid fields have them."""


class _Ignored(NamedTuple):
    """Marks a field that OpenAI's service returns or once accepted, and that has no effect here."""

    is_read_only: bool = False


Ignored = Annotated[Any, Field(exclude=True), _Ignored()]
"""The response to the request names it, if it was sent with a value."""
ReadOnly = Annotated[Any, Field(exclude=True), _Ignored(is_read_only=True)]
"""The service assigns it, so that leaving it out loses nothing."""


class OpenAIRequest(DeferredModel):
    """Unknown fields are refused; `None` is the type of fields that OpenAI's service returns as null."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def ignored_fields(value: Any, path: str = "") -> Iterator[str]:
    """The paths of the ignored fields that a request has with a value, as OpenAI writes them."""
    if isinstance(value, OpenAIRequest):
        for name, field in type(value).model_fields.items():
            found, place = getattr(value, name), f"{path}.{name}" if path else name
            marks = [mark for mark in field.metadata if isinstance(mark, _Ignored)]
            if not marks:
                yield from ignored_fields(found, place)
            elif found is not None and not marks[0].is_read_only:
                yield place
    elif isinstance(value, list):
        for position, each in enumerate(value):
            yield from ignored_fields(each, f"{path}[{position}]")


def _grader_template(text: str) -> str:
    return _template(text, NAMESPACES)


def _judge_content(content: Any) -> str:
    return _template(not_blank(as_text(content)), NAMESPACES)


def _input_content(content: Any) -> str:
    """There is no sample yet when a model is asked."""
    return _template(as_text(content), frozenset({ITEM}))


def _template(text: str, namespaces: frozenset[str]) -> str:
    if error := template_error(text, namespaces):
        raise ValueError(error)
    return text


def _known_metric(name: str) -> str:
    if name not in (known := (COSINE, *TextMetric)):
        raise ValueError(f"must be one of {', '.join(known)}")
    return name


Metadata = Annotated[
    dict[
        Annotated[str, StringConstraints(strict=True, min_length=1, max_length=64), SINGLE_LINE],
        Annotated[str, StringConstraints(strict=True, max_length=512)],
    ],
    Field(max_length=MAX_METADATA),
]
GraderName = Annotated[
    str, StringConstraints(strict=True, min_length=1, max_length=200), AfterValidator(not_blank), SINGLE_LINE
]
Template = Annotated[str, StringConstraints(strict=True), AfterValidator(_grader_template)]
Model = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=250), SINGLE_LINE]
Metric = Annotated[str, AfterValidator(_known_metric)]
Number = Annotated[FiniteFloat, Field(strict=True, ge=-1e9, le=1e9)]
Fraction = Annotated[FiniteFloat, Field(strict=True, ge=0, le=1)]
MaxTokens = Annotated[
    Annotated[int, Field(strict=True, ge=1, le=10_000_000)] | None,
    Field(validation_alias=AliasChoices("max_completion_tokens", "max_completions_tokens")),
]
"""OpenAI calls it `max_completion_tokens` in runs and `max_completions_tokens` in graders; its examples mix them up."""
Label = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=MAX_LABEL_LENGTH)]


class _TextMessage(OpenAIRequest):
    """The content is a text, a part with a text, or a list of both, and becomes the text."""

    role: Literal["user", "assistant", "system", "developer"]
    type: Literal["message"] | None = None
    phase: str | None = None
    id: ReadOnly = None
    status: ReadOnly = None
    tool_calls: None = None
    tool_call_id: None = None
    function_call: None = None


class InputMessage(_TextMessage):
    content: Annotated[Any, AfterValidator(_input_content)]

    def to_json(self) -> dict[str, Any]:
        return {"role": self.role, "content": self.content}


class JudgeMessage(_TextMessage):
    content: Annotated[Any, AfterValidator(_judge_content)]

    def to_json(self) -> dict[str, Any]:
        """Judges have no role `developer`."""
        return {"role": "system" if self.role == "developer" else self.role, "content": self.content}


class NamedGrader(OpenAIRequest):
    name: GraderName
    id: ReadOnly = None


class StringCheckGrader(NamedGrader):
    type: Literal["string_check"]
    input: Template
    reference: Template
    operation: Literal["eq", "ne", "like", "ilike"]


class TextSimilarityGrader(NamedGrader):
    type: Literal["text_similarity"]
    input: Template
    reference: Template
    evaluation_metric: Metric
    pass_threshold: Fraction | None = None


class EvalTextSimilarityGrader(TextSimilarityGrader):
    pass_threshold: Fraction


class LabelModelGrader(NamedGrader):
    type: Literal["label_model"]
    model: Model
    input: Annotated[list[JudgeMessage], Field(min_length=1, max_length=MAX_MESSAGES)]
    labels: Annotated[list[Label], Field(min_length=1, max_length=MAX_LABELS)]
    passing_labels: Annotated[list[Label], Field(min_length=1, max_length=MAX_LABELS)]
    sampling_params: Ignored = None

    @field_validator("labels")
    @classmethod
    def _are_different(cls, labels: list[str]) -> list[str]:
        if len(set(labels)) < len(labels):
            raise ValueError("must be different")
        return labels

    @field_validator("passing_labels")
    @classmethod
    def _are_labels(cls, passing: list[str], info: ValidationInfo) -> list[str]:
        if not set(passing) <= set(info.data.get("labels", passing)):
            raise ValueError("must be among the labels")
        return passing


class SharedSampling(OpenAIRequest):
    temperature: Annotated[FiniteFloat, Field(strict=True, ge=0, le=2)] | None = None
    top_p: Annotated[FiniteFloat, Field(strict=True, gt=0, le=1)] | None = None
    seed: Seed | None = None
    reasoning_effort: ReasoningEffort | None = None


class GraderSampling(SharedSampling):
    max_completions_tokens: MaxTokens = None


class ScoreModelGrader(NamedGrader):
    type: Literal["score_model"]
    model: Model
    input: Annotated[list[JudgeMessage], Field(min_length=1, max_length=MAX_MESSAGES)]
    range: Annotated[list[Number], Field(min_length=2, max_length=2)] | None = None
    pass_threshold: Number | None = None
    sampling_params: GraderSampling | None = None

    @model_validator(mode="after")
    def _has_a_threshold_in_range(self) -> "ScoreModelGrader":
        low, high = self.range or (0.0, 1.0)
        if low >= high:
            raise ValueError("must have a range of two numbers, the lower one first")
        if self.pass_threshold is not None and not low <= self.pass_threshold <= high:
            raise ValueError(f"must have a pass_threshold from {low:g} to {high:g}, its range")
        return self


class PythonGrader(NamedGrader):
    """Refused: a stack does not run users' code."""

    type: Literal["python"]
    source: str
    image_tag: str | None = None
    pass_threshold: Number | None = None

    @model_validator(mode="after")
    def _is_refused(self) -> "PythonGrader":
        raise ValueError(CODE_REFUSED)


Grader = Annotated[
    StringCheckGrader | EvalTextSimilarityGrader | LabelModelGrader | ScoreModelGrader | PythonGrader,
    Field(discriminator="type"),
]


SingleGrader = Annotated[
    StringCheckGrader | TextSimilarityGrader | LabelModelGrader | ScoreModelGrader | PythonGrader,
    Field(discriminator="type"),
]


def _form_of_graders(graders: Any) -> str:
    return ONE_GRADER if isinstance(graders, dict) and isinstance(graders.get("type"), str) else NAMED_GRADERS


class MultiGrader(NamedGrader):
    """Combines the rewards of its parts; outside of evals only."""

    type: Literal["multi"]
    graders: Annotated[
        Annotated[SingleGrader, Tag(ONE_GRADER)]
        | Annotated[dict[str, SingleGrader], Field(min_length=1, max_length=MAX_GRADERS), Tag(NAMED_GRADERS)],
        Discriminator(_form_of_graders),
    ]
    calculate_output: Annotated[str, StringConstraints(strict=True, min_length=1, max_length=MAX_LENGTH)]

    def parts(self) -> dict[str, SingleGrader]:
        """Return the graders by the names that the formula uses."""
        return self.graders if isinstance(self.graders, dict) else {self.graders.name: self.graders}

    @model_validator(mode="after")
    def _has_a_formula(self) -> "MultiGrader":
        if error := expression_issue(self.calculate_output, self.parts()):
            raise ValueError(f"must have a calculate_output that is a formula of its graders' names: it {error}")
        return self


AnyGrader = Annotated[
    StringCheckGrader | TextSimilarityGrader | LabelModelGrader | ScoreModelGrader | PythonGrader | MultiGrader,
    Field(discriminator="type"),
]


def grader_json(grader: SingleGrader) -> dict[str, Any]:
    """The fields that were given, with the messages to judges as text."""
    given = grader.model_dump(mode="json", exclude_none=True)
    if isinstance(grader, LabelModelGrader | ScoreModelGrader):
        given["input"] = [message.to_json() for message in grader.input]
    return given


class StoredDataSource(OpenAIRequest):
    """Answers of the workspace's runs with this metadata."""

    type: Literal["logs", "stored_completions"]
    metadata: Metadata | None = None
    response_schema: Annotated[ReadOnly, Field(alias="schema")] = None


class CustomDataSource(OpenAIRequest):
    type: Literal["custom"]
    item_schema: JsonSchema
    include_sample_schema: Flag = False
