"""Reads the fields of requests as the API's contract limits them; `python -m tools.request_fields` writes the table."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from cupel.json_types import Json

_FILE = Path(__file__).with_name("request_fields.json")
_CAPITAL = re.compile("[A-Z]")


class RequestField(NamedTuple):
    """Describes a field. Its type is that of JSON, `texts` for a list of texts, or `pair` for two whole numbers."""

    type: str
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    nullable: bool = False
    default: Any = None
    description: str = ""

    @property
    def is_flag(self) -> bool:
        return self.type == "boolean" and self.default is False


def fields_of(model: str) -> dict[str, RequestField]:
    return {name: RequestField(**field) for name, field in _models()[model].items()}


@cache
def _models() -> dict[str, dict[str, Json]]:
    loaded: dict[str, dict[str, Json]] = json.loads(_FILE.read_text(encoding="utf-8"))
    return loaded


def words_of(name: str, separator: str) -> str:
    """Return `judge-model` for `judgeModel`."""
    return _CAPITAL.sub(lambda capital: f"{separator}{capital[0].lower()}", name)
