"""Checks of whether a run can be carried out: its models, judges, tools and operation profile, and its size."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, product
from typing import Any

import orjson

from cupel_core.accounts.keys import ModelChecks
from cupel_core.base.errors import FieldError, Invalid, NotFound
from cupel_core.domain.codec import encode
from cupel_core.domain.conversations.parts import LargestFiles
from cupel_core.domain.conversations.tools import ToolMode
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.definitions.fit import MAX_MISFITS, Misfit, misfits
from cupel_core.domain.definitions.required_models import missing_models
from cupel_core.domain.definitions.scenarios import Manifest, Scenario
from cupel_core.domain.files.references import largest_files_sent
from cupel_core.domain.pipeline.operations import ProfileOperation
from cupel_core.domain.pipeline.run_profile import RunProfile
from cupel_core.domain.resources.connectors import ConnectorType
from cupel_core.domain.runs.plan import MAX_PROBES, Plan
from cupel_core.domain.runs.settings import MAX_REPEATS
from cupel_core.domain.runs.spec import RunSpec
from cupel_core.domain.runs.targets import Target
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.providers import find_provider, queue_of
from cupel_core.providers.file_support import agent_file_error, file_error
from cupel_core.providers.parameters import known_parameters, parameter_errors
from cupel_core.resources import connectors, profiles
from cupel_core.resources.target_validation import target_error, timeout_errors
from cupel_core.store.scenarios import read_within
from cupel_core.store.settings import settings

MAX_COLUMNS = 200
"""The maximum of targets times prompts, which a matrix of results and the progress of a run can show."""
MAX_CHECKED_BYTES = 5_000_000
"""A start reads at most this much JSON of scenarios to check them: about 15,000 questions."""
MAX_TARGETS_BYTES = 100 * 1024
"""The maximum size of a run's targets as JSON. The run is one item of at most 400 KB."""
_NEEDS_NO_TOOLS = (None, ToolMode.AUTO, ToolMode.NONE)

type Layers = tuple[tuple[str, Mapping[str, Any]], ...]
"""Parameters with the field that they are in. Later ones take precedence."""


def check_spec(
    workspace: str, spec: RunSpec, grader_config: GraderConfig, manifest: Manifest, checks: ModelChecks
) -> None:
    """Raise Invalid, naming every invalid field."""
    errors = [
        *_range_errors(spec),
        *_target_errors(workspace, spec, checks),
        *_grader_errors(checks, grader_config),
        *_summarizer_errors(checks, spec, grader_config),
    ]
    if not manifest.total:
        errors.append(FieldError("definitionId", "has no scenarios yet: add, generate or import some first"))
    if errors:
        raise Invalid.fields(errors)


def check_required_models(grader_config: GraderConfig, content: Content, scenarios: Iterable[Scenario]) -> None:
    """Raise Invalid if something cannot be graded, because no judge or embedding model is configured for it."""
    missing = missing_models(grader_config, content, scenarios)
    if missing:
        hint = "set it in the run, the eval or the workspace's settings"
        raise Invalid.fields(FieldError(f"config.{field}", f"{message}; {hint}") for field, message in missing)


def check_fit(content: Content, manifest: Manifest, positions: Sequence[int]) -> None:
    """Raise Invalid if scenarios at these positions lack what a prompt or an assertion needs. Several scenarios may
    have one name, because stored results name a scenario by its id. Of a large definition, the first MAX_CHECKED_BYTES
    are read: a table that lacks a column lacks it in every row."""
    checked = read_within(manifest, sorted(set(positions)), MAX_CHECKED_BYTES)
    if errors := list(islice(_fit_errors(content, checked), MAX_MISFITS)):
        raise Invalid.fields(errors)


def _fit_errors(content: Content, checked: Sequence[tuple[int, Scenario]]) -> Iterator[FieldError]:
    for position, scenario in checked:
        for misfit in misfits(content, scenario):
            yield FieldError("definitionId", _misfit_message(misfit, position, scenario))


def _misfit_message(misfit: Misfit, position: int, scenario: Scenario) -> str:
    named = f"scenario {position + 1} ({scenario.name})"
    if not misfit.field:
        return f"{named}: {misfit.message}"
    owner = "content" if misfit.is_shared else f"scenarios.{position}"
    return f"{owner}.{misfit.field}: {named} {misfit.message}"


def check_files(workspace: str, plan: Plan, content: Content, scenarios: Iterable[Scenario]) -> None:
    """Raise Invalid if the messages have an image or a PDF that a target does not take."""
    largest = largest_files_sent(content, scenarios)
    if not largest:
        return
    errors = [
        FieldError(_target_field(plan.targets, number), message)
        for number, target in enumerate(plan.targets)
        if (message := _file_error(workspace, target, largest))
    ]
    if errors:
        raise Invalid.fields(errors)


def _file_error(workspace: str, target: Target, largest: LargestFiles) -> str | None:
    if target.connector_id is None:
        return file_error(target.model, largest)
    return agent_file_error(connectors.get(workspace, target.connector_id).type, largest)


def _target_field(targets: Sequence[Target], number: int) -> str:
    """Return the field in the request. `models` is short for targets without any settings of their own."""
    if _are_plain(targets):
        return f"models.{number}"
    target = targets[number]
    return f"targets.{number}.{'connectorId' if target.connector_id else 'model'}"


def _are_plain(targets: Sequence[Target]) -> bool:
    return all(target == Target(target.model) for target in targets)


def check_tool_connectors(workspace: str, spec: RunSpec, content: Content) -> None:
    """Raise Invalid for each connector that must execute calls of tools and cannot."""
    layers = [
        ("config.params", {**content.params, **spec.params}),
        *((f"targets.{number}.params", target.params) for number, target in enumerate(spec.targets)),
        *((f"prompts.{number}.params", prompt.params) for number, prompt in enumerate(content.prompts)),
    ]
    errors = [
        FieldError(f"{field}.toolConnectorId", message)
        for field, params in layers
        if (connector_id := params.get("toolConnectorId")) and (message := _tool_error(workspace, connector_id))
    ]
    if errors:
        raise Invalid.fields(errors)


def _tool_error(workspace: str, connector_id: str) -> str | None:
    try:
        connector = connectors.get(workspace, connector_id)
    except NotFound as error:
        return error.detail
    return None if connector.type is ConnectorType.TOOLS else f"{connector_id} is not of type tools: it is an agent"


def check_size(plan: Plan) -> None:
    if len(plan.columns) > MAX_COLUMNS:
        raise Invalid(
            f"{len(plan.targets)} targets with {len(plan.prompt_ids)} prompts are {len(plan.columns)} columns; "
            f"the maximum is {MAX_COLUMNS}"
        )
    if len(orjson.dumps([encode(target) for target in plan.targets])) > MAX_TARGETS_BYTES:
        raise Invalid.field("targets", f"must have at most {MAX_TARGETS_BYTES // 1024} KB as JSON, all together")
    if plan.total > MAX_PROBES:
        raise Invalid(f"the run would have {plan.total:,} probes; the maximum is {MAX_PROBES:,}")


def _range_errors(spec: RunSpec) -> Iterator[FieldError]:
    if not 1 <= spec.sample_percentage <= 100:
        yield FieldError("samplePercentage", "must be from 1 to 100")
    if not 1 <= spec.repeats <= MAX_REPEATS:
        yield FieldError("repeats", f"must be from 1 to {MAX_REPEATS:,}")


def _target_errors(workspace: str, spec: RunSpec, checks: ModelChecks) -> Iterator[FieldError]:
    if not spec.targets:
        yield FieldError("models", "must name at least one model, such as openai/gpt-6.1-terra")
    for number, target in enumerate(spec.targets):
        field, is_plain = f"targets.{number}", _are_plain(spec.targets)
        if target.id in (other.id for other in spec.targets[:number]):
            hint = "is a duplicate" if is_plain else "is a duplicate: targets need different labels"
            yield FieldError(f"models.{number}" if is_plain else f"{field}.label", hint)
        elif message := _queue_error(target.provider) or target_error(workspace, target, checks):
            yield FieldError(_target_field(spec.targets, number), message)
        yield from parameter_errors(target, f"{field}.params")
        yield from timeout_errors(target.call_timeout_seconds, f"{field}.callTimeoutSeconds")
    yield from _default_errors(spec)


def _default_errors(spec: RunSpec) -> Iterator[FieldError]:
    known = frozenset[str]().union(*map(known_parameters, spec.targets))
    for name, value in spec.params.items():
        if value is not None and name not in known and spec.targets:
            yield FieldError(f"config.params.{name}", "is a parameter that none of the run's targets takes")
    yield from timeout_errors(spec.call_timeout_seconds, "config.callTimeoutSeconds")


def _summarizer_errors(checks: ModelChecks, spec: RunSpec, grader_config: GraderConfig) -> Iterator[FieldError]:
    """Yield the errors of the summarizer. A default that nothing uses has none."""
    model = grader_config.summarizer_model
    is_used = spec.report or spec.grader_config.summarizer_model is not None
    if is_used and model is not None and (message := checks.model_error(model)):
        yield FieldError("config.summarizerModel", message)


def _grader_errors(checks: ModelChecks, grader_config: GraderConfig) -> Iterator[FieldError]:
    for field, model, find_error in (
        ("config.judgeModel", grader_config.judge_model, checks.model_error),
        ("config.personaModel", grader_config.persona_model, checks.model_error),
        ("config.embeddingModel", grader_config.embedding_model, checks.account_error),
    ):
        message = model and find_error(model)
        if message:
            yield FieldError(field, message)


def _queue_error(provider: str) -> str | None:
    queue = queue_of(provider)
    if find_provider(provider) is None or settings().has_queues(queue):
        return None
    return f"this stack evaluates no models of {provider}: its operator can add {queue} to its parameter Providers"


def find_profile(workspace: str, profile_id: str, version: int | None) -> dict[str, Any]:
    """Return the profile as a snapshot stores it. Raise Invalid for an unknown profile or version."""
    try:
        profile = profiles.get(workspace, profile_id, version)
    except NotFound as unknown:
        field = "config.profileVersion" if "version" in unknown.detail else "config.profileId"
        raise Invalid.field(field, unknown.detail) from None
    return {
        "id": profile.head.id,
        "name": profile.head.name,
        "version": profile.version.number,
        "enabled": profile.head.enabled,
        "content": profile.version.content,
    }


def check_profile(workspace: str, spec: RunSpec, stored: dict[str, Any], checks: ModelChecks) -> None:
    """Raise Invalid, naming every problem. Keys and prices may have changed since a profile was saved."""
    profile = RunProfile.of_snapshot(stored)
    if profile is None:
        return
    errors = [
        FieldError("config.profileId", f"operation {operation.id}: {message}")
        for operation in profile.enabled
        if operation.params.call is not None
        and (message := checks.model_error(operation.params.call.target.model) or _timeout_error(operation))
    ]
    if profile.changes_prompt and _has_threads(workspace, spec):
        message = "its operations change the prompt, which a LangGraph agent does not read: it keeps its own thread"
        errors.append(FieldError("config.profileId", message))
    if errors:
        raise Invalid.fields(errors)


def _timeout_error(operation: ProfileOperation) -> str | None:
    seconds = operation.params.call.target.call_timeout_seconds if operation.params.call else None
    if seconds is None or seconds <= settings().call_timeout_seconds:
        return None
    return f"callTimeoutSeconds must be at most {settings().call_timeout_seconds:g}, the stack's CallTimeoutSeconds"


def _has_threads(workspace: str, spec: RunSpec) -> bool:
    ids = [target.connector_id for target in spec.targets if target.connector_id is not None]
    return any(connectors.get(workspace, each).type is ConnectorType.LANGGRAPH for each in ids)


def check_tool_choices(spec: RunSpec, content: Content) -> None:
    """Raise Invalid for each `toolChoice` that forces a call although there is no such tool."""
    default = ("content.params", content.params), ("config.params", spec.params)
    targets = [
        (f"targets.{number}.params", target.params)
        for number, target in enumerate(spec.targets)
        if {"tools", "toolChoice"} <= known_parameters(target)
    ]
    prompts = [(f"prompts.{number}.params", prompt.params) for number, prompt in enumerate(content.prompts)]
    errors = (
        error
        for target, prompt in product(targets, prompts or [("prompts", {})])
        for error in _tool_choice_errors((*default, target, prompt))
    )
    if found := list(dict.fromkeys(errors)):
        raise Invalid.fields(found)


def _tool_choice_errors(layers: Layers) -> Iterator[FieldError]:
    field, choice = _last_layer(layers, "toolChoice")
    if choice in _NEEDS_NO_TOOLS:
        return
    names = [str(tool["name"]) for tool in _last_layer(layers, "tools")[1] or ()]
    if not names:
        yield FieldError(f"{field}.toolChoice", "needs tools, and neither the target nor a default has any")
    elif isinstance(choice, Mapping) and choice["name"] not in names:
        yield FieldError(f"{field}.toolChoice", f"must name one of the tools: {', '.join(names)}")


def _last_layer(layers: Layers, name: str) -> tuple[str, Any]:
    return next(((field, params[name]) for field, params in reversed(layers) if name in params), ("", None))
