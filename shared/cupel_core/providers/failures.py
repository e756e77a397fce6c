"""Classifies HTTP exchanges that ended without a response.

A separate module because importing httpx is a tenth of a cold start.
"""

import httpx

from cupel_core.domain.turns.model_request import ProbeErrorCode
from cupel_core.providers.errors import ProviderError


def error_from_exception(error: Exception) -> ProviderError:
    """The `ProviderError` for an exchange that ended without a response."""
    description = f"{type(error).__name__}: {error}".removesuffix(": ")
    if isinstance(error, httpx.InvalidURL | httpx.UnsupportedProtocol):
        return ProviderError(ProbeErrorCode.INVALID_REQUEST, description)
    if isinstance(error, httpx.DecodingError):
        return ProviderError(ProbeErrorCode.PROVIDER_ERROR, description)
    return ProviderError(ProbeErrorCode.TIMEOUT if _is_timeout(error) else ProbeErrorCode.NETWORK, description)


def _is_timeout(error: Exception) -> bool:
    # The aiohttp transport reports every lost connection as a ConnectTimeout; the cause identifies a real one.
    cause = error.__cause__
    return isinstance(error, httpx.TimeoutException) and (cause is None or isinstance(cause, TimeoutError))
