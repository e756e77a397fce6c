"""The operations of a profile. domain/pipeline/rules.py checks what concerns several fields."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    Field,
    FiniteFloat,
    StringConstraints,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    field_validator,
)

from cupel_core.contract.common import RequestModel, example, with_defaults
from cupel_core.contract.fields import SINGLE_LINE, Flag, Label, ModelId, Score, not_blank
from cupel_core.contract.parameters import CallTimeout, JsonSchema, MaxAttempts, ModelParametersInput, Parameters
from cupel_core.domain.pipeline.artifacts import (
    DEFAULT_VERSIONS,
    MAX_AGE_DAYS,
    MAX_DEPTH_FROM_END,
    MAX_VERSIONS,
    ArtifactFormat,
    ArtifactPersistence,
    ArtifactUsage,
    PromptPlace,
    PromptRole,
    WriteMode,
)
from cupel_core.domain.pipeline.operations import (
    ConditionOperator,
    EffectType,
    Hook,
    OperationKind,
    SystemUpdate,
    Trigger,
)
from cupel_core.domain.pipeline.params import GuardEngine, GuardErrorPolicy, OutputExtraction, OutputMode
from cupel_core.domain.pipeline.profiles import MAX_EFFECTS, MAX_OPERATIONS
from cupel_core.domain.text.patterns import MAX_PATTERN_LENGTH

MAX_TEMPLATE_LENGTH = 100_000
MAX_GUARD_OUTPUTS = 20
_NOT_OF_OPERATIONS = ("responseFormat", "tools", "toolChoice", "maxToolRounds", "toolConnectorId")


def _without_duplicates[T](values: list[T]) -> list[T]:
    if len(set(values)) < len(values):
        raise ValueError("must not name one twice")
    return values


OperationId = Annotated[str, StringConstraints(strict=True, pattern=r"^[a-z][a-z0-9_]{0,63}$")]
TemplateText = Annotated[str, StringConstraints(strict=True, max_length=MAX_TEMPLATE_LENGTH)]
Prompt = Annotated[TemplateText, AfterValidator(not_blank), Field(description="Template of the user message")]
StrictVariables = Annotated[Flag, Field(description="Whether an unknown name in a template is an error")]
DepthFromEnd = Annotated[
    int,
    Field(strict=True, ge=-MAX_DEPTH_FROM_END, le=0, description="0 is the end; -N is before the last N messages"),
]
MaxInputTokens = Annotated[
    int, Field(strict=True, ge=1, le=10_000_000, description="Estimated; a longer prompt is not sent")
]
MaxCost = Annotated[
    FiniteFloat,
    Field(strict=True, gt=0, le=1_000_000, description="No call is made that could cost more, in US dollars"),
]
Role = Annotated[PromptRole, Field(description="Of the message that is added; `developer` is sent as `system`")]
ValueTemplate = Annotated[TemplateText, Field(description="Renders `value`; the value as text if omitted")]


class RunConditionInput(RequestModel):
    """A condition on an output of a guard; an operation runs if all of its conditions hold."""

    model_config = example({"operationId": "scene", "output": "isBattle", "operator": "is_true"})

    operation_id: OperationId
    """A guard, which must also be in `dependsOn`."""
    output: Annotated[str, StringConstraints(strict=True, min_length=1, max_length=64)]
    """The key of one of the guard's outputs."""
    operator: ConditionOperator
    """Comparison of the output with the value."""


class OperationTargetInput(RequestModel):
    """The model that an operation calls, as runs name their targets."""

    model_config = example({"model": "openai/gpt-6.1-terra", "params": {"temperature": 0.2, "maxOutputTokens": 300}})

    model: ModelId
    params: Parameters = with_defaults(ModelParametersInput)
    max_attempts: MaxAttempts | None = None
    call_timeout_seconds: CallTimeout | None = None

    @field_validator("params")
    @classmethod
    def _refuse_tools(cls, params: ModelParametersInput) -> ModelParametersInput:
        if unknown := [name for name in _NOT_OF_OPERATIONS if name in params.fields()]:
            raise ValueError(f"must not have {', '.join(unknown)}: an operation calls no tools, and has an output")
        return params


class OutputInput(RequestModel):
    """The part of the answer that is the value of an operation."""

    model_config = example({"mode": "json", "schema": {"type": "array"}, "extract": "code_block"})

    mode: OutputMode = OutputMode.TEXT
    """`json` parses the answer."""
    schema_: Annotated[JsonSchema | None, Field(alias="schema")] = None
    """JSON Schema of the output."""
    extract: OutputExtraction | None = None
    """Part of the answer with JSON: all (`raw`, the default), its first fenced block, or the first group of `pattern`.
    """
    pattern: Annotated[str, StringConstraints(strict=True, min_length=1, max_length=MAX_PATTERN_LENGTH)] | None = None
    """Regular expression, with `extract: pattern` only. Example: Decision: ([1-5])"""


class TemplateParamsInput(RequestModel):
    """Renders a text; calls no model."""

    model_config = example({"template": "Answer in {{ vars.language }}.", "skipWhenBlank": True})

    template: Annotated[TemplateText, AfterValidator(not_blank)]
    """Renders the value."""
    strict_variables: StrictVariables = False
    skip_when_blank: Flag = True
    """True if a blank text ends the operation as skipped."""


class LlmParamsInput(RequestModel):
    """Calls a model once."""

    model_config = example(
        {"target": {"model": "openai/gpt-6.1-terra"}, "prompt": "Plan the answer to: {{ user.text }}"}
    )

    target: OperationTargetInput
    """The model that is called."""
    system: TemplateText | None = None
    """Template of the system prompt."""
    prompt: Prompt
    strict_variables: StrictVariables = False
    max_input_tokens: MaxInputTokens | None = None
    """Estimated; a longer prompt is not sent. Example: 4000"""
    max_cost_usd: MaxCost | None = None
    """No call is made that could cost more, in US dollars. Example: 0.01"""
    output: OutputInput = with_defaults(OutputInput)
    """Part of the answer that is the value."""


class GuardOutputInput(RequestModel):
    """A question that the guard answers with true or false."""

    model_config = example({"key": "isBattle", "title": "A battle", "when": "'attack' in user.text"})

    key: Annotated[str, StringConstraints(strict=True, pattern=r"^[a-z][a-zA-Z0-9_]{0,63}$")]
    """Its name in conditions."""
    title: Label
    description: Annotated[str, StringConstraints(strict=True, max_length=2_000)] | None = None
    when: TemplateText | None = None
    """Expression whose truth is the answer; with engine `rules` only."""


class GuardParamsInput(RequestModel):
    """Answers questions with true or false, by expressions or by a model."""

    model_config = example(
        {"engine": "rules", "outputs": [{"key": "isShort", "title": "Short", "when": "user.text|length < 20"}]}
    )

    engine: GuardEngine
    """Source of the answers: expressions or a model."""
    outputs: Annotated[list[GuardOutputInput], Field(min_length=1, max_length=MAX_GUARD_OUTPUTS)]
    """The questions."""
    on_error: GuardErrorPolicy = GuardErrorPolicy.ERROR
    """`all_false` answers false where it fails."""
    strict_variables: StrictVariables = False
    target: OperationTargetInput | None = None
    """Target, with engine `llm` only."""
    system: TemplateText | None = None
    """Template of the system prompt, with engine `llm` only."""
    prompt: Prompt | None = None
    """Template of the user message, with engine `llm` only. Example: Is this a battle? {{ user.text }}"""
    max_input_tokens: MaxInputTokens | None = None
    """Estimated; a longer prompt is not sent. Example: 4000"""
    max_cost_usd: MaxCost | None = None
    """No call is made that could cost more, in US dollars. Example: 0.01"""


class RetentionInput(RequestModel):
    """Limits of the history of a persisted artifact; its newest value always stays."""

    model_config = example({"maxVersions": 20, "maxAgeDays": 90})

    max_versions: Annotated[int, Field(strict=True, ge=1, le=MAX_VERSIONS)] = DEFAULT_VERSIONS
    """Number of values that stay."""
    max_age_days: Annotated[int | None, Field(strict=True, ge=1, le=MAX_AGE_DAYS)] = None
    """Days that an earlier value stays in the history; for ever if omitted."""


class InclusionInput(RequestModel):
    """Place of the value of an artifact in the prompt."""

    model_config = example({"at": "depth", "depthFromEnd": -2, "role": "system"})

    at: PromptPlace
    """Place of the value in the prompt."""
    depth_from_end: DepthFromEnd | None = None
    """Place with `at: depth`: 0 is the end; -N is before the last N messages."""
    role: Role | None = None
    """Role of the added message, by default `system`; `developer` is sent as `system`."""
    template: ValueTemplate | None = None
    """Renders `value`; the value as text if omitted. Example: Notes: {{ value }}"""


class ArtifactInput(RequestModel):
    """An operation stores its value so. Each tag has one operation, each operation one tag."""

    model_config = example({"tag": "notes", "usage": "internal", "semantics": "intermediate"})

    tag: OperationId
    """Templates read the value as `art.<tag>.value`."""
    title: Label | None = None
    """Example: Working notes"""
    format: ArtifactFormat = ArtifactFormat.TEXT
    """Format of the content."""
    persistence: ArtifactPersistence = ArtifactPersistence.RUN_ONLY
    """Whether the value outlasts its turn, with its history."""
    usage: ArtifactUsage = ArtifactUsage.INTERNAL
    semantics: Annotated[
        str, StringConstraints(strict=True, min_length=1, max_length=64), AfterValidator(not_blank), SINGLE_LINE
    ] = "intermediate"
    """`state`, `log/feed`, `lore/memory`, `intermediate` or another word, for who shows it."""
    write_mode: WriteMode = WriteMode.REPLACE
    """`append` joins texts by a line, and concatenates lists."""
    retention: RetentionInput | None = None
    """Limits of a persisted artifact's history."""
    inclusion: InclusionInput | None = None
    """Exactly for the usages `prompt_only` and `prompt+ui`."""


class EffectInput(RequestModel):
    """A change that an operation makes with its value once it is done."""

    model_config = example({"type": "prompt.append_after_last_user", "role": "system"})

    type: EffectType
    """Changed part: the prompt, the user's message or the answer."""
    mode: SystemUpdate | None = None
    """Mode of `prompt.system_update`. Example: append"""
    role: Role | None = None
    """Role of the added message; `developer` is sent as `system`."""
    depth_from_end: DepthFromEnd | None = None
    """Place for `prompt.insert_at_depth`, as in `inclusion`. Example: -2"""
    template: ValueTemplate | None = None
    """Renders `value`; the value as text if omitted. Example: Notes: {{ value }}"""


class DebugInput(RequestModel):
    """Further fields of an operation in records of turns."""

    model_config = example({"enabled": True})

    enabled: Flag = False
    """Whether they have the system prompt, the prompt and the answer of its call: up to 8,000 characters of each,
    without what looks like a key."""


_PARAMS: Mapping[OperationKind, type[RequestModel]] = {
    OperationKind.TEMPLATE: TemplateParamsInput,
    OperationKind.LLM: LlmParamsInput,
    OperationKind.GUARD: GuardParamsInput,
}


def _params_of_kind(value: Any, _: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
    """Raise only the errors of the operation's own kind; nothing is known of the parameters of an unknown kind."""
    kind = info.data.get("kind")
    return value if kind is None else _PARAMS[kind].model_validate(value)


class OperationInput(RequestModel):
    """One action before or after the main call: it makes one value, stores it under one tag, and may use it."""

    model_config = example(
        {
            "id": "notes",
            "name": "Working notes",
            "kind": "llm",
            "hooks": ["before_main_llm"],
            "order": 20,
            "params": {"target": {"model": "openai/gpt-6.1-terra"}, "prompt": "Plan the answer to: {{ user.text }}"},
            "artifact": {"tag": "notes"},
            "effects": [{"type": "prompt.append_after_last_user", "role": "system"}],
        }
    )

    id: OperationId
    name: Label
    kind: OperationKind
    """Source of the value: a template, a model, or a guard's questions."""
    enabled: Flag = True
    required: Flag = False
    """True if the turn fails unless the operation is done. Example: false"""
    hooks: Annotated[list[Hook], Field(min_length=1, max_length=2), AfterValidator(_without_duplicates)]
    """Places: before the main call, after it, or both."""
    triggers: Annotated[
        list[Trigger],
        Field(default_factory=lambda: list(Trigger), min_length=1, max_length=2),
        AfterValidator(_without_duplicates),
    ]
    """Occasions: a new message, another answer to the last one, or both."""
    order: Score
    """Rank among independent operations; the lowest comes first."""
    depends_on: Annotated[list[OperationId], Field(default_factory=list, max_length=MAX_OPERATIONS)]
    """Operations that must be done before this one starts. Example: ["scene"]"""
    run_conditions: Annotated[list[RunConditionInput], Field(default_factory=list, max_length=MAX_GUARD_OUTPUTS)]
    """What guards must have answered for it to run."""
    params: Annotated[TemplateParamsInput | LlmParamsInput | GuardParamsInput, WrapValidator(_params_of_kind)]
    """Parameters of the operation's kind."""
    artifact: ArtifactInput
    """Storage of the value."""
    effects: Annotated[list[EffectInput], Field(default_factory=list, max_length=MAX_EFFECTS)]
    """Changes by the value."""
    debug: DebugInput | None = None
    """Further content of records of turns."""
