"""Reads definitions and their scenarios."""

from typing import Annotated, Any

from pydantic import Field

from cupel_core.base.errors import NotFound
from cupel_core.base.paging import Entry
from cupel_core.contract.common import Time
from cupel_core.contract.definitions import DefinitionResponse, DefinitionSummaryResponse, ScenarioResponse
from cupel_core.definitions import catalog, forks, scenarios
from cupel_core.domain.definitions.definitions import DefinitionHead
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.interfaces.mcp.models import (
    Arguments,
    Id,
    ListArguments,
    ListResult,
    ResultModel,
    Text,
    ToolResult,
    UntrustedListResult,
    Version,
)
from cupel_core.interfaces.mcp.registry import tool
from cupel_core.interfaces.mcp.request import ToolRequest
from cupel_core.interfaces.mcp.results import list_result

_MAX_ANCESTORS = 20
_PREVIEW_LENGTH = 200
_MAX_DIMENSIONS = 100


class DefinitionBrief(ResultModel):
    id: str
    name: str
    folder: str | None = None
    tags: list[str]
    version: int
    version_label: str | None = None
    parent_id: str | None = None
    updated_at: Time


class ListDefinitions(ListArguments):
    folder: Text | None = None
    include_children: Annotated[bool, Field(strict=True, description="Also of the folders below `folder`")] = False
    search: Annotated[Text | None, Field(description="Part of the name")] = None
    tag: Text | None = None
    include_dimensions: Annotated[
        bool, Field(strict=True, description="Also the number of scenarios, and the dimensions with their scores")
    ] = False


class DimensionScale(ResultModel):
    name: str
    scores: Annotated[list[float], Field(description="Scores of its levels")]


class ListedDefinition(DefinitionBrief):
    scenario_count: int | None = None
    dimensions: list[DimensionScale] | None = None


@tool(
    "listDefinitions",
    title="List definitions",
    description="Definitions of evaluations, newest first. get_definition has the content of one.",
    max_kb=4,
)
def list_definitions(request: ToolRequest, arguments: ListDefinitions) -> ListResult[ListedDefinition]:
    page = catalog.list_definitions(
        request.workspace,
        folder=arguments.folder,
        include_children=arguments.include_children,
        search=arguments.search,
        tag=arguments.tag,
        limit=arguments.limit,
        cursor=arguments.cursor,
    )

    def view(head: DefinitionHead) -> ListedDefinition:
        listed = DefinitionSummaryResponse.of(head).model_dump(by_alias=False)
        return ListedDefinition(**listed, **(_scales(request, head) if arguments.include_dimensions else {}))

    return list_result(request, ListResult[ListedDefinition], page.entries(), arguments.limit, view)


def _scales(request: ToolRequest, head: DefinitionHead) -> dict[str, Any]:
    """Nothing of a definition that was deleted since it was listed."""
    try:
        found = catalog.get(request.workspace, head.id)
    except NotFound:
        return {}
    dimensions = [
        DimensionScale(name=each.name, scores=[level.score for level in each.levels])
        for each in found.content.dimensions
    ]
    return {"scenario_count": DefinitionResponse.of_definition(found).scenario_count, "dimensions": dimensions}


class GetDefinition(Arguments):
    definition_id: Id
    version: Version | None = None


class AncestorBrief(ResultModel):
    id: str
    name: str
    version: int


class WarningBrief(ResultModel):
    field: str
    message: str


class DefinitionDetail(ToolResult, DefinitionBrief):
    scenario_count: int
    content: Annotated[
        dict[str, Any], Field(description="Prompts, template, dimensions with levels, decision, assertions")
    ]
    warnings: list[WarningBrief]
    ancestors: Annotated[list[AncestorBrief], Field(description="What it was forked from, nearest first")]


@tool(
    "getDefinition",
    title="Get a definition",
    description="A definition with its content, its number of scenarios and the definitions that it was forked from.",
    max_kb=16,
)
def get_definition(request: ToolRequest, arguments: GetDefinition) -> DefinitionDetail:
    found = catalog.get(request.workspace, arguments.definition_id, arguments.version)
    contents = DefinitionResponse.of_definition(found).model_dump(mode="json", by_alias=True)
    listed = forks.list_ancestors(request.workspace, found.head.id, limit=_MAX_ANCESTORS, cursor=None)
    ancestors = [AncestorBrief.model_validate(DefinitionSummaryResponse.of(each)) for each in listed.items]
    return DefinitionDetail.model_validate({**contents, "ancestors": ancestors})


class SearchScenarios(ListArguments):
    definition_id: Id
    version: Version | None = None
    query: Annotated[Text | None, Field(description="Part of the name or of a message, in any case")] = None
    dimensions: Annotated[
        dict[Text, float] | None,
        Field(max_length=_MAX_DIMENSIONS, description="Scores that the scenarios must have, by dimension"),
    ] = None


class ScenarioBrief(ResultModel):
    id: str
    name: str
    dimensions: dict[str, float]
    preview: Annotated[str, Field(description=f"The first {_PREVIEW_LENGTH} characters of its messages")]


@tool(
    "listScenarios",
    title="Search scenarios",
    description=(
        "Scenarios of a definition, in order, each with the beginning of its messages. With a filter, a page may have"
        " fewer than `limit` and still a `nextCursor`."
    ),
    max_kb=6,
)
def search_scenarios(request: ToolRequest, arguments: SearchScenarios) -> UntrustedListResult[ScenarioBrief]:
    page = scenarios.list_scenarios(
        request.workspace,
        arguments.definition_id,
        version=arguments.version,
        limit=arguments.limit,
        cursor=arguments.cursor,
    )
    matching = (each for each in page.entries() if each.item is None or _matches(each, arguments))
    return list_result(request, UntrustedListResult[ScenarioBrief], matching, arguments.limit, _scenario)


def _matches(entry: Entry[Scenario], arguments: SearchScenarios) -> bool:
    scenario = entry.item
    if scenario is None:
        return False
    wanted = arguments.dimensions or {}
    if any(scenario.dimensions.get(name) != score for name, score in wanted.items()):
        return False
    text = f"{scenario.name}\n{_text(scenario)}".casefold()
    return arguments.query is None or arguments.query.casefold() in text


def _scenario(scenario: Scenario) -> ScenarioBrief:
    response = ScenarioResponse.of(scenario)
    preview = _text(scenario)
    return ScenarioBrief(
        id=response.id,
        name=response.name,
        dimensions=response.dimensions,
        preview=preview if len(preview) <= _PREVIEW_LENGTH else preview[:_PREVIEW_LENGTH] + "…",
    )


def _text(scenario: Scenario) -> str:
    return "\n".join(each.content for each in scenario.messages)
