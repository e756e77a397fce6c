from typing import Any

from cupel_core.base.errors import NotFound
from cupel_core.base.paging import Page, fill_page, slice_page
from cupel_core.contract.definitions import (
    DefinitionSummaryResponse,
    GenerateScenarios,
    ScenarioResponse,
)
from cupel_core.definitions import catalog, forks, scenarios
from cupel_core.definitions.generation.preview import preview
from cupel_core.domain.definitions.definitions import DefinitionHead, DefinitionVersion
from cupel_core.interfaces.graphql.inputs import (
    check_cursor,
    check_limit,
    check_version,
    connection,
    parse,
)
from cupel_core.interfaces.graphql.loaded import Loaded
from cupel_core.interfaces.graphql.loaders import DefinitionKey
from cupel_core.interfaces.graphql.registry import resolves
from cupel_core.interfaces.graphql.request import Request
from cupel_core.store import definitions as definition_store


@resolves("Query.tags", "listDefinitions", 50, item_cost=0)
def tags(request: Request, _: None, limit: int) -> Page[dict[str, Any]]:
    page = slice_page(catalog.list_tags(request.workspace), check_limit(limit), None)
    return page.map(lambda each: {"name": each.name, "definitionCount": each.definition_count})


def _summary(head: DefinitionHead) -> Loaded:
    return Loaded(DefinitionSummaryResponse.from_value(head))


@resolves("Definition.content", "getDefinition", 5)
async def content(request: Request, source: Loaded) -> Any:
    return (await _version(request, source))["content"]


@resolves("Definition.localContent", "getDefinition", 5)
def local_content(request: Request, source: Loaded) -> Any:
    return definition_store.get_content(request.workspace, DefinitionVersion(source["id"], source["version"]))


@resolves("Definition.scenarioCount", "getDefinition", 5)
async def scenario_count(request: Request, source: Loaded) -> int:
    return int((await _version(request, source))["scenarioCount"])


@resolves("Definition.warnings", "getDefinition", 5)
async def warnings(request: Request, source: Loaded) -> Any:
    return (await _version(request, source))["warnings"]


async def _version(request: Request, source: Loaded) -> Loaded:
    if "content" in source:
        return source
    loaded: Loaded = await request.load.definition_version.load(DefinitionKey(source["id"], source["version"]))
    return loaded


@resolves("Definition.parent", "getDefinition")
async def parent(request: Request, source: Loaded) -> Loaded | None:
    return await request.load.definition.load(source["parentId"]) if source["parentId"] else None


@resolves("Definition.ancestors", "listDefinitionAncestors")
def ancestors(request: Request, source: Loaded, limit: int) -> Page[Loaded]:
    page = forks.list_ancestors(request.workspace, source["id"], limit=check_limit(limit), cursor=None)
    return page.map(_summary)


@resolves("Definition.descendants", "listDefinitionDescendants")
def descendants(request: Request, source: Loaded, limit: int) -> Page[Loaded]:
    return _descendants(request, source, limit)


@resolves("Definition.children", "listDefinitionDescendants")
def children(request: Request, source: Loaded, limit: int) -> Page[Loaded]:
    page = _descendants(request, source, limit)
    found = tuple(each for each in page.items if each["parentId"] == source["id"])
    return Page(found, page.next_cursor if len(found) == len(page.items) else None)


def _descendants(request: Request, source: Loaded, limit: int) -> Page[Loaded]:
    page = forks.list_descendants(request.workspace, source["id"], limit=check_limit(limit), cursor=None)
    return page.map(_summary)


@resolves("Definition.scenarios", "listScenarios", item_cost=2)
def definition_scenarios(
    request: Request, source: Loaded, first: int, version: int | None = None, after: str | None = None
) -> dict[str, Any]:
    limit = check_limit(first, "first")
    listed = scenarios.list_scenarios(
        request.workspace,
        source["id"],
        version=check_version(version) or source["version"],
        limit=limit,
        cursor=check_cursor(after),
    )
    return connection(fill_page(listed.entries(), limit).map(lambda each: Loaded(ScenarioResponse.of(each))))


@resolves("Query.previewScenarios", "getDefinition", 10, item_cost=2)
def preview_scenarios(
    request: Request,
    _: None,
    definition_id: str,
    *,
    options: str,
    seed: float,
    limit: int,
    version: int | None = None,
) -> dict[str, Any] | None:
    given = {"mode": "matrix", "options": options, "seed": seed}
    wanted = parse(GenerateScenarios, given, "")
    try:
        found = preview(
            request.workspace, definition_id, wanted.options, int(seed), check_limit(limit), check_version(version)
        )
    except NotFound:
        return None
    return {"total": found.total, "scenarios": [Loaded(ScenarioResponse.of(each)) for each in found.scenarios]}
