"""Definitions and their forks."""

from time import monotonic
from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Query

from api.deletions import delete_each
from api.parameters import (
    CreatedAfter,
    CreatedBefore,
    CreationSort,
    Cursor,
    IfMatch,
    Limit,
    Sort,
    VersionFilter,
    creation,
)
from api.routing import OperationRouter
from cupel_core.base.clock import utc_now
from cupel_core.base.paging import DEFAULT_LIMIT, Page
from cupel_core.base.preconditions import Precondition, etag
from cupel_core.contract.definitions import (
    CreateDefinition,
    DefinitionPage,
    DefinitionResponse,
    DefinitionSummaryResponse,
    ForkDefinition,
    UpdateDefinition,
)
from cupel_core.contract.deletions import DeleteDefinitions, DeletionListResponse
from cupel_core.definitions import catalog, forks
from cupel_core.domain.definitions.definitions import Definition, DefinitionHead
from cupel_core.runs import erasure

router = OperationRouter()
_ERASE_SECONDS = 15.0
"""For hiding runs before the response; the sweeper hides the others within a minute."""

FolderFilter = Annotated[str | None, Query(min_length=1, max_length=200, description="Return only this folder")]
IncludeChildren = Annotated[
    bool, Query(alias="includeChildren", description="With `folder`: return also the folders below, such as `folder/a`")
]
TagFilter = Annotated[str | None, Query(min_length=1, max_length=200, description="Return only items with this tag")]
Search = Annotated[
    str | None, Query(min_length=1, max_length=200, description="Case-insensitive substring of the name")
]


@router.operation("createDefinition", status=201)
def create_definition(body: CreateDefinition) -> DefinitionResponse:
    return _tagged(catalog.create(router.workspace, body.labels(), body.specified_content(), utc_now(), body.scenarios))


@router.operation("listDefinitions")
def list_definitions(
    folder: FolderFilter = None,
    include_children: IncludeChildren = False,
    search: Search = None,
    tag: TagFilter = None,
    created_after: CreatedAfter = None,
    created_before: CreatedBefore = None,
    sort: Sort = CreationSort.NEWEST_FIRST,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> DefinitionPage:
    return _page(
        catalog.list_definitions(
            router.workspace,
            folder=folder,
            include_children=include_children,
            search=search,
            tag=tag,
            limit=limit,
            cursor=cursor,
            created=creation(created_after, created_before, sort),
        )
    )


@router.operation("getDefinition")
def get_definition(definition_id: str, version: VersionFilter = None) -> DefinitionResponse:
    return _tagged(catalog.get(router.workspace, definition_id, version))


@router.operation("updateDefinition")
def update_definition(definition_id: str, body: UpdateDefinition, if_match: IfMatch = None) -> DefinitionResponse:
    overrides = body.content.specified() if body.content else None
    precondition = Precondition.parse(if_match)
    return _tagged(
        catalog.update(
            router.workspace, definition_id, body.labels(), overrides, utc_now(), precondition, body.scenarios
        )
    )


@router.operation("deleteDefinition", status=204)
def delete_definition(definition_id: str, if_match: IfMatch = None) -> Response[None]:
    catalog.delete(router.workspace, definition_id, utc_now(), Precondition.parse(if_match))
    return Response(204)


@router.operation("eraseDefinition", status=204)
def erase_definition(definition_id: str) -> Response[None]:
    until = monotonic() + _ERASE_SECONDS
    erasure.erase_definition(router.workspace, definition_id, utc_now(), lambda: monotonic() < until)
    return Response(204)


@router.operation("deleteDefinitions")
def delete_definitions(body: DeleteDefinitions) -> DeletionListResponse:
    workspace, now = router.workspace, utc_now()
    return delete_each(body.ids, lambda definition_id: catalog.delete(workspace, definition_id, now))


@router.operation("forkDefinition", status=201)
def fork_definition(definition_id: str, body: ForkDefinition) -> DefinitionResponse:
    overrides = body.content.specified() if body.content else {}
    fork = forks.fork(router.workspace, definition_id, body.labels(), overrides, utc_now(), body.version)
    return DefinitionResponse.of_definition(fork)


@router.operation("listDefinitionAncestors")
def list_definition_ancestors(
    definition_id: str, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None
) -> DefinitionPage:
    return _page(forks.list_ancestors(router.workspace, definition_id, limit=limit, cursor=cursor))


@router.operation("listDefinitionDescendants")
def list_definition_descendants(
    definition_id: str, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None
) -> DefinitionPage:
    return _page(forks.list_descendants(router.workspace, definition_id, limit=limit, cursor=cursor))


def _tagged(definition: Definition) -> DefinitionResponse:
    return router.tagged(DefinitionResponse.of_definition(definition), etag(definition.head.revision))


def _page(page: Page[DefinitionHead]) -> DefinitionPage:
    return DefinitionPage(
        items=[DefinitionSummaryResponse.of(head) for head in page.items], next_cursor=page.next_cursor
    )
