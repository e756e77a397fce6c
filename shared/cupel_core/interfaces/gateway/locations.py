import re
from collections.abc import Mapping
from typing import Any

import orjson

from cupel_core.contract.operation import Operation

_CREATED = (201, 202)
_NAME = re.compile(r"\{([\w.]+)\}")


def add_location(operation: Operation, path: str, response: dict[str, Any]) -> dict[str, Any]:
    if "Location" in response["headers"]:
        return response
    location = location_of(operation, path, response) if response["statusCode"] in _CREATED else None
    return {**response, "headers": {**response["headers"], "Location": location}} if location else response


def location_of(operation: Operation, path: str, response: dict[str, Any]) -> str | None:
    if operation.location is None:
        return None
    return fill(operation.location, {**orjson.loads(response["body"]), **operation.parameters(path)})


def fill(template: str, values: Mapping[str, Any]) -> str | None:
    """Fill in the path. The result is None if a value is missing: a dry run creates nothing."""
    filled = {name: _value(values, name) for name in _NAME.findall(template)}
    return None if None in filled.values() else _NAME.sub(lambda match: str(filled[match[1]]), template)


def _value(values: Any, path: str) -> Any:
    for name in path.split("."):
        if isinstance(values, list):
            values = values[int(name)] if int(name) < len(values) else None
        else:
            values = values.get(name) if values else None
    return values
