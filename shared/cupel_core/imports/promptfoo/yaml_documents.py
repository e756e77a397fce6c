"""YAML of other people, within bounds: no tags, no dates, no bombs; what comes out is plain JSON."""

import re
from typing import Any

import yaml

from cupel_core.imports.json_documents import MAX_DEPTH, Unreadable, from_json, plain


class _Loader(yaml.CSafeLoader):
    """YAML 1.2's core schema, as JavaScript reads it: `yes` and `12:30` are texts, and so are dates."""


_Loader.yaml_implicit_resolvers = {}
for _tag, _pattern, _starts in (
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", [*"tTfF"]),
    ("int", r"^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$", [*"-+0123456789"]),
    ("float", r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$", [*"-+.0123456789"]),
    ("null", r"^(?:~|null|Null|NULL|)$", [*"~nN", ""]),
    ("merge", r"^<<$", ["<"]),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(_pattern), _starts)


def _integer(loader: yaml.CSafeLoader, node: yaml.ScalarNode) -> int:
    text = str(loader.construct_scalar(node))
    return int(text, 0) if text[:2] in ("0x", "0o") else int(text)


_Loader.add_constructor("tag:yaml.org,2002:int", _integer)


def from_yaml(text: str, name: str) -> Any:
    """Also JSON, which is read faster."""
    if text.lstrip()[:1] in ("{", "["):
        try:
            return from_json(text, name)
        except Unreadable:
            pass  # a YAML flow mapping
    try:
        _refuse_depth(text, name)
        return plain(yaml.load(text, Loader=_Loader), name)  # noqa: S506 - a SafeLoader
    except yaml.MarkedYAMLError as error:
        where = f" in line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise Unreadable(f"{name} is not valid YAML{where}: {error.problem or error.context}") from None
    except (yaml.YAMLError, ValueError) as error:
        raise Unreadable(f"{name} is not valid YAML: {error}") from None


def _refuse_depth(text: str, name: str) -> None:
    """Before it is loaded, because libyaml's loader recurses without a limit."""
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise Unreadable(f"{name} is nested too deeply")
