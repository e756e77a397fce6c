from typing import Annotated

from cupel_core.base.paging import DEFAULT_LIMIT, Page
from cupel_core.base.preconditions import etag
from cupel_core.contract.definitions import (
    CreateDefinition,
    DefinitionPage,
    DefinitionResponse,
    DefinitionSummaryResponse,
    ForkDefinition,
    UpdateDefinition,
)
from cupel_core.contract.operation import MEMBER, VIEWER, AsTool, Call, Listed, Replay, Tagged, ToolGroup, operation
from cupel_core.contract.query import (
    CreatedAfter,
    CreatedBefore,
    CreationSort,
    Cursor,
    Limit,
    Parameter,
    Sort,
    VersionFilter,
    creation,
)
from cupel_core.definitions import catalog, forks
from cupel_core.domain.definitions.definitions import Definition, DefinitionHead

FolderFilter = Annotated[str | None, Parameter(min_length=1, max_length=200, description="Return only this folder")]


IncludeChildren = Annotated[
    bool, Parameter(description="With `folder`: return also the folders below, such as `folder/a`")
]


DefinitionTagFilter = Annotated[
    str | None, Parameter(min_length=1, max_length=200, description="Return only items with this tag")
]


Search = Annotated[
    str | None, Parameter(min_length=1, max_length=200, description="Case-insensitive substring of the name")
]


@operation(
    "POST /v1/definitions",
    "Create a definition",
    role=MEMBER,
    returns="The definition, at version 1",
    status=201,
    location="/v1/definitions/{id}",
    replay=Replay.CREATED,
    tool=AsTool(
        ToolGroup.AUTHORING, "id name version versionLabel parentId tags scenarioCount warnings", is_default=True
    ),
)
def create_definition(call: Call, body: CreateDefinition) -> Tagged[DefinitionResponse]:
    return _tagged(catalog.create(call.workspace, body.labels(), body.specified_content(), call.now, body.scenarios))


@operation(
    "GET /v1/definitions",
    "List the definitions, newest first",
    role=VIEWER,
    returns="A page of definitions, without their content",
    tool=AsTool(
        ToolGroup.READ, "id name folder tags version versionLabel parentId updatedAt", is_default=True, max_kb=7
    ),
)
def list_definitions(
    call: Call,
    folder: FolderFilter = None,
    include_children: IncludeChildren = False,
    search: Search = None,
    tag: DefinitionTagFilter = None,
    created_after: CreatedAfter = None,
    created_before: CreatedBefore = None,
    sort: Sort = CreationSort.NEWEST_FIRST,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> Listed[DefinitionPage]:
    return _page(
        catalog.list_definitions(
            call.workspace,
            folder=folder,
            include_children=include_children,
            search=search,
            tag=tag,
            limit=limit,
            cursor=cursor,
            created=creation(created_after, created_before, sort),
        )
    )


@operation(
    "GET /v1/definitions/{definition_id}",
    "Get a definition, at its latest or a given version",
    role=VIEWER,
    returns="The definition with its content",
    tool=AsTool(
        ToolGroup.READ,
        ("id name folder tags version versionLabel parentId parentVersion updatedAt scenarioCount warnings content"),
        is_default=True,
        max_kb=16,
    ),
)
def get_definition(call: Call, definition_id: str, version: VersionFilter = None) -> Tagged[DefinitionResponse]:
    return _tagged(catalog.get(call.workspace, definition_id, version))


@operation(
    "PATCH /v1/definitions/{definition_id}",
    "Update a definition",
    role=MEMBER,
    returns="The updated definition",
    if_match=True,
    tool=AsTool(ToolGroup.AUTHORING, "id name version versionLabel parentId tags scenarioCount warnings"),
)
def update_definition(call: Call, definition_id: str, body: UpdateDefinition) -> Tagged[DefinitionResponse]:
    """New content becomes the next version; earlier versions never change."""
    overrides = body.content.specified() if body.content else None
    return _tagged(
        catalog.update(
            call.workspace, definition_id, body.labels(), overrides, call.now, call.precondition, body.scenarios
        )
    )


@operation(
    "DELETE /v1/definitions/{definition_id}",
    "Delete a definition; keep its runs and forks",
    role=MEMBER,
    returns="Deleted",
    if_match=True,
    tool=AsTool(ToolGroup.AUTHORING),
)
def delete_definition(call: Call, definition_id: str) -> None:
    catalog.delete(call.workspace, definition_id, call.now, call.precondition)


@operation(
    "POST /v1/definitions/{definition_id}/fork",
    "Fork a definition",
    role=MEMBER,
    returns="The fork",
    status=201,
    location="/v1/definitions/{id}",
    replay=Replay.CREATED,
    tool=AsTool(ToolGroup.AUTHORING, "id name version versionLabel parentId tags scenarioCount warnings"),
)
def fork_definition(call: Call, definition_id: str, body: ForkDefinition) -> DefinitionResponse:
    """A fork inherits every field of its parent's content that it does not override, and shares its scenarios."""
    overrides = body.content.specified() if body.content else {}
    fork = forks.fork(call.workspace, definition_id, body.labels(), overrides, call.now, body.version)
    return DefinitionResponse.of_definition(fork)


@operation(
    "GET /v1/definitions/{definition_id}/ancestors",
    "List the ancestors that a definition was forked from, nearest first",
    role=VIEWER,
    returns="A page of definitions, without their content",
)
def list_definition_ancestors(
    call: Call, definition_id: str, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None
) -> Listed[DefinitionPage]:
    return _page(forks.list_ancestors(call.workspace, definition_id, limit=limit, cursor=cursor))


@operation(
    "GET /v1/definitions/{definition_id}/descendants",
    "List the forks of a definition and their forks, level by level",
    role=VIEWER,
    returns="A page of definitions, without their content",
)
def list_definition_descendants(
    call: Call, definition_id: str, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None
) -> Listed[DefinitionPage]:
    return _page(forks.list_descendants(call.workspace, definition_id, limit=limit, cursor=cursor))


def _tagged(definition: Definition) -> Tagged[DefinitionResponse]:
    return Tagged(DefinitionResponse.of_definition(definition), etag(definition.head.revision))


def _page(page: Page[DefinitionHead]) -> Listed[DefinitionPage]:
    return Listed(page, DefinitionSummaryResponse.from_value)
