"""JSON objects as the API sends and accepts them."""

from typing import Any

type Json = dict[str, Any]


def without_none(**fields: object) -> Json:
    return {name: value for name, value in fields.items() if value is not None}
