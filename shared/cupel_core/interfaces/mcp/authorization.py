"""Returns metadata that name the issuer of tokens (RFC 9728), as the protocol requires of servers with OAuth.

A stack has them only if its JWTs are issued for the MCP server: their audience is its address, as in `resource` of RFC
8707. API tokens need no metadata, since no authorization server issues them.
"""

from typing import Any
from urllib.parse import urlsplit

from cupel_core.store.settings import settings

PATH = "/v1/mcp"
METADATA_PATH = f"/.well-known/oauth-protected-resource{PATH}"


def resource_metadata() -> dict[str, Any] | None:
    if not settings().oidc_issuer or _origin() is None:
        return None
    return {
        "resource": settings().oidc_audience,
        "authorization_servers": [settings().oidc_issuer],
        "bearer_methods_supported": ["header"],
        "resource_name": "Cupel",
    }


def challenge() -> str:
    return "Bearer" if resource_metadata() is None else f'Bearer resource_metadata="{_origin()}{METADATA_PATH}"'


def _origin() -> str | None:
    """Return the origin of the audience if that is an address of the MCP server."""
    address = urlsplit(settings().oidc_audience)
    is_server = address.scheme == "https" and address.netloc and address.path == PATH and not address.query
    return f"https://{address.netloc}" if is_server else None
