"""Parsing of untrusted YAML within limits: no tags, no dates, no alias bombs; the result is plain JSON."""

import re
from typing import Any

import yaml

from cupel_core.imports.json_documents import MAX_DEPTH, InvalidDocument, from_json, to_plain_json


class _CoreSchemaLoader(yaml.CSafeLoader):
    """YAML 1.2's core schema, as in JavaScript: `yes`, `12:30` and dates are strings."""


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
            return from_json(text, name)
        except InvalidDocument:
            pass  # a YAML flow mapping
    try:
        _check_depth(text, name)
        return to_plain_json(yaml.load(text, Loader=_CoreSchemaLoader), name)  # noqa: S506 - a SafeLoader
    except yaml.MarkedYAMLError as error:
        where = f" at line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise InvalidDocument(f"{name} is not valid YAML{where}: {error.problem or error.context}") from None
    except (yaml.YAMLError, ValueError) as error:
        raise InvalidDocument(f"{name} is not valid YAML: {error}") from None


def _check_depth(text: str, name: str) -> None:
    """Checked before loading, because libyaml's loader recurses without a limit."""
    depth = 0
    for event in yaml.parse(text, Loader=_CoreSchemaLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise InvalidDocument(f"{name} is nested too deeply")
