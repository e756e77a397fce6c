"""Writes definitions and their scenarios."""

from typing import Annotated, Any

from pydantic import Field

from cupel_core.base.errors import FieldError, Invalid
from cupel_core.budgets.price_checks import may_cost
from cupel_core.contract.definitions import (
    CreateDefinition,
    DefinitionResponse,
    ForkDefinition,
    GenerateScenarios,
    ScenarioGenerationResponse,
    UpdateDefinition,
)
from cupel_core.definitions import catalog, forks
from cupel_core.definitions.generation import generations
from cupel_core.definitions.generation.preview import preview
from cupel_core.definitions.validation import validate_content
from cupel_core.domain.definitions.definitions import Content, Definition, content_warnings
from cupel_core.domain.definitions.generations import GenerationMode, GenerationSpec, GenerationStatus, GenerationView
from cupel_core.domain.definitions.matrix import LevelOptionChoice, Matrix
from cupel_core.interfaces.gateway.validation import parse
from cupel_core.interfaces.mcp.bodies import body_of
from cupel_core.interfaces.mcp.models import (
    Arguments,
    CreatingArguments,
    Id,
    ResultModel,
    Text,
    ToolResult,
    UntrustedResult,
    Version,
)
from cupel_core.interfaces.mcp.registry import ToolEffect, ToolGroup, tool
from cupel_core.interfaces.mcp.repeats import once
from cupel_core.interfaces.mcp.request import ToolRequest
from cupel_core.interfaces.mcp.tools.rescores import BudgetUsd

_MAX_FIELDS = 50
DefinitionJson = Annotated[
    dict[str, Any],
    Field(
        max_length=_MAX_FIELDS,
        description=(
            "`system`, `template` with `[placeholders]`, `dimensions` [{name, levels: [{score, label}]}], `decision`"
            " {pattern | rubric, judgeModel}, `assertions`, `maxTurns`, …; get_definition shows examples"
        ),
    ),
]
Tag = Annotated[str, Field(strict=True, min_length=1, max_length=100)]
Tags = Annotated[list[Tag], Field(max_length=50)]
Label = Annotated[str, Field(strict=True, min_length=1, max_length=100, description="A name for this version")]
Seed = Annotated[int, Field(strict=True, ge=0, le=2**53 - 1)]


class FieldProblem(ResultModel):
    field: str
    message: str


class ValidateDefinition(Arguments):
    content: DefinitionJson


class DefinitionCheck(ToolResult):
    valid: bool
    errors: list[FieldProblem]
    warnings: list[FieldProblem]
    scenario_count: Annotated[
        int | None, Field(description="Scenarios that generate_scenarios would write; none without a template")
    ] = None


@tool(
    "getDefinition",
    title="Validate a definition",
    description="Checks the content of a definition without storing it: errors and warnings by field.",
    max_kb=4,
    group=ToolGroup.AUTHORING,
)
def validate_definition(request: ToolRequest, arguments: ValidateDefinition) -> DefinitionCheck:  # noqa: ARG001
    try:
        wanted = parse(CreateDefinition, {"name": "new", "content": arguments.content}, "")
        content = validate_content(wanted.specified_content())
    except Invalid as invalid:
        return DefinitionCheck(valid=False, errors=[_problem(each) for each in invalid.errors], warnings=[])
    warnings = [FieldProblem(field=f"content.{each.field}", message=each.message) for each in content_warnings(content)]
    return DefinitionCheck(valid=True, errors=[], warnings=warnings, scenario_count=_scenario_count(content))


def _problem(error: FieldError) -> FieldProblem:
    return FieldProblem(field=error.field, message=error.message)


def _scenario_count(content: Content) -> int | None:
    """None if a generation would be refused."""
    matrix = Matrix(content)
    if content.template is None:
        return None
    try:
        generations.check_matrix(matrix)
    except Invalid:
        return None
    return matrix.size


class PreviewScenarios(Arguments):
    definition_id: Id
    version: Version | None = None
    options: LevelOptionChoice = LevelOptionChoice.FIRST
    seed: Seed = 0
    max_scenarios: Annotated[int, Field(strict=True, ge=1, le=20)] = 5


class PreviewedScenario(ResultModel):
    name: str
    dimensions: dict[str, float]
    prompt: str


class ScenarioPreviewResult(UntrustedResult):
    total: Annotated[int, Field(description="Scenarios that would be written")]
    scenarios: list[PreviewedScenario]


@tool(
    "getDefinition",
    title="Preview generated scenarios",
    description="What generate_scenarios in mode `matrix` would write, from the first to the last; writes nothing.",
    max_kb=8,
    group=ToolGroup.AUTHORING,
)
def generate_scenarios_preview(request: ToolRequest, arguments: PreviewScenarios) -> ScenarioPreviewResult:
    found = preview(
        request.workspace,
        arguments.definition_id,
        arguments.options,
        arguments.seed,
        arguments.max_scenarios,
        arguments.version,
    )
    shown = [
        PreviewedScenario(name=each.name, dimensions=each.dimensions, prompt=each.messages[0].content)
        for each in found.scenarios
    ]
    return ScenarioPreviewResult(total=found.total, scenarios=shown)


class WrittenDefinition(ToolResult):
    id: str
    name: str
    version: int
    version_label: str | None = None
    parent_id: str | None = None
    tags: list[str]
    scenario_count: int
    warnings: list[FieldProblem]


def _written(definition: Definition) -> WrittenDefinition:
    return WrittenDefinition.model_validate(DefinitionResponse.of_definition(definition))


class CreateDefinitionArguments(CreatingArguments):
    name: Text
    content: DefinitionJson
    folder: Text | None = None
    tags: Tags | None = None
    version_label: Label | None = None


@tool(
    "createDefinition",
    title="Create a definition",
    description="Stores a new definition. Before it can be run it needs scenarios: see generate_scenarios.",
    max_kb=4,
    group=ToolGroup.AUTHORING,
    effect=ToolEffect.CREATE,
)
def create_definition(request: ToolRequest, arguments: CreateDefinitionArguments) -> WrittenDefinition:
    wanted = parse(CreateDefinition, body_of(arguments, without=("idempotency_key",)), "")

    def create() -> WrittenDefinition:
        return _written(catalog.create(request.workspace, wanted.labels(), wanted.specified_content(), request.now))

    return once(request, "createDefinition", arguments, create, lambda made: _read(request, made))


def _read(request: ToolRequest, definition_id: str) -> WrittenDefinition:
    return _written(catalog.get(request.workspace, definition_id))


class ForkDefinitionArguments(CreatingArguments):
    parent_id: Id
    name: Text
    version: Annotated[
        int | None, Field(strict=True, ge=1, le=1_000_000, description="Of the parent; the newest if omitted")
    ] = None
    changes: Annotated[
        dict[str, Any] | None, Field(max_length=_MAX_FIELDS, description="Fields of the content that differ")
    ] = None
    version_label: Label | None = None


@tool(
    "forkDefinition",
    title="Fork a definition",
    description="A new definition that inherits from another one what `changes` does not override.",
    max_kb=4,
    group=ToolGroup.AUTHORING,
    effect=ToolEffect.CREATE,
)
def fork_definition(request: ToolRequest, arguments: ForkDefinitionArguments) -> WrittenDefinition:
    body = body_of(arguments, without=("parent_id", "changes", "idempotency_key"))
    wanted = parse(ForkDefinition, body | ({"content": arguments.changes} if arguments.changes else {}), "")
    overrides = wanted.content.specified() if wanted.content else {}

    def fork() -> WrittenDefinition:
        labels = wanted.labels()
        made = forks.fork(request.workspace, arguments.parent_id, labels, overrides, request.now, wanted.version)
        return _written(made)

    return once(request, "forkDefinition", arguments, fork, lambda made: _read(request, made))


class UpdateDefinitionArguments(Arguments):
    definition_id: Id
    name: Text | None = None
    content: DefinitionJson | None = None
    folder: Text | None = None
    add_tags: Tags | None = None
    remove_tags: Tags | None = None
    version_label: Label | None = None


@tool(
    "updateDefinition",
    title="Update a definition",
    description="Changes what is given. `content` has the fields that change, and makes the next version.",
    max_kb=4,
    group=ToolGroup.AUTHORING,
    effect=ToolEffect.UPDATE,
    is_idempotent=False,
)
def update_definition(request: ToolRequest, arguments: UpdateDefinitionArguments) -> WrittenDefinition:
    body = body_of(arguments, without=("definition_id", "add_tags", "remove_tags"))
    if arguments.add_tags or arguments.remove_tags:
        before = catalog.get(request.workspace, arguments.definition_id).head.tags
        removed = set(arguments.remove_tags or ())
        body["tags"] = [each for each in (*before, *(arguments.add_tags or ())) if each not in removed]
    wanted = parse(UpdateDefinition, body, "")
    overrides = wanted.content.specified() if wanted.content else None
    return _written(catalog.update(request.workspace, arguments.definition_id, wanted.labels(), overrides, request.now))


class DeleteDefinition(Arguments):
    definition_id: Id


class DeletedDefinition(ToolResult):
    definition_id: str
    deleted: bool


@tool(
    "deleteDefinition",
    title="Delete a definition",
    description="Deletes a definition. Its runs and forks are kept.",
    max_kb=1,
    group=ToolGroup.AUTHORING,
    effect=ToolEffect.DESTROY,
)
def delete_definition(request: ToolRequest, arguments: DeleteDefinition) -> DeletedDefinition:
    catalog.delete(request.workspace, arguments.definition_id, request.now)
    return DeletedDefinition(definition_id=arguments.definition_id, deleted=True)


class GenerateScenariosArguments(CreatingArguments):
    definition_id: Id
    mode: Annotated[
        GenerationMode, Field(description="`matrix` renders the template; in `llm`, `model` writes the texts")
    ] = GenerationMode.MATRIX
    model: Annotated[str | None, Field(strict=True, min_length=3, max_length=256)] = None
    options: Annotated[LevelOptionChoice, Field(description="Which phrase of a level is used")] = (
        LevelOptionChoice.FIRST
    )
    seed: Seed | None = None
    replace: Annotated[bool, Field(strict=True, description="Instead of the scenarios that are there")] = False
    allow_unpriced: Annotated[
        bool,
        Field(strict=True, description="The user agreed to a model whose price is unknown, which no budget limits"),
    ] = False
    max_budget_usd: Annotated[
        BudgetUsd | None, Field(description="The generation fails when this is used up, and adds no scenario")
    ] = None


class GenerationResult(ToolResult):
    id: str
    status: GenerationStatus
    definition_version: int
    total: int
    error: str | None = None


@tool(
    "generateScenarios",
    title="Generate scenarios",
    description=(
        "Writes a scenario per combination of the dimensions' levels; `replace` deletes those that are there. `matrix`"
        " completes at once; `llm` calls `model` and goes on: get_definition counts the scenarios when it is done."
        " Unless the model is free, it needs max_budget_usd; ask the user first."
    ),
    max_kb=1,
    group=ToolGroup.AUTHORING,
    effect=ToolEffect.DESTROY,
    is_idempotent=False,
    calls_models=True,
)
def generate_scenarios(request: ToolRequest, arguments: GenerateScenariosArguments) -> GenerationResult:
    body = {"mode": arguments.mode, **body_of(arguments, without=("definition_id", "idempotency_key"))}
    wanted = parse(GenerateScenarios, body, "")
    workspace, definition_id = request.workspace, arguments.definition_id

    def generate() -> GenerationResult:
        spec = wanted.spec()
        _check_budget(workspace, spec)
        return _generated(GenerationView(generations.start_generation(workspace, definition_id, spec, request.now)))

    def read(generation_id: str) -> GenerationResult:
        return _generated(generations.get(workspace, definition_id, generation_id))

    return once(request, "generateScenarios", arguments, generate, read)


def _check_budget(workspace: str, spec: GenerationSpec) -> None:
    if spec.mode is not GenerationMode.LLM or spec.model is None or spec.max_budget_usd is not None:
        return
    if may_cost(workspace, spec.model):
        raise Invalid.field("maxBudgetUsd", f"is required, as {spec.model} may cost money: ask the user how much")


def _generated(view: GenerationView) -> GenerationResult:
    response = ScenarioGenerationResponse.of(view)
    fields = response.model_dump(by_alias=False, include={"id", "status", "definition_version", "error"})
    return GenerationResult(**fields, total=response.progress.total)
