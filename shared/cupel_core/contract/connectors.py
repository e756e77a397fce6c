"""Connectors: agents under test, reached over HTTP."""

import json
from typing import Annotated, Any, cast

from pydantic import AfterValidator, Field, field_validator

from cupel_core.contract.common import RequestModel, ResponseModel, example, read_from
from cupel_core.contract.fields import JsonObject, ResourceName, Url, not_null
from cupel_core.contract.headers import Headers, header_values
from cupel_core.contract.resources import NamedResourceResponse
from cupel_core.domain.resources.connectors import ConnectorFields, ConnectorType

MAX_CONFIG_BYTES = 64 * 1024


def _bounded(config: dict[str, Any]) -> dict[str, Any]:
    if len(json.dumps(config)) > MAX_CONFIG_BYTES:
        raise ValueError(f"must have at most {MAX_CONFIG_BYTES // 1024} KB")
    return config


ConnectorConfig = Annotated[
    JsonObject,
    AfterValidator(_bounded),
    Field(description="Options that depend on the connector type; see docs/connectors.md"),
]


class UpdateConnector(RequestModel):
    """Omitted fields keep their value; null clears `headers` and `config`, and a new value replaces them entirely."""

    model_config = example(
        {"baseUrl": "https://agent-2.example.com/v1", "headers": {"Authorization": "Bearer new-agent-key"}}
    )

    name: ResourceName | None = None
    type: ConnectorType | None = None
    """Protocol of the agent."""
    base_url: Url | None = None
    """An http(s) URL without query. If it changes (`config.path` included), `headers` must be sent again, or null to
    remove them."""
    headers: Headers | None = None
    """Headers of every request; their values are stored as secrets and never returned."""
    config: ConnectorConfig | None = None
    """Settings of the protocol; see docs/connectors.md."""

    _required_fields = field_validator("name", "type", "base_url")(not_null)

    def fields(self) -> ConnectorFields:
        fields = self.model_dump(exclude_unset=True)
        if "headers" in fields:
            fields["headers"] = header_values(self.headers)
        return cast(ConnectorFields, fields)


class CreateConnector(UpdateConnector):
    """An agent under test, reached over HTTP. Names are unique within a workspace, ignoring case."""

    model_config = example(
        {
            "name": "Support agent",
            "type": "openai",
            "baseUrl": "https://agent.example.com/v1",
            "headers": {"Authorization": "Bearer agent-key"},
            "config": {"model": "support-agent"},
        }
    )

    name: ResourceName
    type: ConnectorType
    """Protocol of the agent."""
    base_url: Url


class ConnectorResponse(NamedResourceResponse):
    id: Annotated[str, read_from("item.id")]
    """Example: con_01"""
    name: Annotated[str, read_from("item.name")]
    """Example: Support agent"""
    type: Annotated[ConnectorType, read_from("item.type")]
    """Protocol of the agent."""
    base_url: Annotated[str, read_from("item.base_url")]
    """Example: https://agent.example.com/v1"""
    config: Annotated[dict[str, Any], read_from("item.config")]
    """Settings of the protocol; see docs/connectors.md."""


class ConnectorPage(ResponseModel):
    items: list[ConnectorResponse]
    next_cursor: str | None


class ConnectorTestResultResponse(ResponseModel):
    ok: bool
    """True if the agent replied. Example: true"""
    latency_ms: int
    """Time to the reply in milliseconds. Example: 620"""
    reply: str | None
    """Reply of the agent; null without one. Example: You can return it within 30 days."""
    error: str | None
    """Reason why the agent did not reply."""
