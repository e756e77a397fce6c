"""Checks definitions and previews their scenarios without storing anything; the API has no operation for this."""

from typing import Annotated, Any

from pydantic import Field

from cupel_core.base.errors import FieldError, Invalid
from cupel_core.contract.definitions import CreateDefinition
from cupel_core.contract.fields import Seed
from cupel_core.contract.operation import ToolGroup
from cupel_core.definitions.generation import generations
from cupel_core.definitions.generation.preview import preview
from cupel_core.definitions.validation import validate_content
from cupel_core.domain.definitions.definitions import Content, content_warnings
from cupel_core.domain.definitions.matrix import LevelOptionChoice, Matrix
from cupel_core.interfaces.gateway.validation import parse
from cupel_core.interfaces.mcp.models import Arguments, Id, ResultModel, ToolResult, UntrustedResult, Version
from cupel_core.interfaces.mcp.registry import tool
from cupel_core.interfaces.mcp.request import ToolRequest

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
