"""Agents under test behind HTTP."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

PROVIDER = "connector"
"""A connector as a target is `connector/<id>`."""


class ConnectorType(StrEnum):
    LANGGRAPH = "langgraph"
    OPENAI = "openai"
    HTTP = "http"


@dataclass(frozen=True)
class Connector:
    """`headers` are secrets. What `config` may hold depends on the type (docs/connectors.md)."""

    id: str
    name: str
    type: ConnectorType
    base_url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    config: Mapping[str, Any] = field(default_factory=dict)

    @property
    def target(self) -> str:
        return f"{PROVIDER}/{self.id}"
