"""Parameters of models, and targets that have them."""

from typing import Annotated, Any, Literal

import orjson
from pydantic import (
    AfterValidator,
    Field,
    FiniteFloat,
    SerializerFunctionWrapHandler,
    StringConstraints,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_serializer,
    model_validator,
)

from cupel_core.contract.common import RequestModel, example, require_exactly_with, require_one, with_defaults
from cupel_core.contract.fields import SINGLE_LINE, Flag, FunctionName, Id, JsonObject, Label, ModelId, Seed
from cupel_core.domain.conversations.model_parameters import FormatType, ReasoningEffort, extra_body_error
from cupel_core.domain.conversations.tool_results import MAX_TOOL_ROUNDS
from cupel_core.domain.conversations.tools import ToolMode
from cupel_core.domain.limits.backoff import BASE_SECONDS, CAP_SECONDS, MAX_ATTEMPTS, MOST_ATTEMPTS, MOST_DELAY_SECONDS
from cupel_core.domain.resources.connectors import target_of_connector
from cupel_core.domain.runs.pace import MAX_CONCURRENCY, MAX_STAGGER_MS
from cupel_core.domain.runs.targets import Target, plain_targets
from cupel_core.domain.text.json_schema import schema_errors

MAX_PARAMETERS_BYTES = 64_000
"""One target's parameters have at most this many bytes as JSON: tools and schemas may be long."""


def _json_schema(schema: dict[str, Any]) -> dict[str, Any]:
    if error := next(schema_errors(schema), None):
        raise ValueError(error)
    return schema


def _extra_body(body: dict[str, Any]) -> dict[str, Any]:
    if error := extra_body_error(body):
        raise ValueError(error)
    return body


JsonSchema = Annotated[JsonObject, AfterValidator(_json_schema)]
Temperature = Annotated[FiniteFloat, Field(strict=True, ge=0, le=2)]
Penalty = Annotated[FiniteFloat, Field(strict=True, ge=-2, le=2)]
OutputTokens = Annotated[int, Field(strict=True, ge=1, le=10_000_000)]
CallTimeout = Annotated[
    FiniteFloat,
    Field(strict=True, ge=1, le=900, description="Of one call to the target; at most the stack's CallTimeoutSeconds"),
]
_GapMs = Annotated[int, Field(strict=True, ge=0, le=MAX_STAGGER_MS)]
MaxAttempts = Annotated[
    int,
    Field(
        strict=True,
        ge=1,
        le=MOST_ATTEMPTS,
        description=f"Attempts of one call to the target, the first included; {MAX_ATTEMPTS} by default",
    ),
]
RetryDelay = Annotated[
    FiniteFloat,
    Field(
        strict=True,
        ge=0,
        le=MOST_DELAY_SECONDS,
        description=f"Longest wait before the second attempt of a call to a target, {BASE_SECONDS} by default; each "
        f"further one is three times as long, up to {CAP_SECONDS:g} s. A wait that the provider asks for is respected "
        "instead",
    ),
]


def _ascending(gaps: tuple[int, int]) -> tuple[int, int]:
    if gaps[0] > gaps[1]:
        raise ValueError("must have the shorter gap first")
    return gaps


MaxConcurrency = Annotated[
    int,
    Field(
        strict=True,
        ge=1,
        le=MAX_CONCURRENCY,
        description="Conversations in progress at the same time, of all targets together",
    ),
]
StaggerMs = Annotated[
    tuple[_GapMs, _GapMs],
    Field(description="Shortest and longest gap between two starts of one worker, in milliseconds"),
    AfterValidator(_ascending),
]


class ToolInput(RequestModel):
    """A function that the model may call."""

    model_config = example(
        {
            "name": "find_order",
            "description": "Finds an order by its number",
            "parameters": {"type": "object", "properties": {"number": {"type": "string"}}, "required": ["number"]},
            "strict": False,
        }
    )

    name: FunctionName
    description: Annotated[str, StringConstraints(strict=True, max_length=10_000)] | None = None
    parameters: Annotated[JsonSchema, Field(default_factory=dict)]
    """JSON Schema of its arguments."""
    strict: Flag | None = None
    """Whether the provider enforces the schema, where it can."""


class ToolChoiceInput(RequestModel):
    """The function that the model must call."""

    model_config = example({"name": "find_order"})

    name: FunctionName


def _of_one_form(value: Any, validate: ValidatorFunctionWrapHandler) -> Any:
    """One message for both forms, under the field's own name."""
    try:
        return validate(value)
    except ValidationError:
        modes = ", ".join((ToolMode.AUTO, ToolMode.NONE, ToolMode.REQUIRED))
        raise ValueError(f'must be one of {modes}, or {{"name": …}} with the name of a tool') from None


ToolChoiceParameter = Annotated[
    Literal[ToolMode.AUTO, ToolMode.NONE, ToolMode.REQUIRED] | ToolChoiceInput, WrapValidator(_of_one_form)
]


class ResponseFormatInput(RequestModel):
    """`json` asks for any JSON object, `json_schema` for one that satisfies `schema`: enforced by the provider where
    possible, else by instruction."""

    model_config = example(
        {
            "type": "json_schema",
            "schema": {"type": "object", "properties": {"granted": {"type": "boolean"}}, "required": ["granted"]},
            "name": "refund",
        }
    )

    type: FormatType
    """`text`, `json` or `json_schema`."""
    schema_: Annotated[JsonSchema | None, Field(alias="schema")] = None
    """Required for `json_schema`."""
    name: FunctionName | None = None
    """A name for the schema, which some providers show."""

    @model_validator(mode="after")
    def _has_schema_if_named(self) -> "ResponseFormatInput":
        is_named = self.type is FormatType.JSON_SCHEMA
        require_exactly_with(self, "schema_", "the type json_schema", applies=is_named)
        return self


class ModelParametersInput(RequestModel):
    """Omitted parameters keep their default, null restores the provider's own."""

    model_config = example({"temperature": 0.2, "topP": 0.9, "maxOutputTokens": 500})

    temperature: Temperature | None = None
    top_p: Annotated[FiniteFloat, Field(strict=True, gt=0, le=1)] | None = None
    """Probability mass of the likeliest tokens that are sampled from."""
    top_k: Annotated[int, Field(strict=True, ge=1, le=100_000)] | None = None
    """Number of the likeliest tokens that are sampled from. Example: 40"""
    max_output_tokens: OutputTokens | None = None
    """Limit of the tokens of one answer."""
    stop: (
        Annotated[
            list[Annotated[str, StringConstraints(strict=True, min_length=1, max_length=1_000)]],
            Field(min_length=1, max_length=16),
        ]
        | None
    ) = None
    """Texts at which the answer ends. Example: ["END"]"""
    seed: Seed | None = None
    """Seed of the provider's sampling."""
    frequency_penalty: Penalty | None = None
    """Penalty from -2 to 2; positive values discourage repetition. Example: 0.1"""
    presence_penalty: Penalty | None = None
    """Penalty from -2 to 2; positive values encourage new topics. Example: 0.1"""
    reasoning_effort: ReasoningEffort | None = None
    """Amount of thinking before a reasoning model answers."""
    response_format: ResponseFormatInput | None = None
    """Format of the answer: text, any JSON object, or one of a schema."""
    tools: Annotated[list[ToolInput], Field(min_length=1, max_length=128)] | None = None
    """Functions that the model may call."""
    tool_choice: ToolChoiceParameter | None = None
    """Permission or duty to call a function, or one to call."""
    max_tool_rounds: Annotated[int, Field(strict=True, ge=0, le=MAX_TOOL_ROUNDS)] | None = None
    """Rounds of tool calls that are executed in one answer; 10 by default, with 0 the first calls are the answer.

    Example: 5
    """
    tool_connector_id: Id | None = None
    """Connector of type `tools` that executes calls which no script answers. Example: con_02"""
    keep_reasoning: Flag | None = None
    """Whether reasoning written into the model's text, such as `<think>…</think>`, stays part of the answer; otherwise
    it is stored apart and not graded.

    Example: false
    """
    extra_body: Annotated[
        JsonObject | None, AfterValidator(lambda body: None if body is None else _extra_body(body))
    ] = None
    """Further fields of the request's body, such as `chat_template_kwargs`; only for models of `custom` and
    `custom-<name>`.

    Example: {"chat_template_kwargs": {"enable_thinking": false}, "min_p": 0.05}
    """

    @model_validator(mode="after")
    def _is_consistent(self) -> "ModelParametersInput":
        names = [tool.name for tool in self.tools or ()]
        if len(set(names)) < len(names):
            raise ValueError("must not have two tools of one name")
        if isinstance(self.tool_choice, ToolChoiceInput) and names and self.tool_choice.name not in names:
            raise ValueError(f"must have a toolChoice that names one of its tools: {', '.join(names)}")
        if len(orjson.dumps(self.fields())) > MAX_PARAMETERS_BYTES:
            raise ValueError(f"must have at most {MAX_PARAMETERS_BYTES:,} bytes as JSON")
        return self

    def fields(self) -> dict[str, Any]:
        """What was given, as JSON."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)

    # A lambda, because the OpenAPI document would take an annotated return type as the schema.
    _serialize = model_serializer(mode="wrap")(lambda self, serialize: _only_set(self, serialize))


def _only_set(params: ModelParametersInput, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
    """A parameter that was not given must not be returned as null, which would remove a default."""
    given = params.model_fields_set
    names = given | {ModelParametersInput.model_fields[name].alias for name in given}
    return {name: value for name, value in serialize(params).items() if name in names}


Parameters = Annotated[ModelParametersInput, Field(description="Parameters of the calls to the target")]


class TargetInput(RequestModel):
    """Exactly one of `model` and `connectorId`. One model may be several targets under different labels."""

    model_config = example(
        {
            "model": "openai/gpt-6.1-terra",
            "label": "sober",
            "params": {"temperature": 0},
            "maxAttempts": 2,
            "callTimeoutSeconds": 60,
        }
    )

    model: ModelId | None = None
    connector_id: Id | None = None
    label: Label | None = None
    """Identifies the target in results; its model if omitted."""
    params: Parameters = with_defaults(ModelParametersInput)
    """They take precedence over those of the run."""
    max_attempts: MaxAttempts | None = None
    call_timeout_seconds: CallTimeout | None = None

    @model_validator(mode="after")
    def _has_one_target(self) -> "TargetInput":
        require_one(self, "model", "connector_id")
        return self

    def target(self) -> Target:
        return Target(
            model=target_of(self.model, self.connector_id).model,
            label=self.label,
            params=self.params.fields(),
            max_attempts=self.max_attempts,
            call_timeout_seconds=self.call_timeout_seconds,
        )


TargetName = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=256), SINGLE_LINE]
"""The id of a target, or a model."""
MAX_TARGETS = 100
Models = Annotated[
    list[ModelId],
    Field(
        min_length=1,
        max_length=MAX_TARGETS,
        description="Short for `targets` without parameters: models as `provider/name`, or agents as `connector/<id>`",
    ),
]
Targets = Annotated[list[TargetInput], Field(min_length=1, max_length=MAX_TARGETS)]


def targets_of(models: list[str] | None, targets: list[TargetInput] | None) -> tuple[Target, ...]:
    if targets is not None:
        return tuple(target.target() for target in targets)
    return plain_targets(*(models or ()))


def target_of(model: str | None, connector_id: str | None) -> Target:
    """A target without anything of its own; exactly one of the two is given."""
    return Target(model if connector_id is None and model else target_of_connector(connector_id or ""))
