"""Generations of scenarios: by a matrix, which completes at once, or by a model in the background."""

from dataclasses import replace
from datetime import datetime
from secrets import randbelow

from cupel_core.accounts.keys import account_error, load_account
from cupel_core.base.errors import FieldError, Invalid
from cupel_core.base.ids import new_id
from cupel_core.base.messages import GenerationRequest
from cupel_core.budgets.price_checks import has_price, is_workspace_limited, refuse_unpriced
from cupel_core.definitions import ResolvedDefinition, resolve
from cupel_core.domain.budgets.call_tokens import GRADER_OUTPUT_TOKENS
from cupel_core.domain.budgets.money import amount_text, nano_usd, usd
from cupel_core.domain.definitions.definitions import content_errors
from cupel_core.domain.definitions.generations import (
    Generation,
    GenerationMode,
    GenerationSpec,
    GenerationStatus,
    GenerationView,
    request_for,
)
from cupel_core.domain.definitions.matrix import Matrix
from cupel_core.domain.definitions.scenarios import MAX_SCENARIOS, MAX_TEXT_LENGTH
from cupel_core.domain.text.json_limits import EXACT_INTEGERS
from cupel_core.providers import provider_of
from cupel_core.providers.account import Account
from cupel_core.providers.reservations import bound_of_call
from cupel_core.store import budgets, definition_scenarios, definitions, generations, queues, scenarios
from cupel_core.store.budgets import GenerationRef
from cupel_core.store.settings import settings

MAX_RULE_CHECKS = 2_000_000
"""Checking this many rules takes about 5 s with the CPU of the API's function."""
MAX_OUTPUT_TOKENS = GRADER_OUTPUT_TOKENS
"""A text has at most this many tokens if the generation has a budget of its own, so that a call's maximum cost is
known."""


def start_generation(workspace: str, definition_id: str, spec: GenerationSpec, now: datetime) -> Generation:
    """Start a generation. Everything is validated before anything is written. Raise Invalid, naming the field."""
    definition = resolve(workspace, definition_id)
    account = _check_model(workspace, spec)
    generation = _generation(workspace, definition, spec, now)
    if account is not None:
        _check_budget(account, generation, definition)
    if generation.mode is GenerationMode.MATRIX:
        return _write_matrix(generation, definition, now)
    generations.create(generation)
    queues.send(settings().generate_queue_url, [generation_request(generation)], group=generation.workspace)
    return generation


def get(workspace: str, definition_id: str, generation_id: str) -> GenerationView:
    """Return the generation. Raise NotFound for an unknown one, and for an unknown or deleted definition."""
    definitions.get(workspace, definition_id)
    generation = generations.get(workspace, definition_id, generation_id)
    if generation.max_budget_usd is None:
        return GenerationView(generation)
    return GenerationView(generation, budgets.get(budget_owner(generation)))


def budget_owner(generation: Generation) -> GenerationRef:
    return GenerationRef(generation.workspace, generation.definition_id, generation.id)


def matrix_of(generation: Generation, definition: ResolvedDefinition) -> Matrix:
    return Matrix(definition.content, generation.options, generation.seed)


def generation_request(generation: Generation) -> GenerationRequest:
    return GenerationRequest(
        workspace=generation.workspace, definition_id=generation.definition_id, generation_id=generation.id
    )


def _generation(workspace: str, definition: ResolvedDefinition, spec: GenerationSpec, now: datetime) -> Generation:
    return Generation(
        workspace=workspace,
        definition_id=definition.definition_id,
        id=new_id("gen"),
        mode=spec.mode,
        definition_version=definition.version,
        total=_check_size(workspace, definition, spec),
        created_at=now,
        updated_at=now,
        options=spec.options,
        seed=randbelow(EXACT_INTEGERS) if spec.seed is None else spec.seed,
        model=spec.model,
        replace=spec.replace,
        max_budget_usd=spec.max_budget_usd,
    )


def _check_size(workspace: str, definition: ResolvedDefinition, spec: GenerationSpec) -> int:
    if definition.content.template is None:
        raise Invalid.field("definitionId", "has no template to generate scenarios from")
    matrix = Matrix(definition.content)
    check_matrix(matrix)
    size = matrix.size
    present = (
        0 if spec.replace else definition_scenarios.get_current(workspace, definition.definition_id).manifest.total
    )
    if present + size > MAX_SCENARIOS:
        raise Invalid(
            f"{size:,} combinations and {present:,} present scenarios exceed the maximum of {MAX_SCENARIOS:,} scenarios"
        )
    return size


def check_matrix(matrix: Matrix) -> None:
    """Raise Invalid for rules that are invalid, too many, or allow no combination."""
    if errors := content_errors(replace(matrix.content, decision=None)):
        raise Invalid.fields(FieldError(f"content.{issue.field}", issue.message) for issue in errors)
    if matrix.rule_checks > MAX_RULE_CHECKS:
        raise Invalid(f"the combinations times the matching rules exceed the maximum of {MAX_RULE_CHECKS:,}")
    if matrix.max_text_length > MAX_TEXT_LENGTH:
        raise Invalid.field(
            "content.template", f"would be longer than {MAX_TEXT_LENGTH:,} characters with its longest options"
        )
    if not matrix.size:
        raise Invalid.field("content.matchingRules", "allow no combination")


def _check_model(workspace: str, spec: GenerationSpec) -> Account | None:
    if spec.mode is GenerationMode.MATRIX:
        for field, value in (("model", spec.model), ("maxBudgetUsd", spec.max_budget_usd)):
            if value is not None:
                raise Invalid.field(field, "is allowed in mode llm only")
        return None
    if spec.model is None:
        raise Invalid.field("model", "is required in mode llm, for example openai/gpt-6.1-terra")
    provider = provider_of(spec.model, "model")
    if error := account_error(workspace, spec.model):
        raise Invalid.field("model", error)
    account = load_account(workspace, provider.name)
    is_limited = spec.max_budget_usd is not None or is_workspace_limited(workspace)
    if not spec.allow_unpriced and is_limited and not has_price(workspace, spec.model):
        refuse_unpriced([spec.model])
    return account


def _check_budget(account: Account, generation: Generation, definition: ResolvedDefinition) -> None:
    if generation.max_budget_usd is None:
        return
    first = request_for(matrix_of(generation, definition), 0, MAX_OUTPUT_TOKENS)
    needed = bound_of_call(account, generation.model or "", first).nano_usd
    if needed > nano_usd(generation.max_budget_usd):
        raise Invalid.field("maxBudgetUsd", f"is less than the {amount_text(usd(needed))} that its first call may cost")


def _write_matrix(generation: Generation, definition: ResolvedDefinition, now: datetime) -> Generation:
    current = definition_scenarios.get_current(generation.workspace, generation.definition_id)
    manifest = scenarios.write_pages(
        generation.workspace,
        generation.definition_id,
        current.manifest,
        matrix_of(generation, definition),
        replace=generation.replace,
    )
    generations.finish(generation, current, manifest, now)
    return replace(generation, status=GenerationStatus.COMPLETED)
