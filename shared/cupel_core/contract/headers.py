"""Headers that a workspace adds to requests to its agents and evaluators. The values are secrets: never returned."""

import re
from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, Field, SecretStr

MAX_BYTES = 16 * 1024
"""Total for one resource. Many servers refuse more, and a secret is limited to 64 KB."""
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,200}")
_VALUE = re.compile(r"[!-~](?:[ -~\t]*[!-~])?")
_CONNECTION_HEADERS = frozenset(
    {
        "connection",
        "content-length",
        "expect",
        "host",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)


def _valid_headers(headers: dict[str, SecretStr]) -> dict[str, SecretStr]:
    for name, value in headers.items():
        if problem := _header_problem(name, value.get_secret_value()):
            raise ValueError(f"{name[:40]!r} {problem}")
    if len({name.lower() for name in headers}) < len(headers):
        raise ValueError("must have distinct names, ignoring case")
    if sum(len(name) + len(value.get_secret_value()) for name, value in headers.items()) > MAX_BYTES:
        raise ValueError(f"must have at most {MAX_BYTES // 1024} KB")
    return headers


def _header_problem(name: str, value: str) -> str | None:
    if not _NAME.fullmatch(name):
        return "is not a valid header name"
    if name.lower() in _CONNECTION_HEADERS:
        return "belongs to the connection and cannot be set"
    if not _VALUE.fullmatch(value):
        return "must have a value of visible ASCII characters, with spaces only between them"
    return None


Headers = Annotated[
    dict[str, SecretStr],
    Field(max_length=50, description="Values are stored as secrets and never returned"),
    AfterValidator(_valid_headers),
]
HeaderNames = Annotated[
    list[str], Field(description="Names of the configured headers; their values are never returned")
]


def header_values(headers: Mapping[str, SecretStr] | None) -> dict[str, str] | None:
    return None if headers is None else {name: value.get_secret_value() for name, value in headers.items()}
