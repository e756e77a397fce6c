"""Headers that a workspace has sent with its requests. Their values are secrets: they come in and never go out."""

import re
from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, Field, SecretStr

from cupel_core.contract.providers import Url

__all__ = ["Headers", "Names", "Url", "values_of"]

MAX_BYTES = 16 * 1024
"""Of all of one owner's: servers refuse more, and a secret holds 64 KB."""
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,200}")
_VALUE = re.compile(r"[!-~](?:[ -~\t]*[!-~])?")
_OF_THE_CONNECTION = frozenset(
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


def _fit(headers: dict[str, SecretStr]) -> dict[str, SecretStr]:
    for name, value in headers.items():
        if why := _complaint(name, value.get_secret_value()):
            raise ValueError(f"{name[:40]!r} {why}")
    if len({name.lower() for name in headers}) < len(headers):
        raise ValueError("must not have a name twice, in whatever case")
    if sum(len(name) + len(value.get_secret_value()) for name, value in headers.items()) > MAX_BYTES:
        raise ValueError(f"must have at most {MAX_BYTES // 1024} KB")
    return headers


def _complaint(name: str, value: str) -> str | None:
    if not _TOKEN.fullmatch(name):
        return "is no name of a header"
    if name.lower() in _OF_THE_CONNECTION:
        return "belongs to the connection and cannot be set"
    if not _VALUE.fullmatch(value):
        return "must have a value of visible ASCII characters, with spaces only between them"
    return None


Headers = Annotated[
    dict[str, SecretStr],
    Field(max_length=50, description="The values are kept as secrets, and never answered"),
    AfterValidator(_fit),
]
Names = Annotated[list[str], Field(description="Of the headers; their values are never answered")]


def values_of(headers: Mapping[str, SecretStr] | None) -> dict[str, str] | None:
    return None if headers is None else {name: value.get_secret_value() for name, value in headers.items()}
