import json
import re
from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import Any

from cupel_core.base.deferred import dataclass

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")
_MAX_NAME_LENGTH = 64


@dataclass(frozen=True)
class Tool:
    """`parameters` is a JSON Schema of the arguments."""

    name: str
    description: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    strict: bool | None = None

    @property
    def schema(self) -> Mapping[str, Any]:
        """Return the schema of the arguments, which is an object without properties by default."""
        return self.parameters or {"type": "object", "properties": {}}


class ToolMode(StrEnum):
    AUTO = "auto"
    NONE = "none"
    REQUIRED = "required"


@dataclass(frozen=True)
class ToolChoice:
    mode: ToolMode
    name: str | None = None

    def to_json(self) -> str | dict[str, str]:
        return {"name": self.name} if self.name else self.mode.value

    @classmethod
    def from_json(cls, data: str | Mapping[str, str]) -> "ToolChoice":
        if isinstance(data, str):
            return cls(ToolMode(data))
        return cls(ToolMode.REQUIRED, data["name"])


@dataclass(frozen=True)
class ToolCall:
    """`arguments` is the text that the model wrote, which need not be valid JSON."""

    id: str
    name: str
    arguments: str
    signature: str | None = None
    """The provider expects it back with the call, such as Gemini's thought signature."""

    @property
    def sendable_name(self) -> str:
        """Return a name that every provider accepts in a conversation, because models invent names with other
        characters."""
        return _NOT_IN_NAMES.sub("_", self.name)[:_MAX_NAME_LENGTH] or "_"

    @property
    def arguments_object(self) -> dict[str, Any]:
        """Return the arguments; empty if the model wrote no JSON object."""
        try:
            arguments = json.loads(self.arguments)
        except (ValueError, RecursionError):
            return {}
        return arguments if isinstance(arguments, dict) else {}
