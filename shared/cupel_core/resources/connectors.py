from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from cupel_core.base.errors import FieldError, Invalid
from cupel_core.base.ids import new_id
from cupel_core.base.paging import Page
from cupel_core.base.preconditions import UNCONDITIONAL, Precondition
from cupel_core.domain.resources.connectors import Connector, ConnectorFields, ConnectorType, address_of
from cupel_core.domain.resources.named_resource import NamedResource
from cupel_core.providers.connectors.config import config_errors, secret_errors
from cupel_core.resources import headers as secret_headers
from cupel_core.resources import named_resource
from cupel_core.resources.named_resource import owner, stored_fields
from cupel_core.store import resources
from cupel_core.store.resources import Resource, ResourceKind

_FIELDS = {"type": "type", "base_url": "baseUrl", "config": "config"}


def create(workspace: str, fields: ConnectorFields, now: datetime) -> NamedResource[Connector]:
    """Create a connector. Raise Invalid, naming each invalid field, and Conflict if another one has this name."""
    body = _validated(stored_fields(fields, _FIELDS), fields.get("headers"))
    return _named(named_resource.create(workspace, ResourceKind.CONNECTOR, new_id("con"), fields, body, now))


def get(workspace: str, connector_id: str) -> Connector:
    """Return the connector with its headers. Raise NotFound for an unknown or deleted one."""
    return with_headers(workspace, _connector(resources.get(workspace, ResourceKind.CONNECTOR, connector_id)))


def find(workspace: str, connector_id: str) -> Connector | None:
    """Return the connector with its headers, even if it is deleted, because runs started with it continue."""
    resource = resources.find(workspace, ResourceKind.CONNECTOR, connector_id)
    return with_headers(workspace, _connector(resource)) if resource else None


def with_headers(workspace: str, connector: Connector) -> Connector:
    """Add the header values of the connector's version of them, even if they were changed or deleted since."""
    values = secret_headers.load(workspace, owner(ResourceKind.CONNECTOR, connector.id), connector.headers_version)
    return replace(connector, headers=values)


def get_resource(workspace: str, connector_id: str) -> NamedResource[Connector]:
    return _named(resources.get(workspace, ResourceKind.CONNECTOR, connector_id))


def list_connectors(workspace: str, limit: int, cursor: str | None) -> Page[NamedResource[Connector]]:
    return named_resource.list_resources(workspace, ResourceKind.CONNECTOR, _connector, limit, cursor)


def update(
    workspace: str,
    connector_id: str,
    fields: ConnectorFields,
    now: datetime,
    precondition: Precondition = UNCONDITIONAL,
) -> NamedResource[Connector]:
    """Update a connector. Headers and config are replaced as a whole. Raise Invalid, and Conflict for a concurrent
    change."""
    before = resources.get(workspace, ResourceKind.CONNECTOR, connector_id)
    body = _validated({**before.body, **stored_fields(fields, _FIELDS)}, fields.get("headers"))
    if "headers" not in fields and before.body["headerNames"]:
        secret_headers.check_same_address("headers", _address(before.body), _address(body))
    return _named(named_resource.update(workspace, before, fields, body, now, precondition))


def delete(workspace: str, connector_id: str, now: datetime, precondition: Precondition = UNCONDITIONAL) -> None:
    """Hide the connector. Runs that use it continue."""
    named_resource.delete(workspace, ResourceKind.CONNECTOR, connector_id, now, precondition)


def _validated(body: dict[str, Any], headers: Mapping[str, str] | None) -> dict[str, Any]:
    kind = ConnectorType(body["type"])
    problems = config_errors(kind, body.get("config") or {})
    errors = [FieldError(f"config.{field}" if field else "config", message) for field, message in problems]
    errors += [FieldError(f"headers.{name}", message) for name, message in secret_errors(kind, headers or {})]
    if errors:
        raise Invalid.fields(errors)
    return body


def _address(body: Mapping[str, Any]) -> str:
    return address_of(body["baseUrl"], body.get("config") or {})


def _connector(resource: Resource) -> Connector:
    return Connector.from_json({**resource.body, "id": resource.id, "name": resource.name})


def _named(resource: Resource) -> NamedResource[Connector]:
    return named_resource.from_stored(resource, _connector(resource))
