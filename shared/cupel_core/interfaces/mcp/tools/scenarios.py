"""Searches the scenarios of a definition by text and by dimension, which the API cannot do."""

from typing import Annotated

from pydantic import Field

from cupel_core.base.paging import Entry
from cupel_core.contract.definitions import ScenarioResponse
from cupel_core.definitions import scenarios
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.interfaces.mcp.models import (
    Id,
    ListArguments,
    ResultModel,
    Text,
    UntrustedListResult,
    Version,
)
from cupel_core.interfaces.mcp.registry import tool
from cupel_core.interfaces.mcp.request import ToolRequest
from cupel_core.interfaces.mcp.results import list_result

_PREVIEW_LENGTH = 200
_MAX_DIMENSIONS = 100


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
