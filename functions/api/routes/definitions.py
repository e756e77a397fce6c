"""Definitions: create, list, read, change, delete; their forks."""

from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from api.caller import caller
from cupel_core.clock import utc_now
from cupel_core.contract.common import Cursor, Limit
from cupel_core.contract.definitions import (
    DefinitionAnswer,
    DefinitionChange,
    DefinitionList,
    DefinitionRequest,
    ForkRequest,
    HeadAnswer,
)
from cupel_core.definitions import catalog, forks
from cupel_core.domain.definitions.definitions import Head
from cupel_core.paging import DEFAULT_LIMIT, Page

router = APIGatewayHttpRouter()
_TAGS = ["definitions"]

Wanted = Annotated[str | None, Query(min_length=1, max_length=200)]
Part = Annotated[str | None, Query(min_length=1, max_length=200, description="A part of the name, in any case")]
Version = Annotated[int | None, Query(ge=1, lt=1_000_000, description="The latest unless told")]


@router.post("/definitions", summary="Create a definition", tags=_TAGS, status_code=201)
def create(body: DefinitionRequest) -> DefinitionAnswer:
    made = catalog.create(_workspace(), body.labels(), body.content.given(), utc_now())
    return DefinitionAnswer.of_definition(made)


@router.get("/definitions", summary="List the definitions, newest first", tags=_TAGS)
def listed(
    folder: Wanted = None,
    search: Part = None,
    tag: Wanted = None,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> DefinitionList:
    return _list(catalog.listed(_workspace(), folder=folder, search=search, tag=tag, limit=limit, cursor=cursor))


@router.get("/definitions/<definition_id>", summary="Read a definition, at any of its versions", tags=_TAGS)
def get(definition_id: str, version: Version = None) -> DefinitionAnswer:
    return DefinitionAnswer.of_definition(catalog.get(_workspace(), definition_id, version))


@router.patch("/definitions/<definition_id>", summary="Change a definition", tags=_TAGS)
def change(definition_id: str, body: DefinitionChange) -> DefinitionAnswer:
    overrides = body.content.given() if body.content else None
    changed = catalog.change(_workspace(), definition_id, body.labels(), overrides, utc_now())
    return DefinitionAnswer.of_definition(changed)


@router.delete(
    "/definitions/<definition_id>", summary="Delete a definition; its runs and forks stay", tags=_TAGS, status_code=204
)
def delete(definition_id: str) -> Response[None]:
    catalog.delete(_workspace(), definition_id, utc_now())
    return Response(204)


@router.post("/definitions/<definition_id>/fork", summary="Fork a definition", tags=_TAGS, status_code=201)
def fork(definition_id: str, body: ForkRequest) -> DefinitionAnswer:
    overrides = body.content.given() if body.content else {}
    made = forks.fork(_workspace(), definition_id, body.labels(), overrides, utc_now(), body.version)
    return DefinitionAnswer.of_definition(made)


@router.get("/definitions/<definition_id>/ancestors", summary="List what it was forked from, nearest first", tags=_TAGS)
def ancestors(definition_id: str, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> DefinitionList:
    return _list(forks.ancestors(_workspace(), definition_id, limit=limit, cursor=cursor))


@router.get("/definitions/<definition_id>/descendants", summary="List its forks, and theirs, by level", tags=_TAGS)
def descendants(definition_id: str, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> DefinitionList:
    return _list(forks.descendants(_workspace(), definition_id, limit=limit, cursor=cursor))


def _workspace() -> str:
    return caller(router.current_event).workspace


def _list(page: Page[Head]) -> DefinitionList:
    return DefinitionList(items=[HeadAnswer.of(head) for head in page.items], next_cursor=page.next_cursor)
