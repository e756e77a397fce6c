from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import Any, TypedDict

from cupel_core.base.deferred import dataclass

PROVIDER = "connector"
"""The target of a connector is `connector/<id>`."""


def target_of_connector(connector_id: str) -> str:
    return f"{PROVIDER}/{connector_id}"


def connector_of_target(target: str) -> str | None:
    provider, _, name = target.partition("/")
    return name if provider == PROVIDER else None


class ConnectorType(StrEnum):
    LANGGRAPH = "langgraph"
    OPENAI = "openai"
    HTTP = "http"
    TOOLS = "tools"
    """A server that executes calls of functions, not an agent."""


SECRET_HEADER = "webhook-secret"  # noqa: S105 - the name of a secret
"""The header of a `tools` connector that is not sent: it is the key with which its calls are signed."""


@dataclass(frozen=True)
class Connector:
    """`headers` are secrets. The shape of `config` depends on the type (docs/connectors.md)."""

    id: str
    name: str
    type: ConnectorType
    base_url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    config: Mapping[str, Any] = field(default_factory=dict)
    headers_version: str | None = None
    """None if no headers are stored."""

    @property
    def target(self) -> str:
        return target_of_connector(self.id)

    @property
    def address(self) -> str:
        """Return where requests are sent, with the path of type `http`, because hosts may serve each customer under a
        path."""
        return address_of(self.base_url, self.config)

    def to_json(self) -> dict[str, Any]:
        """Return the connector without the headers' values, so that a run's snapshot can contain it."""
        return {
            "id": self.id,
            "name": self.name,
            "type": str(self.type),
            "baseUrl": self.base_url,
            "config": dict(self.config),
            "headersVersion": self.headers_version,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Connector":
        kind = ConnectorType(data["type"])
        config, version = data.get("config") or {}, data.get("headersVersion")
        return cls(data["id"], data["name"], kind, data["baseUrl"], {}, config, version)


def address_of(base_url: str, config: Mapping[str, Any]) -> str:
    return f"{base_url}{config.get('path') or ''}"


class ConnectorFields(TypedDict, total=False):
    """In an update, omitted fields are unchanged."""

    name: str
    type: ConnectorType
    base_url: str
    headers: Mapping[str, str] | None
    config: Mapping[str, Any] | None


@dataclass(frozen=True)
class ConnectionTestResult:
    ok: bool
    latency_ms: int
    reply: str | None = None
    error: str | None = None
