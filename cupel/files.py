"""Definitions as YAML files: `name`, `folder?`, `tags?`, `content`, either `scenarios` or `generate`, and what these
name: `personas?` and `connectors?`; and bodies of other requests, as YAML or JSON.

Only the outer shape is checked here, so that a mistake is told with its place in the file; the rules are the API's.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from cupel.environment import variable
from cupel.errors import WrongUse
from cupel.json_types import Json

_KEYS = ("name", "folder", "tags", "content", "scenarios", "generate", "personas", "connectors")
_VARIABLE = re.compile(r"\$\{(\w+)\}")


@dataclass(frozen=True)
class DefinitionFile:
    """`definition` is the body that creates it; `tag` names the bytes of the file, so that they are found again."""

    definition: Json
    scenarios: list[Json]
    generate: Json | None
    tag: str
    personas: list[Json] = field(default_factory=list)
    """Scenarios name them in `personaIds`."""
    connectors: list[Json] = field(default_factory=list)
    """Runs name them as `connector/<name>`."""


class _Loader(yaml.SafeLoader):
    """Dates stay text, as they are in JSON."""


_TIMESTAMP = "tag:yaml.org,2002:timestamp"
_Loader.yaml_implicit_resolvers = {
    start: [(tag, pattern) for tag, pattern in resolvers if tag != _TIMESTAMP]
    for start, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def read_body(path: Path) -> Json:
    """What a request is to say, as it stands in the file."""
    document = _parse(path, _read(path))
    if not isinstance(document, dict):
        raise WrongUse(f"{path}: must be a mapping")
    return document


def read_definition(path: Path) -> DefinitionFile:
    content = _read(path)
    return _definition(str(path), _parse(path, content), content)


def definition_of(document: Mapping[str, Any]) -> DefinitionFile:
    """From what a file would hold; a name is not needed."""
    try:
        content = json.dumps(document, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise WrongUse(f"the definition holds a value that JSON does not have: {error}") from error
    return _definition("the definition", {"name": "definition", **document}, content)


def _definition(where: str, document: Any, content: bytes) -> DefinitionFile:
    document = _known(where, document)
    tag = tag_of(content)
    tags = [*_list(where, document, "tags", str, "text"), tag]
    definition = {"name": _name(where, document), "tags": tags, "content": _content(where, document)}
    if "folder" in document:
        definition["folder"] = document["folder"]
    personas, connectors = (_named(where, document, key) for key in ("personas", "connectors"))
    return DefinitionFile(definition, *_scenarios(where, document), tag, personas, connectors)


def tag_of(content: bytes) -> str:
    return f"sha:{hashlib.sha256(content).hexdigest()[:12]}"


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise WrongUse(f"{path}: {error.strerror or error}") from error


def _parse(path: Path, content: bytes) -> Any:
    try:
        document = yaml.load(content, Loader=_Loader)  # noqa: S506 - a SafeLoader
        json.dumps(document, allow_nan=False)
    except yaml.MarkedYAMLError as error:
        where = f":{error.problem_mark.line + 1}:{error.problem_mark.column + 1}" if error.problem_mark else ""
        raise WrongUse(f"{path}{where}: {error.problem or error.context}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise WrongUse(f"{path}: is not YAML text: {error}") from error
    except (TypeError, ValueError, RecursionError) as error:
        raise WrongUse(f"{path}: holds a value that JSON does not have: {error}") from error
    return document


def _known(where: str, document: Any) -> Json:
    if not isinstance(document, dict):
        raise WrongUse(f"{where}: must be a mapping with {', '.join(_KEYS)}")
    unknown = [str(key) for key in document if key not in _KEYS]
    if unknown:
        raise WrongUse(f"{where}: {unknown[0]}: unknown field; known are {', '.join(_KEYS)}")
    return document


def _name(where: str, document: Json) -> str:
    name = document.get("name")
    if not isinstance(name, str) or not name.strip():
        raise WrongUse(f"{where}: name: must be text that is not empty")
    return name


def _content(where: str, document: Json) -> Json:
    content = document.get("content")
    if not isinstance(content, dict):
        raise WrongUse(f"{where}: content: must be a mapping, such as system, template and dimensions")
    return content


def _scenarios(where: str, document: Json) -> tuple[list[Json], Json | None]:
    if ("scenarios" in document) == ("generate" in document):
        raise WrongUse(f"{where}: scenarios: give either scenarios or generate")
    if "scenarios" in document:
        scenarios = _list(where, document, "scenarios", dict, "a mapping with prompt or messages")
        if not scenarios:
            raise WrongUse(f"{where}: scenarios: must not be empty")
        return scenarios, None
    generate = document["generate"]
    if not isinstance(generate, dict) or "mode" not in generate:
        raise WrongUse(f"{where}: generate: must be a mapping with mode, such as {{mode: matrix, options: first}}")
    return [], generate


def _named(where: str, document: Json, key: str) -> list[Json]:
    """Each with a name of its own, whatever its case; header values may stand in variables, as `${NAME}`."""
    found = _list(where, document, key, dict, "a mapping with name")
    names = [each.get("name") for each in found]
    for place, name in enumerate(names):
        if not isinstance(name, str) or not name.strip():
            raise WrongUse(f"{where}: {key}.{place}.name: must be text that is not empty")
        if name.casefold() in (str(other).casefold() for other in names[:place]):
            raise WrongUse(f"{where}: {key}.{place}.name: {name} is named twice")
    return [_with_headers(f"{where}: {key}.{place}", each) for place, each in enumerate(found)]


def _with_headers(where: str, body: Json) -> Json:
    headers = body.get("headers")
    if headers is None:
        return body
    if not isinstance(headers, dict) or not all(isinstance(value, str) for value in headers.values()):
        raise WrongUse(f"{where}.headers: must be a mapping of names to text")
    return {**body, "headers": {name: _expanded(f"{where}.headers.{name}", text) for name, text in headers.items()}}


def _expanded(where: str, text: str) -> str:
    def value(found: re.Match[str]) -> str:
        given = variable(found[1])
        if given is None:
            raise WrongUse(f"{where}: the variable {found[1]} is not set")
        return given

    return _VARIABLE.sub(value, text)


def _list[T](where: str, document: Json, key: str, kind: type[T], meaning: str) -> list[T]:
    values = document.get(key, [])
    if not isinstance(values, list):
        raise WrongUse(f"{where}: {key}: must be a list")
    for place, value in enumerate(values):
        if not isinstance(value, kind):
            raise WrongUse(f"{where}: {key}.{place}: must be {meaning}")
    return values
