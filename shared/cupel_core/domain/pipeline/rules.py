"""Checks the rules of a profile beyond the shape of its fields: parameters, artifacts, effects and dependencies.

All errors are reported together.
"""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple

from cupel_core.domain.pipeline.artifacts import (
    ArtifactFormat,
    ArtifactPersistence,
    Inclusion,
    PromptPlace,
    WriteMode,
)
from cupel_core.domain.pipeline.operations import (
    EffectType,
    Hook,
    OperationEffect,
    OperationParams,
    ProfileOperation,
    RunCondition,
)
from cupel_core.domain.pipeline.params import (
    GuardEngine,
    GuardParams,
    LlmParams,
    ModelCall,
    OutputExtraction,
    OutputMode,
    OutputSpec,
)
from cupel_core.domain.pipeline.profiles import Pipeline, ProfileIssue
from cupel_core.domain.pipeline.secrets import has_secret
from cupel_core.domain.text.javascript_patterns import javascript_pattern_error


def profile_errors(pipeline: Pipeline) -> tuple[ProfileIssue, ...]:
    """Return all issues of a profile. Models and templates are not checked."""
    return tuple(
        chain(
            _duplicate_ids(pipeline),
            dependency_issues(pipeline),
            artifact_issues(pipeline),
            effect_issues(pipeline),
            chain.from_iterable(
                param_issues(operation, f"operations.{number}.params")
                for number, operation in enumerate(pipeline.operations)
            ),
        )
    )


def secret_errors(operations: list[Mapping[str, Any]]) -> Iterator[ProfileIssue]:
    """Yield an issue for each text in the parameters (JSON) of operations that looks like a key."""
    for number, operation in enumerate(operations):
        for field, text in _texts(operation["params"], f"operations.{number}.params"):
            if has_secret(text):
                yield ProfileIssue(field, "looks like a secret: keys belong to the providers of the workspace")


def _duplicate_ids(pipeline: Pipeline) -> Iterator[ProfileIssue]:
    ids = [operation.id for operation in pipeline.operations]
    for number, operation_id in enumerate(ids):
        if operation_id in ids[:number]:
            yield ProfileIssue(f"operations.{number}.id", f"there is another operation {operation_id}")


def _texts(value: Any, field: str) -> Iterator[tuple[str, str]]:
    match value:
        case str():
            yield field, value
        case list():
            for number, part in enumerate(value):
                yield from _texts(part, f"{field}.{number}")
        case dict():
            for name, part in value.items():
                yield from _texts(part, f"{field}.{name}")


def param_issues(operation: ProfileOperation, field: str) -> Iterator[ProfileIssue]:
    """Yield the issues of an operation's parameters; `field` is the field of the parameters."""
    match operation.params:
        case LlmParams() as params:
            yield from (ProfileIssue(f"{field}.output.{name}", text) for name, text in _output_issues(params.output))
            yield from (ProfileIssue(f"{field}.{name}", text) for name, text in _call_issues(params.call))
        case GuardParams() as params:
            yield from (ProfileIssue(f"{field}.{name}", text) for name, text in _guard_issues(params))


def _output_issues(output: OutputSpec) -> Iterator[ProfileIssue]:
    if output.mode is OutputMode.TEXT:
        for name in ("schema", "extract", "pattern"):
            if getattr(output, name) is not None:
                yield ProfileIssue(name, "needs mode json")
        return
    if output.extract is OutputExtraction.PATTERN and output.pattern is None:
        yield ProfileIssue("pattern", "is required with extract pattern")
    if output.pattern is not None:
        if output.extract is not OutputExtraction.PATTERN:
            yield ProfileIssue("pattern", "is only possible with extract pattern")
        if error := javascript_pattern_error(output.pattern):
            yield ProfileIssue("pattern", error)


def _call_issues(call: ModelCall) -> Iterator[ProfileIssue]:
    if call.max_cost_usd is not None and call.target.params.get("maxOutputTokens") is None:
        yield ProfileIssue("target.params.maxOutputTokens", "is required with maxCostUsd, to bound what a call costs")


def _guard_issues(params: GuardParams) -> Iterator[ProfileIssue]:
    for number, output in enumerate(params.outputs):
        if output.key in params.keys[:number]:
            yield ProfileIssue(f"outputs.{number}.key", f"there is another output {output.key}")
        if params.engine is GuardEngine.RULES and output.when is None:
            yield ProfileIssue(f"outputs.{number}.when", "is required with engine rules")
        if params.engine is GuardEngine.LLM and output.when is not None:
            yield ProfileIssue(f"outputs.{number}.when", "is only possible with engine rules")
    if params.engine is GuardEngine.RULES and params.call is not None:
        yield ProfileIssue("engine", "must be llm with a target and a prompt")
    if params.engine is GuardEngine.LLM and params.call is None:
        yield ProfileIssue("engine", "llm needs a target and a prompt")
    if params.call is not None:
        yield from _call_issues(params.call)


def artifact_issues(pipeline: Pipeline) -> Iterator[ProfileIssue]:
    writers: dict[str, str] = {}
    for number, operation in enumerate(pipeline.operations):
        field, artifact = f"operations.{number}.artifact", operation.artifact
        if artifact.tag in writers:
            message = f"art.{artifact.tag} is written by operation {writers[artifact.tag]} already"
            yield ProfileIssue(f"{field}.tag", message)
        writers.setdefault(artifact.tag, operation.id)
        yield from (ProfileIssue(f"{field}.{issue.field}", issue.message) for issue in _own_issues(operation))


def _own_issues(operation: ProfileOperation) -> Iterator[ProfileIssue]:
    artifact = operation.artifact
    if artifact.retention is not None and artifact.persistence is ArtifactPersistence.RUN_ONLY:
        yield ProfileIssue("retention", "a run_only artifact has no history")
    if artifact.usage.has_prompt and artifact.inclusion is None:
        yield ProfileIssue("inclusion", f"is required: usage {artifact.usage} needs an inclusion")
    if artifact.inclusion is not None:
        if not artifact.usage.has_prompt:
            yield ProfileIssue("inclusion", f"usage {artifact.usage} has none; use prompt_only or prompt+ui")
        yield from _inclusion_issues(artifact.inclusion)
    yield from _format_issues(operation)


def _inclusion_issues(inclusion: Inclusion) -> Iterator[ProfileIssue]:
    is_at_depth = inclusion.at is PromptPlace.DEPTH
    if is_at_depth and inclusion.depth_from_end is None:
        yield ProfileIssue("inclusion.depthFromEnd", "is required with at depth")
    if not is_at_depth and inclusion.depth_from_end is not None:
        yield ProfileIssue("inclusion.depthFromEnd", "is only possible with at depth")
    if inclusion.role is not None and inclusion.at in (PromptPlace.SYSTEM_PREPEND, PromptPlace.SYSTEM_APPEND):
        yield ProfileIssue("inclusion.role", "is only possible with at after_last_user or depth")


def _format_issues(operation: ProfileOperation) -> Iterator[ProfileIssue]:
    artifact, makes_json = operation.artifact, _makes_json(operation.params)
    if makes_json and artifact.format is not ArtifactFormat.JSON:
        what = "a guard's artifact" if isinstance(operation.params, GuardParams) else "the artifact of JSON output"
        yield ProfileIssue("format", f"must be json: {what} is JSON")
    elif not makes_json and artifact.format is ArtifactFormat.JSON:
        yield ProfileIssue("format", "must be text or markdown: the operation makes a text")
    if makes_json and artifact.write_mode is WriteMode.APPEND and not _makes_list(operation.params):
        yield ProfileIssue("writeMode", "must be replace: append needs a list, by an output schema of type array")


def _makes_json(params: OperationParams) -> bool:
    if isinstance(params, LlmParams):
        return params.output.mode is OutputMode.JSON
    return isinstance(params, GuardParams)


def _makes_list(params: OperationParams) -> bool:
    return isinstance(params, LlmParams) and params.output.is_list


def effect_issues(pipeline: Pipeline) -> Iterator[ProfileIssue]:
    for number, operation in enumerate(pipeline.operations):
        for position, effect in enumerate(operation.effects):
            field = f"operations.{number}.effects.{position}"
            if message := _hook_error(operation, effect.type):
                yield ProfileIssue(f"{field}.type", message)
            yield from (ProfileIssue(f"{field}.{name}", message) for name, message in _field_issues(effect))
            if effect.type.rewritten and effect.type in (each.type for each in operation.effects[:position]):
                yield ProfileIssue(f"{field}.type", f"rewrites {effect.type.rewritten} twice")
    yield from _rival_rewrites(pipeline)


_FIELDS = {
    "mode": (EffectType.SYSTEM_UPDATE,),
    "role": (EffectType.AFTER_LAST_USER, EffectType.INSERT_AT_DEPTH),
    "depthFromEnd": (EffectType.INSERT_AT_DEPTH,),
}
"""Effects of these types must have the field; others must not have it."""


def _field_issues(effect: OperationEffect) -> Iterator[ProfileIssue]:
    values = {"mode": effect.mode, "role": effect.role, "depthFromEnd": effect.depth_from_end}
    for name, types in _FIELDS.items():
        if effect.type in types and values[name] is None:
            yield ProfileIssue(name, f"is required with {effect.type}")
        elif effect.type not in types and values[name] is not None:
            yield ProfileIssue(name, f"is only possible with {' or '.join(types)}")


def _hook_error(operation: ProfileOperation, effect: EffectType) -> str | None:
    if effect.changes_prompt and operation.hooks != (Hook.BEFORE,):
        return "prompt effects are not possible in after_main_llm: hooks must be before_main_llm alone"
    if effect.needs_answer and operation.hooks != (Hook.AFTER,):
        return "there is no answer yet in before_main_llm: hooks must be after_main_llm alone"
    return None


class _Rewrite(NamedTuple):
    field: str
    operation: ProfileOperation
    type: EffectType


def _rival_rewrites(pipeline: Pipeline) -> Iterator[ProfileIssue]:
    """Yield an issue for two independent operations that rewrite the same text in one hook."""
    rewrites = [
        _Rewrite(f"operations.{number}.effects.{position}.type", operation, effect.type)
        for number, operation in enumerate(pipeline.operations)
        for position, effect in enumerate(operation.effects)
        if effect.type.rewritten
    ]
    for number, rewrite in enumerate(rewrites):
        rival = next((each for each in rewrites[:number] if _are_rivals(pipeline, each, rewrite)), None)
        if rival is not None:
            both = f"{rival.operation.id} and {rewrite.operation.id}"
            message = f"{both} both rewrite {rewrite.type.rewritten}: make one depend on the other"
            yield ProfileIssue(rewrite.field, message)


def _are_rivals(pipeline: Pipeline, first: _Rewrite, second: _Rewrite) -> bool:
    one, other = first.operation, second.operation
    if first.type is not second.type or one.id == other.id or not set(one.hooks) & set(other.hooks):
        return False
    return not pipeline.depends(one, other.id) and not pipeline.depends(other, one.id)


def dependency_issues(pipeline: Pipeline) -> Iterator[ProfileIssue]:
    for number, operation in enumerate(pipeline.operations):
        field = f"operations.{number}"
        for position in range(len(operation.depends_on)):
            if message := _dependency_error(pipeline, operation, position):
                yield ProfileIssue(f"{field}.dependsOn.{position}", message)
        for position, condition in enumerate(operation.run_conditions):
            if issue := _condition_issue(pipeline, operation, condition):
                yield ProfileIssue(f"{field}.runConditions.{position}.{issue.field}", issue.message)
    yield from _cycles(pipeline)


def no_such_operation(pipeline: Pipeline, operation_id: str, own_id: str) -> str:
    others = ", ".join(each for each in pipeline.by_id if each != own_id)
    return f"there is no operation {operation_id}; " + (f"the others are {others}" if others else "there are no others")


def _dependency_error(pipeline: Pipeline, operation: ProfileOperation, position: int) -> str | None:
    other = operation.depends_on[position]
    if other == operation.id:
        return "cannot depend on itself"
    if other not in pipeline.by_id:
        return no_such_operation(pipeline, other, operation.id)
    if other in operation.depends_on[:position]:
        return f"{other} is named twice"
    return _crossing_error(operation, pipeline.by_id[other])


def _crossing_error(operation: ProfileOperation, other: ProfileOperation) -> str | None:
    if set(operation.hooks) <= set(other.hooks):
        return None
    return f"{other.id} runs in {other.hooks[0]} only: a dependency cannot cross the main call"


def _condition_issue(pipeline: Pipeline, operation: ProfileOperation, condition: RunCondition) -> ProfileIssue | None:
    guard = pipeline.by_id.get(condition.operation_id)
    if guard is None:
        return ProfileIssue("operationId", no_such_operation(pipeline, condition.operation_id, operation.id))
    if not isinstance(guard.params, GuardParams):
        return ProfileIssue("operationId", f"{guard.id} is not a guard")
    if guard.id not in operation.depends_on:
        return ProfileIssue("operationId", f"{guard.id} must also be in dependsOn")
    if condition.output not in guard.params.keys:
        known = ", ".join(guard.params.keys)
        return ProfileIssue("output", f"guard {guard.id} has no output {condition.output}; it has {known}")
    return None


def _cycles(pipeline: Pipeline) -> Iterator[ProfileIssue]:
    """Yield each cycle once, at its first operation. An operation that depends on itself is reported elsewhere."""
    reported: set[str] = set()
    for number, operation in enumerate(pipeline.operations):
        if operation.id in reported or pipeline.by_id[operation.id] is not operation:
            continue
        path = _way_back(pipeline, operation.id)
        if len(path) > 1 and not reported.intersection(path):
            reported.update(path)
            chain = " → ".join((*path, operation.id))
            yield ProfileIssue(f"operations.{number}.dependsOn", f"depends on itself through {chain}")


def _way_back(pipeline: Pipeline, start: str) -> tuple[str, ...]:
    """Return the shortest path of dependencies from an operation to itself, without its end; empty if there is none."""
    paths: dict[str, tuple[str, ...]] = {start: (start,)}
    pending = [start]
    for node in pending:
        operation = pipeline.by_id.get(node)
        for other in operation.depends_on if operation else ():
            if other == start and node != start:
                return paths[node]
            if other not in paths:
                paths[other] = (*paths[node], other)
                pending.append(other)
    return ()
