"""Why an exchange over HTTP ended without an answer. By itself, because httpx is a tenth of a cold start."""

import httpx

from cupel_core.domain.turns.model_request import ErrorCode
from cupel_core.providers.errors import ProviderError


def error_of_exception(error: Exception) -> ProviderError:
    """The code of an exchange that ended without an answer."""
    what = f"{type(error).__name__}: {error}".removesuffix(": ")
    if isinstance(error, httpx.InvalidURL | httpx.UnsupportedProtocol):
        return ProviderError(ErrorCode.INVALID_REQUEST, what)
    if isinstance(error, httpx.DecodingError):
        return ProviderError(ErrorCode.PROVIDER_ERROR, what)
    return ProviderError(ErrorCode.TIMEOUT if _is_timeout(error) else ErrorCode.NETWORK, what)


def _is_timeout(error: Exception) -> bool:
    # The aiohttp transport reports every lost connection as a ConnectTimeout; its cause tells a real one.
    cause = error.__cause__
    return isinstance(error, httpx.TimeoutException) and (cause is None or isinstance(cause, TimeoutError))
