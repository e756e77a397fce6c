"""`$ref: '#/assertionTemplates/x'`: what stands there takes its place, and fields beside it go over it."""

from collections.abc import Mapping
from itertools import count
from typing import Any

from cupel_core.imports.drafts import Report
from cupel_core.imports.json_documents import MAX_NODES, Unreadable

_MAX_HOPS = 20


def resolve(config: Mapping[str, Any], report: Report) -> dict[str, Any]:
    """What leads nowhere stays as it is: a JSON Schema of an assertion may have references of its own."""

    nodes = count(1)

    def copy(value: Any, where: str, hops: int) -> Any:
        if next(nodes) > MAX_NODES:
            raise Unreadable("the configuration is too large with what its references repeat")
        match value:
            case {"$ref": str() as reference}:
                found = _at(config, reference) if hops < _MAX_HOPS else None
                if found is None:
                    report.leave(where, reference, "is a reference that leads to nothing in the configuration")
                    return value
                target = copy(found, where, hops + 1)
                beside = {name: copy(each, f"{where}.{name}", hops) for name, each in value.items() if name != "$ref"}
                return {**target, **beside} if isinstance(target, Mapping) else target
            case dict():
                return {name: copy(each, f"{where}.{name}".lstrip("."), hops) for name, each in value.items()}
            case list():
                return [copy(each, f"{where}.{number}", hops) for number, each in enumerate(value)]
        return value

    resolved: dict[str, Any] = copy(dict(config), "", 0)
    return resolved


def _at(config: Mapping[str, Any], reference: str) -> Any:
    if not reference.startswith("#/"):
        return None
    value: Any = config
    for step in reference[2:].split("/"):
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, Mapping) and name in value:
            value = value[name]
        elif isinstance(value, list) and name.isdigit() and int(name) < len(value):
            value = value[int(name)]
        else:
            return None
    return value
