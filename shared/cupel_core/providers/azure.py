"""Azure OpenAI: the addresses and the key header, over the wire formats of OpenAI.

The account's base URL is the resource's, `https://<resource>.openai.azure.com`. A model's name is that of its
deployment. Requests go to the v1 API (`/openai/v1`), which has no versions by date; to the API of a date if the base
URL ends with `?api-version=<date>`. The key is an API key, the JSON of a service principal (see `entra_token`) or an
access token of Microsoft Entra ID, which expires within an hour or so.
"""

from urllib.parse import quote

from cupel_core.providers.account import Account
from cupel_core.providers.wire_format import api_key_of

_V1 = "/openai/v1"
_DOTS_OF_A_JWT = 2
_BY_DEPLOYMENT = frozenset({"chat/completions", "embeddings"})
"""Operations whose dated versions name the deployment in the path; others name it in the body."""


def operation_url(account: Account, deployment: str, operation: str) -> str:
    base, _, query = account.base_url.partition("?")
    resource = base.rstrip("/").removesuffix(_V1).removesuffix("/openai")
    if not query:
        return f"{resource}{_V1}/{operation}"
    path = f"deployments/{quote(deployment, safe='')}/{operation}" if operation in _BY_DEPLOYMENT else operation
    return f"{resource}/openai/{path}?{query}"


def key_header(account: Account) -> dict[str, str]:
    key = api_key_of(account)
    if not key:
        return {}
    return {"authorization": f"Bearer {key}"} if _is_access_token(key) else {"api-key": key}


def _is_access_token(key: str) -> bool:
    """Whether it is a JWT: three parts, of which the first begins with `{"`."""
    return key.startswith("eyJ") and key.count(".") == _DOTS_OF_A_JWT
