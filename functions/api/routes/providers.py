"""Providers, as the caller's workspace has set them, and the models they are known to have."""

from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from api.caller import admin, caller
from cupel_core import accounts
from cupel_core.contract.common import Cursor, Limit
from cupel_core.contract.providers import ModelAnswer, ModelList, ProviderAnswer, ProviderList, ProviderRequest
from cupel_core.paging import DEFAULT_LIMIT, decode_index, encode_cursor

router = APIGatewayHttpRouter()


@router.get("/providers", summary="List the providers", tags=["providers"])
def listed() -> ProviderList:
    views = accounts.listed(caller(router.current_event).workspace)
    return ProviderList(items=[ProviderAnswer.of(view) for view in views])


@router.put("/providers/<name>", summary="Set up a provider", tags=["providers"])
def configure(name: str, body: ProviderRequest) -> ProviderAnswer:
    workspace = admin(router.current_event).workspace
    return ProviderAnswer.of(accounts.configure(workspace, name, body.changes()))


@router.get("/models", summary="List the known models", tags=["providers"])
def models(
    provider: Annotated[str | None, Query(description="Only this provider's")] = None,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> ModelList:
    known = accounts.models(caller(router.current_event).workspace, provider)
    start = decode_index(cursor)
    more = start + limit < len(known)
    return ModelList(
        items=[ModelAnswer.of(view) for view in known[start : start + limit]],
        next_cursor=encode_cursor(str(start + limit)) if more else None,
    )
