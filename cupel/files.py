"""Definition files: YAML with `name`, `folder?`, `tags?`, `content`, either `scenarios` or `generate`, and the
`personas?` and `connectors?` that these refer to. Also the bodies of other requests, as YAML or JSON.

Only the outer structure is checked here, so that errors name the field of the file; all other rules are the API's.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from cupel.environment import read_variable
from cupel.errors import UsageError
from cupel.json_types import Json

_KEYS = ("name", "folder", "tags", "content", "scenarios", "generate", "personas", "connectors")
_VARIABLE = re.compile(r"\$\{(\w+)\}")


@dataclass(frozen=True)
class DefinitionFile:
    """`definition` is the request body that creates it; `tag` identifies the bytes of the file."""

    definition: Json
    scenarios: list[Json]
    generate: Json | None
    tag: str
    personas: list[Json] = field(default_factory=list)
    """Scenarios refer to them by name in `personaIds`."""
    connectors: list[Json] = field(default_factory=list)
    """Runs refer to them as `connector/<name>`."""


class _Loader(yaml.SafeLoader):
    """Keeps dates as text, as in JSON, and refuses a key that a mapping has twice, of which the first would be lost."""

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node = super().compose_mapping_node(anchor)
        seen: set[tuple[str, str]] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if (key.tag, key.value) in seen:
                    raise yaml.MarkedYAMLError(
                        problem=f"{key.value}: this key occurs twice", problem_mark=key.start_mark
                    )
                seen.add((key.tag, key.value))
        return node


_TIMESTAMP = "tag:yaml.org,2002:timestamp"
_Loader.yaml_implicit_resolvers = {
    start: [(tag, pattern) for tag, pattern in resolvers if tag != _TIMESTAMP]
    for start, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def read_request_body(path: Path) -> Json:
    """The body of a request, from a YAML or JSON file."""
    document = _parse_yaml(path, _read(path))
    if not isinstance(document, dict):
        raise UsageError(f"{path}: must be a mapping")
    return document


def read_definition(path: Path) -> DefinitionFile:
    content = _read(path)
    return _parse_definition(str(path), _parse_yaml(path, content), content)


def definition_from_mapping(document: Mapping[str, Any]) -> DefinitionFile:
    """From a mapping with the fields of a definition file, where `name` is optional."""
    try:
        content = json.dumps(document, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"the definition contains a value that JSON cannot represent: {error}") from error
    return _parse_definition("the definition", {"name": "definition", **document}, content)


def _parse_definition(where: str, document: Any, content: bytes) -> DefinitionFile:
    document = _require_known_fields(where, document)
    tag = content_tag(content)
    tags = [*_require_list(where, document, "tags", str, "text"), tag]
    definition = {"name": _require_name(where, document), "tags": tags, "content": _require_content(where, document)}
    if "folder" in document:
        definition["folder"] = document["folder"]
    personas, connectors = (_parse_resources(where, document, key) for key in ("personas", "connectors"))
    return DefinitionFile(definition, *_parse_scenarios(where, document), tag, personas, connectors)


def content_tag(content: bytes) -> str:
    return f"sha:{hashlib.sha256(content).hexdigest()[:12]}"


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from error


def _parse_yaml(path: Path, content: bytes) -> Any:
    try:
        document = yaml.load(content, Loader=_Loader)  # noqa: S506 - a SafeLoader
        json.dumps(document, allow_nan=False)
    except yaml.MarkedYAMLError as error:
        where = f":{error.problem_mark.line + 1}:{error.problem_mark.column + 1}" if error.problem_mark else ""
        raise UsageError(f"{path}{where}: {error.problem or error.context}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: is not valid YAML text: {error}") from error
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"{path}: contains a value that JSON cannot represent: {error}") from error
    return document


def _require_known_fields(where: str, document: Any) -> Json:
    if not isinstance(document, dict):
        raise UsageError(f"{where}: must be a mapping with {', '.join(_KEYS)}")
    unknown = [str(key) for key in document if key not in _KEYS]
    if unknown:
        raise UsageError(f"{where}: {unknown[0]}: unknown field; known fields: {', '.join(_KEYS)}")
    return document


def _require_name(where: str, document: Json) -> str:
    name = document.get("name")
    if not isinstance(name, str) or not name.strip():
        raise UsageError(f"{where}: name: must be non-empty text")
    return name


def _require_content(where: str, document: Json) -> Json:
    content = document.get("content")
    if not isinstance(content, dict):
        raise UsageError(f"{where}: content: must be a mapping with fields such as system, template and dimensions")
    return content


def _parse_scenarios(where: str, document: Json) -> tuple[list[Json], Json | None]:
    if ("scenarios" in document) == ("generate" in document):
        raise UsageError(f"{where}: scenarios: specify either scenarios or generate")
    if "scenarios" in document:
        scenarios = _require_list(where, document, "scenarios", dict, "a mapping with a prompt or messages")
        if not scenarios:
            raise UsageError(f"{where}: scenarios: must not be empty")
        return scenarios, None
    generate = document["generate"]
    if not isinstance(generate, dict) or "mode" not in generate:
        raise UsageError(f"{where}: generate: must be a mapping with a mode, such as {{mode: matrix, options: first}}")
    return [], generate


def _parse_resources(where: str, document: Json, key: str) -> list[Json]:
    """Resources with unique names (ignoring case). Header values may contain environment variables, as in `${NAME}`."""
    resources = _require_list(where, document, key, dict, "a mapping with a name")
    names = [each.get("name") for each in resources]
    for position, name in enumerate(names):
        if not isinstance(name, str) or not name.strip():
            raise UsageError(f"{where}: {key}.{position}.name: must be non-empty text")
        if name.casefold() in (str(other).casefold() for other in names[:position]):
            raise UsageError(f"{where}: {key}.{position}.name: {name} is used twice")
    return [_expand_headers(f"{where}: {key}.{position}", each) for position, each in enumerate(resources)]


def _expand_headers(where: str, body: Json) -> Json:
    headers = body.get("headers")
    if headers is None:
        return body
    if not isinstance(headers, dict) or not all(isinstance(value, str) for value in headers.values()):
        raise UsageError(f"{where}.headers: must be a mapping of header names to text")
    return {
        **body,
        "headers": {name: _expand_variables(f"{where}.headers.{name}", text) for name, text in headers.items()},
    }


def _expand_variables(where: str, text: str) -> str:
    def value(match: re.Match[str]) -> str:
        expanded = read_variable(match[1])
        if expanded is None:
            raise UsageError(f"{where}: the environment variable {match[1]} is not set")
        return expanded

    return _VARIABLE.sub(value, text)


def _require_list[T](where: str, document: Json, key: str, kind: type[T], description: str) -> list[T]:
    values = document.get(key, [])
    if not isinstance(values, list):
        raise UsageError(f"{where}: {key}: must be a list")
    for position, value in enumerate(values):
        if not isinstance(value, kind):
            raise UsageError(f"{where}: {key}.{position}: must be {description}")
    return values
