"""Access tokens of Microsoft Entra ID for Azure OpenAI, from the credentials of a service principal.

The credentials are the JSON that `az ad sp create-for-rbac` prints: `appId`, `password` and `tenant`. A token is valid
for about an hour and requested with the client credentials grant (RFC 6749, section 4.4).
"""

from dataclasses import replace
from datetime import datetime
from typing import Annotated, NamedTuple
from urllib.parse import urlsplit

from pydantic import Field, StringConstraints, ValidationError

from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.providers.access_tokens import AccessToken, AccessTokens, SendRequest, parse_token
from cupel_core.providers.account import Account, is_key_file
from cupel_core.providers.errors import ProviderError
from cupel_core.providers.wire_format import WireModel, WireRequest

tokens = AccessTokens()


class _Cloud(NamedTuple):
    authority: str
    scope: str


_PUBLIC = _Cloud("https://login.microsoftonline.com", "https://cognitiveservices.azure.com/.default")
_NATIONAL = {
    ".azure.us": _Cloud("https://login.microsoftonline.us", "https://cognitiveservices.azure.us/.default"),
    ".azure.cn": _Cloud("https://login.partner.microsoftonline.cn", "https://cognitiveservices.azure.cn/.default"),
}
"""By what the address of a resource ends with."""


class _ServicePrincipal(WireModel):
    app_id: Annotated[str, Field(alias="appId", min_length=1, max_length=256)]
    password: Annotated[str, Field(min_length=1, max_length=1_024)]
    tenant: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9.-]{1,253}$")]
    """An id or a domain; a part of the address that tokens are requested from."""


async def with_access_token(account: Account, send: SendRequest, now: datetime) -> Account:
    """The account with a valid access token instead of its service principal. Raises `ProviderError`."""
    key = account.api_key or ""
    if not is_key_file(key):
        return account
    principal, cloud = _principal_of(key), _cloud_of(account.base_url)

    async def request() -> AccessToken:
        form: dict[str, object] = {
            "grant_type": "client_credentials",
            "client_id": principal.app_id,
            "client_secret": principal.password,
            "scope": cloud.scope,
        }
        url = f"{cloud.authority}/{principal.tenant}/oauth2/v2.0/token"
        response = await send(WireRequest(url, form, is_form=True))
        return parse_token(response, "Microsoft Entra ID refused the service principal", now)

    return replace(account, api_key=await tokens.get(f"{cloud.authority} {key}", now, request))


def _principal_of(key: str) -> _ServicePrincipal:
    try:
        return _ServicePrincipal.model_validate_json(key)
    except ValidationError:
        message = "the API key is not the JSON of a service principal, with appId, password and tenant"
        raise ProviderError(ProbeErrorCode.AUTH, message) from None


def _cloud_of(base_url: str) -> _Cloud:
    host = urlsplit(base_url).hostname or ""
    return next((cloud for ending, cloud in _NATIONAL.items() if host.endswith(ending)), _PUBLIC)
