"""What is told and asked about providers and their models."""

import re
from typing import Annotated, cast
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr

from cupel_core.accounts import ModelView, ProviderChanges, ProviderView
from cupel_core.contract.common import Answer, Request

_VISIBLE_ASCII = re.compile(r"[!-~]{1,4096}")


def _absolute_url(text: str) -> str:
    message = "must be an absolute http(s) URL without credentials, query or fragment"
    if not _VISIBLE_ASCII.fullmatch(text):
        raise ValueError(message)
    parts = urlsplit(text)  # a ValueError of its own names what is wrong with a host or port
    wanted = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    if not wanted or "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError(message)
    return text.rstrip("/")


def _header_safe(secret: SecretStr) -> SecretStr:
    if not _VISIBLE_ASCII.fullmatch(secret.get_secret_value()):
        raise ValueError("must be 1 to 4096 visible ASCII characters")
    return secret


Url = Annotated[str, Field(max_length=2_048), AfterValidator(_absolute_url)]
Key = Annotated[SecretStr, AfterValidator(_header_safe)]
Parallel = Annotated[int, Field(strict=True, ge=1, le=1_000)]
PerMinute = Annotated[int, Field(strict=True, ge=1, le=1_000_000_000)]


class ProviderRequest(Request):
    """Fields that are left out stay as they are; null goes back to the default, and deletes the key."""

    base_url: Url | None = None
    api_key: Key | None = None
    enabled: Annotated[bool, Field(strict=True)] | None = None
    max_parallel_requests: Parallel | None = None
    requests_per_minute: PerMinute | None = None
    tokens_per_minute: PerMinute | None = None

    def changes(self) -> ProviderChanges:
        given = cast(ProviderChanges, self.model_dump(exclude_unset=True))
        if self.api_key is not None:
            given["api_key"] = self.api_key.get_secret_value()
        return given


class ProviderAnswer(Answer):
    name: str
    title: str
    base_url: str
    enabled: bool
    usable: Annotated[bool, Field(description="Enabled, and with the address and the key that it needs")]
    needs_key: bool
    has_key: bool
    max_parallel_requests: int
    requests_per_minute: int | None
    tokens_per_minute: int | None

    @classmethod
    def of(cls, view: ProviderView) -> "ProviderAnswer":
        return cls(**vars(view))


class ProviderList(Answer):
    items: list[ProviderAnswer]
    next_cursor: str | None = None


class ModelAnswer(Answer):
    id: Annotated[str, Field(description="How a run names it: provider/name")]
    name: str
    provider: str
    simulated: bool
    enabled: bool
    has_key: bool
    usable: bool
    input_usd_per_million: float | None
    output_usd_per_million: float | None

    @classmethod
    def of(cls, view: ModelView) -> "ModelAnswer":
        provider = view.provider
        return cls(
            id=view.id,
            name=view.name,
            provider=provider.name,
            simulated=view.simulated,
            enabled=provider.enabled,
            has_key=provider.has_key,
            usable=provider.usable,
            input_usd_per_million=view.input_usd_per_million,
            output_usd_per_million=view.output_usd_per_million,
        )


class ModelList(Answer):
    items: list[ModelAnswer]
    next_cursor: str | None
