"""Providers, as the workspace has configured them, and their known models."""

from api.parameters import Cursor, Limit, ProviderFilter
from api.routing import OperationRouter
from cupel_core import accounts
from cupel_core.contract.providers import ModelPage, ModelResponse, ProviderPage, ProviderResponse, UpdateProvider
from cupel_core.paging import DEFAULT_LIMIT, decode_index, encode_cursor

router = OperationRouter()


@router.operation("listProviders")
def list_providers() -> ProviderPage:
    views = accounts.list_providers(router.workspace)
    return ProviderPage(items=[ProviderResponse.of(view) for view in views])


@router.operation("updateProvider")
def update_provider(name: str, body: UpdateProvider) -> ProviderResponse:
    return ProviderResponse.of(accounts.update_provider(router.workspace, name, body.changes()))


@router.operation("listModels")
def list_models(
    provider: ProviderFilter = None,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> ModelPage:
    known = accounts.list_models(router.workspace, provider)
    start = decode_index(cursor)
    more = start + limit < len(known)
    return ModelPage(
        items=[ModelResponse.of(view) for view in known[start : start + limit]],
        next_cursor=encode_cursor(str(start + limit)) if more else None,
    )
