from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, TypedDict

from cupel_core.base.deferred import dataclass
from cupel_core.domain.resources.addresses import is_same_address


@dataclass(frozen=True)
class Persona:
    """Describes a simulated user. Its secret `headers` are sent with every request to a connector at one of
    `connector_urls`."""

    id: str
    name: str
    description: str | None = None
    system_prompt: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    headers_version: str | None = None
    """None if no headers are stored."""
    connector_urls: tuple[str, ...] = ()
    """The headers may be sent to these addresses."""

    @property
    def has_headers(self) -> bool:
        return bool(self.headers) or self.headers_version is not None

    def sends_headers_to(self, connector_url: str) -> bool:
        """Return whether the headers may be sent to a connector with this address. Without this rule, anyone who may
        create a connector could read them."""
        return any(is_same_address(connector_url, url) for url in self.connector_urls)

    def to_json(self) -> dict[str, Any]:
        """Return the persona without the headers' values, so that a run's snapshot can contain it."""
        return {
            "id": self.id,
            "name": self.name,
            "description": self.description,
            "systemPrompt": self.system_prompt,
            "headersVersion": self.headers_version,
            "connectorUrls": list(self.connector_urls),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Persona":
        return cls(
            id=data["id"],
            name=data["name"],
            description=data.get("description"),
            system_prompt=data.get("systemPrompt"),
            headers_version=data.get("headersVersion"),
            connector_urls=tuple(data.get("connectorUrls") or ()),
        )


class PersonaFields(TypedDict, total=False):
    """In an update, omitted fields are unchanged."""

    name: str
    description: str | None
    system_prompt: str | None
    headers: Mapping[str, str] | None
    connector_urls: Sequence[str] | None
