from cupel_core.accounts import keys as accounts
from cupel_core.base.paging import DEFAULT_LIMIT, slice_page
from cupel_core.base.preconditions import etag
from cupel_core.contract.operation import MEMBER, VIEWER, AsTool, Call, Listed, Tagged, ToolGroup, operation
from cupel_core.contract.providers import (
    ModelPage,
    ModelResponse,
    ProviderPage,
    ProviderResponse,
    ServedModelList,
    ServedModelsResponse,
)
from cupel_core.contract.query import (
    Cursor,
    Limit,
    ProviderFilter,
)
from cupel_core.domain.resources.providers import ProviderView


@operation(
    "GET /v1/providers",
    "List the providers",
    role=VIEWER,
    returns="Every supported provider, with the workspace's settings",
    tool=AsTool(
        ToolGroup.READ, ("name usable enabled needsKey hasKey maxParallelRequests requestsPerMinute tokensPerMinute")
    ),
)
def list_providers(call: Call, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> Listed[ProviderPage]:
    page = slice_page(accounts.list_providers(call.workspace), limit, cursor)
    return Listed(page, ProviderResponse.from_value)


@operation(
    "GET /v1/providers/{name}", "Get a provider", role=VIEWER, returns="The provider, with the workspace's settings"
)
def get_provider(call: Call, name: str) -> Tagged[ProviderResponse]:
    return _tagged(accounts.get_provider(call.workspace, name))


@operation(
    "GET /v1/models",
    "List the known models",
    role=VIEWER,
    returns="A page of models with their prices",
    tag="providers",
)
def list_models(
    call: Call,
    provider: ProviderFilter = None,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> Listed[ModelPage]:
    """Models that are not in the list are accepted too; their cost is then unknown."""
    page = slice_page(accounts.list_models(call.workspace, provider), limit, cursor)
    return Listed(page, ModelResponse.from_value)


@operation(
    "GET /v1/served-models",
    "List the models that the workspace's own servers offer",
    role=MEMBER,
    returns="The models of each server, or why it gave no list",
    tag="providers",
    calls_others=True,
)
def list_served_models(call: Call) -> ServedModelList:
    """Sends each enabled server `GET /models`, at most once a minute, and waits up to 3 s. Others may be used too."""
    from cupel_core.accounts import served_models  # Only this request needs an HTTP client.

    found = served_models.list_served_models(call.workspace)
    return ServedModelList(items=[ServedModelsResponse.from_value(each) for each in found])


def _tagged(view: ProviderView) -> Tagged[ProviderResponse]:
    return Tagged(ProviderResponse.from_value(view), etag(view.revision))
