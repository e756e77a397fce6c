"""JWTs of the configured OpenID Connect issuer. Import it only for a bearer that may be a JWT: PyJWT loads slowly."""

import json
import time
import urllib.request
from collections.abc import Callable
from functools import cache
from http.client import HTTPException
from typing import Any

import jwt
from jwt import PyJWKClient

from cupel_core.base.errors import RetryableError, Unauthorized
from cupel_core.domain.access import AccessRole, Caller, is_valid_workspace
from cupel_core.domain.text.control_characters import single_line
from cupel_core.domain.text.storable import storable
from cupel_core.store import workspaces

_ALGORITHMS = ["RS256", "ES256"]
TIMEOUT_SECONDS = 3
"""The download of each of the issuer's two documents takes at most this long, however slowly they arrive."""
_MAX_DOCUMENT_BYTES = 1_000_000
_MAX_REASON_LENGTH = 300
"""A reason may repeat what a stranger wrote into a token's header."""
_LEEWAY_SECONDS = 30


def identify(token: str, issuer: str, audiences: tuple[str, ...]) -> Caller:
    """Return the caller of a valid token for one of the audiences. Raise Unauthorized for any other token,
    RetryableError if the issuer is unreachable."""
    try:
        key = _keys(issuer).get_signing_key_from_jwt(token)
        claims = jwt.decode(
            token,
            key,
            algorithms=_ALGORITHMS,
            audience=audiences,
            issuer=issuer,
            leeway=_LEEWAY_SECONDS,
            options={"require": ["exp", "iss", "aud", "sub"]},
        )
    except jwt.PyJWTError as error:
        reason = storable(single_line(f"the token was refused: {error}"), _MAX_REASON_LENGTH)
        raise Unauthorized(reason) from error
    except RecursionError as error:
        raise Unauthorized("the token was refused: it is nested too deeply") from error
    caller = _caller(claims)
    _check_not_erased(caller.workspace)
    return caller


def _check_not_erased(workspace: str) -> None:
    """Raise Unauthorized if the workspace is erased. Its tokens are gone, but JWTs may still name it."""
    known = workspaces.find(workspace)
    if known is not None and known.is_erased:
        raise Unauthorized(f"the workspace {workspace} was erased")


def _caller(claims: dict[str, Any]) -> Caller:
    workspace = claims.get("cupel_workspace") or claims.get("custom:workspace")
    role = claims.get("cupel_role") or claims.get("custom:role")
    if not isinstance(workspace, str) or not is_valid_workspace(workspace):
        raise Unauthorized("the token's claim cupel_workspace must be the name of a workspace")
    if role not in list(AccessRole):
        raise Unauthorized("the token's claim cupel_role must be admin, member, viewer, labeller or operator")
    subject = str(claims["sub"])
    name = claims.get("name") or claims.get("email") or subject
    return Caller(workspace, AccessRole(role), subject, single_line(str(name))[:_MAX_NAME_LENGTH])


_MAX_NAME_LENGTH = 200


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def clear_key_cache() -> None:
    _keys.cache_clear()


@cache
def _keys(issuer: str) -> PyJWKClient:
    """Return the issuer's keys, refreshed every five minutes, and for an unknown key id at most every 30 s."""
    document = _discovery(issuer)
    if document.get("issuer") != issuer or not isinstance(document.get("jwks_uri"), str):
        raise RetryableError("the identity provider's discovery document names another issuer")
    return _KeyClient(document["jwks_uri"])


class _KeyClient(PyJWKClient):
    """Reads the keys within limits of time and size. Like PyJWT's own client, it follows no redirects."""

    _open = staticmethod(urllib.request.build_opener(_NoRedirects).open)

    def fetch_data(self) -> Any:
        return _read_document(self.uri, self._open)


def _discovery(issuer: str) -> dict[str, Any]:
    return _read_document(f"{issuer.rstrip('/')}/.well-known/openid-configuration", urllib.request.urlopen)


def _read_document(url: str, open_url: Callable[..., Any]) -> dict[str, Any]:
    try:
        with open_url(url, timeout=TIMEOUT_SECONDS) as reply:
            document = json.loads(read_bounded(reply))
    except (OSError, HTTPException, ValueError, RecursionError) as error:
        raise RetryableError("the identity provider is temporarily unavailable") from error
    return document if isinstance(document, dict) else {}


def read_bounded(reply: Any, clock: Callable[[], float] = time.monotonic) -> bytes:
    """Read a reply. Raise TimeoutError and ValueError if it takes too long or is too large."""
    content, deadline = bytearray(), clock() + TIMEOUT_SECONDS
    while piece := reply.read1(65_536):
        content += piece
        if clock() > deadline:
            raise TimeoutError
        if len(content) > _MAX_DOCUMENT_BYTES:
            raise ValueError("the document is too large")
    return bytes(content)
