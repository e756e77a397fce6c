"""Resolves `$ref: '#/assertionTemplates/x'`: the target replaces it, and fields beside `$ref` override the target's."""

from collections.abc import Mapping
from itertools import count
from typing import Any

from cupel_core.domain.definitions.drafts import ImportReport
from cupel_core.interop.imports.json_documents import MAX_NODES, InvalidDocument

_MAX_HOPS = 20


def resolve_references(config: Mapping[str, Any], report: ImportReport) -> dict[str, Any]:
    """The configuration with references replaced. Raises `InvalidDocument` if it becomes too large.

    An unresolvable reference is left unchanged. It is reported, unless it is one of a JSON Schema into itself: such a
    reference matches something in a mapping around it.
    """

    nodes = count(1)

    def copy(value: Any, where: str, hops: int, around: tuple[Mapping[str, Any], ...]) -> Any:
        if next(nodes) > MAX_NODES:
            raise InvalidDocument("the configuration is too large after its references are resolved")
        match value:
            case {"$ref": str() as reference}:
                referenced = _lookup(config, reference) if hops < _MAX_HOPS else None
                if referenced is None:
                    if reference != "#" and all(_lookup(mapping, reference) is None for mapping in around):
                        report.skip(where, reference, "the reference does not match anything in the configuration")
                    return value
                target = copy(referenced, where, hops + 1, around)
                overrides = {
                    name: copy(item, f"{where}.{name}", hops, around) for name, item in value.items() if name != "$ref"
                }
                return {**target, **overrides} if isinstance(target, Mapping) else target
            case dict():
                inside = (*around, value)
                return {name: copy(item, f"{where}.{name}".lstrip("."), hops, inside) for name, item in value.items()}
            case list():
                return [copy(item, f"{where}.{number}", hops, around) for number, item in enumerate(value)]
        return value

    resolved: dict[str, Any] = copy(dict(config), "", 0, ())
    return resolved


def _lookup(config: Mapping[str, Any], reference: str) -> Any:
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
