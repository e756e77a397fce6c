"""Simulated users."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Persona:
    """`headers` go with every request to a connector while this persona speaks; their values are secrets."""

    id: str
    name: str
    description: str | None = None
    system_prompt: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    headers_version: str | None = None
    """Of the stored headers; None when there are none."""

    def to_json(self) -> dict[str, Any]:
        """Without the headers' values: this is what a run's snapshot keeps."""
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
