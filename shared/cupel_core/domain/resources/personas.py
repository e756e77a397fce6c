"""Simulated users."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypedDict


@dataclass(frozen=True)
class Persona:
    """A simulated user. Its `headers`, whose values are secrets, are sent with every request to a connector."""

    id: str
    name: str
    description: str | None = None
    system_prompt: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    headers_version: str | None = None
    """Version of the stored headers; None if there are none."""

    def to_json(self) -> dict[str, Any]:
        """Without the headers' values, so that a run's snapshot can contain it."""
        return {
            "id": self.id,
            "name": self.name,
            "description": self.description,
            "systemPrompt": self.system_prompt,
            "headersVersion": self.headers_version,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Persona":
        return cls(
            data["id"], data["name"], data.get("description"), data.get("systemPrompt"), {}, data.get("headersVersion")
        )


class PersonaFields(TypedDict, total=False):
    """Fields of a persona; in an update, omitted fields are unchanged."""

    name: str
    description: str | None
    system_prompt: str | None
    headers: Mapping[str, str] | None
