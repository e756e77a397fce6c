"""The models that an OpenAI-compatible server offers at `GET /models`.

The server belongs to a user and may send anything, so the time, the bytes, the number of names and each name are
limited, and nothing that it says is quoted in an error.
"""

from itertools import islice
from typing import NamedTuple

from cupel_core.providers import model_name_error, safe_http
from cupel_core.providers.account import Account
from cupel_core.providers.errors import ProviderError
from cupel_core.providers.wire_format import bearer_header, endpoint_url

MAX_SERVED_MODELS = 500
SECONDS_TO_ANSWER = 3.0
_MAX_NAME_LENGTH = 200


class ServedModels(NamedTuple):
    provider: str
    models: tuple[str, ...] = ()
    """Ids as `provider/name`, in the server's order."""
    problem: str | None = None
    """None if the server answered with a list."""


async def fetch_models(account: Account, timeout_seconds: float = SECONDS_TO_ANSWER) -> ServedModels:
    """Ask the server of an account for its models. A failure is a problem of the result and never an exception."""
    try:
        response = await safe_http.send(
            "GET",
            endpoint_url(account, "models"),
            None,
            bearer_header(account),
            timeout_seconds=timeout_seconds,
            allow_private=account.allow_private,
        )
        if not response.ok:
            return ServedModels(account.provider, problem=f"the server has no list of models (HTTP {response.status})")
        entries = _entries(response.body)
    except ProviderError as error:
        return ServedModels(account.provider, problem=error.message)
    if entries is None:
        return ServedModels(account.provider, problem="the server's list of models is not one of OpenAI's format")
    named = (f"{account.provider}/{name}" for each in entries if (name := _name(each)))
    valid = (model for model in dict.fromkeys(named) if model_name_error(model) is None)
    return ServedModels(account.provider, tuple(islice(valid, MAX_SERVED_MODELS)))


def _entries(body: object) -> list[object] | None:
    """Return the entries of `{"data": [...]}`, or of a bare list, as some gateways send it."""
    found = body.get("data") if isinstance(body, dict) else body
    return found if isinstance(found, list) else None


def _name(entry: object) -> str | None:
    name = entry.get("id") if isinstance(entry, dict) else None
    is_name = isinstance(name, str) and 0 < len(name) <= _MAX_NAME_LENGTH and not any(map(str.isspace, name))
    return name if is_name else None
