"""Generations of scenarios: begin one, ask how far it is. A matrix is there at once, what a model writes is not."""

from dataclasses import dataclass, replace
from datetime import datetime
from secrets import randbelow

from cupel_core.accounts import account
from cupel_core.definitions import Resolved, resolve
from cupel_core.domain.definitions.generations import Generation, GenerationStatus, Mode
from cupel_core.domain.definitions.matrix import Matrix, Options
from cupel_core.domain.definitions.scenarios import MAX_SCENARIOS
from cupel_core.errors import Invalid
from cupel_core.ids import new_id
from cupel_core.messages import GenerationOrder
from cupel_core.providers import provider_of
from cupel_core.settings import settings
from cupel_core.store import definitions, generations, queues, scenarios

_SEEDS = 2**53
"""Whole numbers up to here mean the same to every JSON reader."""


@dataclass(frozen=True)
class GenerationSpec:
    """What is asked for; `model` is for mode llm only. Without a seed one is drawn."""

    mode: Mode
    options: Options = Options.FIRST
    seed: int | None = None
    model: str | None = None
    replace: bool = False


def begin(workspace: str, definition_id: str, spec: GenerationSpec, now: datetime) -> Generation:
    """Invalid names the field that keeps this definition from it; nothing is written before all is checked."""
    definition = resolve(workspace, definition_id)
    _check_model(workspace, spec)
    generation = _generation(workspace, definition, spec, now)
    if generation.mode is Mode.MATRIX:
        return _write_matrix(generation, definition, now)
    generations.create(generation)
    queues.send(settings().generate_queue_url, [order_of(generation)])
    return generation


def get(workspace: str, definition_id: str, generation_id: str) -> Generation:
    definitions.get(workspace, definition_id)
    return generations.get(workspace, definition_id, generation_id)


def matrix_of(generation: Generation, definition: Resolved) -> Matrix:
    return Matrix(definition.content, generation.options, generation.seed)


def order_of(generation: Generation) -> GenerationOrder:
    return GenerationOrder(
        workspace=generation.workspace, definition_id=generation.definition_id, generation_id=generation.id
    )


def _generation(workspace: str, definition: Resolved, spec: GenerationSpec, now: datetime) -> Generation:
    return Generation(
        workspace=workspace,
        definition_id=definition.definition_id,
        id=new_id("gen"),
        mode=spec.mode,
        definition_version=definition.version,
        total=_checked_size(workspace, definition, spec),
        created_at=now,
        updated_at=now,
        options=spec.options,
        seed=randbelow(_SEEDS) if spec.seed is None else spec.seed,
        model=spec.model,
        replace=spec.replace,
    )


def _checked_size(workspace: str, definition: Resolved, spec: GenerationSpec) -> int:
    if definition.content.template is None:
        raise Invalid.field("definitionId", "has no template to generate scenarios from")
    size = Matrix(definition.content).size
    present = 0 if spec.replace else scenarios.manifest(workspace, definition.definition_id).total
    if present + size > MAX_SCENARIOS:
        raise Invalid(
            f"there are {size:,} combinations beside {present:,} scenarios; a definition has at most {MAX_SCENARIOS:,}"
        )
    return size


def _check_model(workspace: str, spec: GenerationSpec) -> None:
    if spec.mode is Mode.MATRIX:
        if spec.model is not None:
            raise Invalid.field("model", "is for the mode llm only")
        return
    if spec.model is None:
        raise Invalid.field("model", "is needed for the mode llm, such as openai/gpt-5-mini")
    provider = provider_of(spec.model, "model")
    access = account(workspace, provider.name)
    if not access.enabled:
        raise Invalid.field("model", f"provider {provider.name} is disabled")
    if provider.needs_key and not access.api_key:
        raise Invalid.field(
            "model", f"provider {provider.name} has no API key: PUT /v1/providers/{provider.name} sets it"
        )
    if provider.needs_base_url and not access.base_url:
        raise Invalid.field("model", f"provider {provider.name} has no baseUrl")


def _write_matrix(generation: Generation, definition: Resolved, now: datetime) -> Generation:
    current = scenarios.manifest(generation.workspace, generation.definition_id)
    grown = scenarios.write_pages(
        generation.workspace,
        generation.definition_id,
        current,
        matrix_of(generation, definition),
        replace=generation.replace,
    )
    generations.finish(generation, grown, now)
    return replace(generation, status=GenerationStatus.COMPLETED)
