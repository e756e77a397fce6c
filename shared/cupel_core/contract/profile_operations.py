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
    """What an output of a guard must be; an operation runs if all of its conditions hold."""

    model_config = example({"operationId": "scene", "output": "isBattle", "operator": "is_true"})

    operation_id: Annotated[OperationId, Field(description="A guard, which must also be in `dependsOn`")]
    output: Annotated[str, StringConstraints(strict=True, min_length=1, max_length=64)]
    operator: ConditionOperator


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
    """What of the answer is the value of an operation."""

    model_config = example({"mode": "json", "schema": {"type": "array"}, "extract": "code_block"})

    mode: Annotated[OutputMode, Field(description="`json` parses the answer")] = OutputMode.TEXT
    schema_: Annotated[JsonSchema | None, Field(alias="schema", description="What JSON must satisfy")] = None
    extract: Annotated[
        OutputExtraction | None,
        Field(
            description="What of the answer is JSON: all of it (`raw`, the default), its first fenced block, or the "
            "first group of `pattern`"
        ),
    ] = None
    pattern: Annotated[
        Annotated[str, StringConstraints(strict=True, min_length=1, max_length=MAX_PATTERN_LENGTH)] | None,
        Field(description="Regular expression, with `extract: pattern` only"),
    ] = None


class TemplateParamsInput(RequestModel):
    """Renders a text; calls no model."""

    model_config = example({"template": "Answer in {{ vars.language }}.", "skipWhenBlank": True})

    template: Annotated[TemplateText, AfterValidator(not_blank)]
    strict_variables: StrictVariables = False
    skip_when_blank: Annotated[Flag, Field(description="Whether a blank text ends the operation as skipped")] = True


class LlmParamsInput(RequestModel):
    """Calls a model once."""

    model_config = example(
        {"target": {"model": "openai/gpt-6.1-terra"}, "prompt": "Plan the answer to: {{ user.text }}"}
    )

    target: OperationTargetInput
    system: TemplateText | None = None
    prompt: Prompt
    strict_variables: StrictVariables = False
    max_input_tokens: MaxInputTokens | None = None
    max_cost_usd: MaxCost | None = None
    output: OutputInput = with_defaults(OutputInput)


class GuardOutputInput(RequestModel):
    """A question that the guard answers with true or false."""

    model_config = example({"key": "isBattle", "title": "A battle", "when": "'attack' in user.text"})

    key: Annotated[str, StringConstraints(strict=True, pattern=r"^[a-z][a-zA-Z0-9_]{0,63}$")]
    title: Label
    description: Annotated[str, StringConstraints(strict=True, max_length=2_000)] | None = None
    when: Annotated[
        TemplateText | None, Field(description="Expression whose truth is the answer; with engine `rules` only")
    ] = None


class GuardParamsInput(RequestModel):
    """Answers questions with true or false, by expressions or by a model."""

    model_config = example(
        {"engine": "rules", "outputs": [{"key": "isShort", "title": "Short", "when": "user.text|length < 20"}]}
    )

    engine: GuardEngine
    outputs: Annotated[list[GuardOutputInput], Field(min_length=1, max_length=MAX_GUARD_OUTPUTS)]
    on_error: Annotated[GuardErrorPolicy, Field(description="`all_false` answers false where it fails")] = (
        GuardErrorPolicy.ERROR
    )
    strict_variables: StrictVariables = False
    target: Annotated[OperationTargetInput | None, Field(description="With engine `llm` only")] = None
    system: TemplateText | None = None
    prompt: Prompt | None = None
    max_input_tokens: MaxInputTokens | None = None
    max_cost_usd: MaxCost | None = None


class RetentionInput(RequestModel):
    """How much of the history of a persisted artifact stays; its newest value always does."""

    model_config = example({"maxVersions": 20, "maxAgeDays": 90})

    max_versions: Annotated[int, Field(strict=True, ge=1, le=MAX_VERSIONS)] = DEFAULT_VERSIONS
    max_age_days: Annotated[int | None, Field(strict=True, ge=1, le=MAX_AGE_DAYS)] = None


class InclusionInput(RequestModel):
    """Where the value of an artifact stands in the prompt."""

    model_config = example({"at": "depth", "depthFromEnd": -2, "role": "system"})

    at: PromptPlace
    depth_from_end: DepthFromEnd | None = None
    role: Role | None = None
    template: ValueTemplate | None = None


class ArtifactInput(RequestModel):
    """How an operation stores its value. Each tag has one operation, each operation one tag."""

    model_config = example({"tag": "notes", "usage": "internal", "semantics": "intermediate"})

    tag: OperationId
    title: Label | None = None
    format: ArtifactFormat = ArtifactFormat.TEXT
    persistence: ArtifactPersistence = ArtifactPersistence.RUN_ONLY
    usage: ArtifactUsage = ArtifactUsage.INTERNAL
    semantics: Annotated[
        str,
        StringConstraints(strict=True, min_length=1, max_length=64),
        AfterValidator(not_blank),
        SINGLE_LINE,
        Field(description="`state`, `log/feed`, `lore/memory`, `intermediate` or another word, for who shows it"),
    ] = "intermediate"
    write_mode: WriteMode = WriteMode.REPLACE
    retention: RetentionInput | None = None
    inclusion: Annotated[
        InclusionInput | None, Field(description="Exactly for the usages `prompt_only` and `prompt+ui`")
    ] = None


class EffectInput(RequestModel):
    """A change that an operation makes with its value once it is done."""

    model_config = example({"type": "prompt.append_after_last_user", "role": "system"})

    type: EffectType
    mode: Annotated[SystemUpdate | None, Field(description="Of `prompt.system_update`")] = None
    role: Role | None = None
    depth_from_end: Annotated[DepthFromEnd | None, Field(description="Of `prompt.insert_at_depth`")] = None
    template: ValueTemplate | None = None


class DebugInput(RequestModel):
    """What records of turns also have of an operation."""

    model_config = example({"enabled": True})

    enabled: Annotated[
        Flag,
        Field(
            description="Whether they have the system prompt, the prompt and the answer of its call: up to 8,000 "
            "characters of each, without what looks like a key"
        ),
    ] = False


_PARAMS: Mapping[OperationKind, type[RequestModel]] = {
    OperationKind.TEMPLATE: TemplateParamsInput,
    OperationKind.LLM: LlmParamsInput,
    OperationKind.GUARD: GuardParamsInput,
}


def _params_of_kind(value: Any, _: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
    """Only the errors of the operation's own kind; nothing is known of the parameters of an unknown kind."""
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
    enabled: Flag = True
    required: Annotated[Flag, Field(description="Whether the turn fails unless the operation is done")] = False
    hooks: Annotated[list[Hook], Field(min_length=1, max_length=2), AfterValidator(_without_duplicates)]
    triggers: Annotated[
        list[Trigger],
        Field(default_factory=lambda: list(Trigger), min_length=1, max_length=2),
        AfterValidator(_without_duplicates),
    ]
    order: Annotated[Score, Field(description="Of operations that do not depend on each other, the lower comes first")]
    depends_on: Annotated[
        list[OperationId],
        Field(
            default_factory=list,
            max_length=MAX_OPERATIONS,
            description="Operations that must be done before this one starts",
        ),
    ]
    run_conditions: Annotated[list[RunConditionInput], Field(default_factory=list, max_length=MAX_GUARD_OUTPUTS)]
    params: Annotated[
        TemplateParamsInput | LlmParamsInput | GuardParamsInput,
        WrapValidator(_params_of_kind),
        Field(description="Those of the operation's kind"),
    ]
    artifact: ArtifactInput
    effects: Annotated[list[EffectInput], Field(default_factory=list, max_length=MAX_EFFECTS)]
    debug: DebugInput | None = None
