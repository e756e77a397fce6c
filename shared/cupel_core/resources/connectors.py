"""Connectors: agents behind HTTP that a workspace keeps."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypedDict

from cupel_core import event_loop
from cupel_core.domain.resources.connectors import Connector, ConnectorType
from cupel_core.errors import FieldError, Invalid
from cupel_core.ids import new_id
from cupel_core.paging import Page
from cupel_core.providers.connectors.config import complaints
from cupel_core.resources import headers as secret_headers
from cupel_core.resources import named_resource
from cupel_core.resources.named_resource import Kept, owner, stored_fields
from cupel_core.settings import settings
from cupel_core.store import resources
from cupel_core.store.resources import Kind, Resource

if TYPE_CHECKING:
    from cupel_core.providers.connectors.connection_test import Tried

TRIAL_SECONDS = 20.0
"""API Gateway waits 30 s for the whole request."""
_FIELDS = {"type": "type", "base_url": "baseUrl", "config": "config"}


class ConnectorFields(TypedDict, total=False):
    """In a change, what is left out stays as it is."""

    name: str
    type: ConnectorType
    base_url: str
    headers: Mapping[str, str] | None
    config: Mapping[str, Any] | None


def create(workspace: str, fields: ConnectorFields, now: datetime) -> Kept[Connector]:
    """Conflict when another has this name."""
    body = _checked(stored_fields(fields, _FIELDS))
    return _kept(named_resource.create(workspace, Kind.CONNECTOR, new_id("con"), fields, body, now))


def get(workspace: str, connector_id: str) -> Connector:
    """With its headers. NotFound when there is none, or it is deleted."""
    return with_headers(workspace, _connector(resources.get(workspace, Kind.CONNECTOR, connector_id)))


def find(workspace: str, connector_id: str) -> Connector | None:
    """Also a deleted one, with its headers: a run that was started with it goes on."""
    found = resources.find(workspace, Kind.CONNECTOR, connector_id)
    return with_headers(workspace, _connector(found)) if found else None


def with_headers(workspace: str, connector: Connector) -> Connector:
    """The values at the connector's version of them, also when it was changed or deleted since."""
    values = secret_headers.read(workspace, owner(Kind.CONNECTOR, connector.id), connector.headers_version)
    return replace(connector, headers=values)


def try_out(workspace: str, connector_id: str) -> "Tried":
    """Says one thing to the agent, and tells what came back."""
    # All that calls over HTTP, which whoever only keeps connectors need not load.
    from cupel_core.providers.connectors.connection_test import try_out as talk

    return event_loop.run(talk(get(workspace, connector_id), settings().allow_private_endpoints, TRIAL_SECONDS))


def read(workspace: str, connector_id: str) -> Kept[Connector]:
    return _kept(resources.get(workspace, Kind.CONNECTOR, connector_id))


def listed(workspace: str, limit: int, cursor: str | None) -> Page[Kept[Connector]]:
    """Newest first."""
    return named_resource.listed(workspace, Kind.CONNECTOR, _connector, limit, cursor)


def change(workspace: str, connector_id: str, fields: ConnectorFields, now: datetime) -> Kept[Connector]:
    """Headers and config are replaced as a whole. Conflict when it was changed at the same time."""
    before = resources.get(workspace, Kind.CONNECTOR, connector_id)
    body = _checked({**before.body, **stored_fields(fields, _FIELDS)})
    if "headers" not in fields and before.body["headerNames"]:
        secret_headers.check_move("headers", before.body["baseUrl"], body["baseUrl"])
    return _kept(named_resource.change(workspace, before, fields, body, now))


def delete(workspace: str, connector_id: str, now: datetime) -> None:
    named_resource.delete(workspace, Kind.CONNECTOR, connector_id, now)


def _checked(body: dict[str, Any]) -> dict[str, Any]:
    """Invalid names what is wrong with the config for a connector of this type."""
    wrong = complaints(ConnectorType(body["type"]), body.get("config") or {})
    errors = tuple(FieldError(f"config.{field}" if field else "config", message) for field, message in wrong)
    if errors:
        raise Invalid("; ".join(f"{error.field}: {error.message}" for error in errors[:5]), errors)
    return body


def _connector(resource: Resource) -> Connector:
    return Connector.from_json({**resource.body, "id": resource.id, "name": resource.name})


def _kept(resource: Resource) -> Kept[Connector]:
    return Kept.of(resource, _connector(resource))
