"""What is asked and told about connectors."""

import json
from typing import TYPE_CHECKING, Annotated, Any, cast

from pydantic import AfterValidator, Field, field_validator

from cupel_core.contract.common import Answer, Request
from cupel_core.contract.headers import Headers, Url, values_of
from cupel_core.contract.resources import KeptAnswer, ResourceName, kept_fields, not_null
from cupel_core.contract.scenarios import Document
from cupel_core.domain.resources.connectors import Connector, ConnectorType
from cupel_core.resources.connectors import ConnectorFields
from cupel_core.resources.named_resource import Kept

if TYPE_CHECKING:
    from cupel_core.providers.connectors.connection_test import Tried

MAX_CONFIG_BYTES = 64 * 1024


def _small(config: dict[str, Any]) -> dict[str, Any]:
    if len(json.dumps(config)) > MAX_CONFIG_BYTES:
        raise ValueError(f"must have at most {MAX_CONFIG_BYTES // 1024} KB")
    return config


Config = Annotated[
    Document, AfterValidator(_small), Field(description="What it may hold depends on the type: see docs/connectors.md")
]


class ConnectorChange(Request):
    """Fields that are left out stay as they are; null unsets headers and config. Both are replaced as a whole."""

    name: ResourceName | None = None
    type: ConnectorType | None = None
    base_url: Annotated[
        Url | None, Field(description="Another server than before needs the headers anew, or null for none")
    ] = None
    headers: Headers | None = None
    config: Config | None = None

    _keeps_what_it_needs = field_validator("name", "type", "base_url")(not_null)

    def fields(self) -> ConnectorFields:
        given = self.model_dump(exclude_unset=True)
        if "headers" in given:
            given["headers"] = values_of(self.headers)
        return cast(ConnectorFields, given)


class ConnectorRequest(ConnectorChange):
    """An agent under test behind HTTP. The name is given once in a workspace, in any case."""

    name: ResourceName
    type: ConnectorType
    base_url: Url


class ConnectorAnswer(KeptAnswer):
    type: ConnectorType
    base_url: str
    config: dict[str, Any]

    @classmethod
    def of(cls, kept: Kept[Connector]) -> "ConnectorAnswer":
        connector = kept.item
        return cls(
            id=connector.id,
            name=connector.name,
            type=connector.type,
            base_url=connector.base_url,
            config=dict(connector.config),
            **kept_fields(kept),
        )


class ConnectorList(Answer):
    items: list[ConnectorAnswer]
    next_cursor: str | None


class TriedAnswer(Answer):
    ok: bool
    latency_ms: int
    reply: str | None
    error: Annotated[str | None, Field(description="Why there was no reply")]

    @classmethod
    def of(cls, tried: "Tried") -> "TriedAnswer":
        return cls(ok=tried.ok, latency_ms=tried.latency_ms, reply=tried.reply, error=tried.error)
