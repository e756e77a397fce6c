"""Providers, as the workspace has configured them, and their known models."""

from api.parameters import Cursor, IfMatch, Limit, ProviderFilter
from api.routing import OperationRouter
from cupel_core.accounts import keys as accounts
from cupel_core.base.clock import utc_now
from cupel_core.base.paging import DEFAULT_LIMIT, slice_page
from cupel_core.base.preconditions import Precondition, etag
from cupel_core.contract.providers import ModelPage, ModelResponse, ProviderPage, ProviderResponse, UpdateProvider
from cupel_core.domain.resources.providers import ProviderView
from cupel_core.runs import repairs

router = OperationRouter()


@router.operation("listProviders")
def list_providers(limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> ProviderPage:
    page = slice_page(accounts.list_providers(router.workspace), limit, cursor)
    return ProviderPage(items=[ProviderResponse.of(view) for view in page.items], next_cursor=page.next_cursor)


@router.operation("getProvider")
def get_provider(name: str) -> ProviderResponse:
    return _tagged(accounts.get_provider(router.workspace, name))


@router.operation("updateProvider")
def update_provider(name: str, body: UpdateProvider, if_match: IfMatch = None) -> ProviderResponse:
    precondition = Precondition.parse(if_match)
    return _tagged(repairs.update_provider(router.workspace, name, body.changes(), utc_now(), precondition))


@router.operation("listModels")
def list_models(
    provider: ProviderFilter = None,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> ModelPage:
    page = slice_page(accounts.list_models(router.workspace, provider), limit, cursor)
    return ModelPage(items=[ModelResponse.of(view) for view in page.items], next_cursor=page.next_cursor)


def _tagged(view: ProviderView) -> ProviderResponse:
    return router.tagged(ProviderResponse.of(view), etag(view.revision))
