"""Parses untrusted YAML within limits to plain JSON, and resolves its references (`$ref`)."""

import re
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

import yaml

from cupel_core.domain.definitions.drafts import ImportReport
from cupel_core.interop.imports.json_documents import MAX_DEPTH, MAX_NODES, InvalidDocument, from_json, to_plain_json

_MAX_HOPS = 20


class _CoreSchemaLoader(yaml.CSafeLoader):
    """Loads YAML 1.2's core schema, as in JavaScript: `yes`, `12:30` and dates are strings.

    A key that a mapping has twice is refused, because the first value would be lost.
    """

    def get_single_data(self) -> Any:
        node = self.get_single_node()
        if node is None:
            return None
        for mapping in _mappings(node):
            _refuse_duplicates(mapping)
        return self.construct_document(node)


def _mappings(root: yaml.Node) -> Iterator[yaml.MappingNode]:
    """Yield every mapping of a document once, however often an alias repeats it."""
    seen: set[int] = set()
    pending = [root]
    while pending:
        node = pending.pop()
        if id(node) in seen or isinstance(node, yaml.ScalarNode):
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            yield node
            pending.extend(part for pair in node.value for part in pair)
        else:
            pending.extend(node.value)


def _refuse_duplicates(mapping: yaml.MappingNode) -> None:
    seen: set[str] = set()
    for key, _ in mapping.value:
        if not isinstance(key, yaml.ScalarNode) or key.tag == _MERGE_TAG:
            continue
        if key.value in seen:
            raise yaml.MarkedYAMLError(problem=f"{key.value}: this key occurs twice", problem_mark=key.start_mark)
        seen.add(key.value)


_MERGE_TAG = "tag:yaml.org,2002:merge"
_CoreSchemaLoader.yaml_implicit_resolvers = {}
for _tag, _pattern, _starts in (
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", [*"tTfF"]),
    ("int", r"^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$", [*"-+0123456789"]),
    ("float", r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$", [*"-+.0123456789"]),
    ("null", r"^(?:~|null|Null|NULL|)$", [*"~nN", ""]),
    ("merge", r"^<<$", ["<"]),
):
    _CoreSchemaLoader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(_pattern), _starts)


def _integer(loader: yaml.CSafeLoader, node: yaml.ScalarNode) -> int:
    text = str(loader.construct_scalar(node))
    return int(text, 0) if text[:2] in ("0x", "0o") else int(text)


_CoreSchemaLoader.add_constructor("tag:yaml.org,2002:int", _integer)


def from_yaml(text: str, name: str) -> Any:
    """Parse YAML, or JSON, which is faster; `name` identifies the text in errors. Raises `InvalidDocument`."""
    if text.lstrip()[:1] in ("{", "["):
        try:
            return from_json(text, name, refuse_duplicates=True)
        except InvalidDocument:
            pass  # It may be a YAML flow mapping; the other parser also names the line of a duplicate key.
    try:
        _check_depth(text, name)
        return to_plain_json(yaml.load(text, Loader=_CoreSchemaLoader), name)  # noqa: S506 - a SafeLoader
    except yaml.MarkedYAMLError as error:
        where = f" at line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise InvalidDocument(f"{name} is not valid YAML{where}: {error.problem or error.context}") from None
    except (yaml.YAMLError, ValueError) as error:
        raise InvalidDocument(f"{name} is not valid YAML: {error}") from None


def _check_depth(text: str, name: str) -> None:
    """Check the depth before loading, because libyaml's loader recurses without a limit."""
    depth = 0
    for event in yaml.parse(text, Loader=_CoreSchemaLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise InvalidDocument(f"{name} is nested too deeply")


def resolve_references(config: Mapping[str, Any], report: ImportReport) -> dict[str, Any]:
    """Return the configuration with references replaced. Raises `InvalidDocument` if it becomes too large.

    An unresolvable reference is left unchanged. It is reported unless it refers to a part of its own JSON Schema, which
    is found in a mapping around it.
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
