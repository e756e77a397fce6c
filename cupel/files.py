"""Definitions as YAML files: `name`, `folder?`, `tags?`, `content`, and either `scenarios` or `generate`; and bodies of
other requests, as YAML or JSON.

Only the outer shape is checked here, so that a mistake is told with its place in the file; the rules are the API's.
"""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from cupel.documents import Json
from cupel.errors import WrongUse

_KEYS = ("name", "folder", "tags", "content", "scenarios", "generate")


@dataclass(frozen=True)
class DefinitionFile:
    """`definition` is the body that creates it; `tag` names the bytes of the file, so that they are found again."""

    definition: Json
    scenarios: list[Json]
    generate: Json | None
    tag: str


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
    document = _known(path, _parse(path, content))
    tag = f"sha:{hashlib.sha256(content).hexdigest()[:12]}"
    tags = [*_list(path, document, "tags", str, "text"), tag]
    definition = {"name": _name(path, document), "tags": tags, "content": _content(path, document)}
    if "folder" in document:
        definition["folder"] = document["folder"]
    return DefinitionFile(definition, *_scenarios(path, document), tag)


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


def _known(path: Path, document: Any) -> Json:
    if not isinstance(document, dict):
        raise WrongUse(f"{path}: must be a mapping with {', '.join(_KEYS)}")
    unknown = [str(key) for key in document if key not in _KEYS]
    if unknown:
        raise WrongUse(f"{path}: {unknown[0]}: unknown field; known are {', '.join(_KEYS)}")
    return document


def _name(path: Path, document: Json) -> str:
    name = document.get("name")
    if not isinstance(name, str) or not name.strip():
        raise WrongUse(f"{path}: name: must be text that is not empty")
    return name


def _content(path: Path, document: Json) -> Json:
    content = document.get("content")
    if not isinstance(content, dict):
        raise WrongUse(f"{path}: content: must be a mapping, such as system, template and dimensions")
    return content


def _scenarios(path: Path, document: Json) -> tuple[list[Json], Json | None]:
    if ("scenarios" in document) == ("generate" in document):
        raise WrongUse(f"{path}: scenarios: give either scenarios or generate")
    if "scenarios" in document:
        scenarios = _list(path, document, "scenarios", dict, "a mapping with prompt or messages")
        if not scenarios:
            raise WrongUse(f"{path}: scenarios: must not be empty")
        return scenarios, None
    generate = document["generate"]
    if not isinstance(generate, dict) or "mode" not in generate:
        raise WrongUse(f"{path}: generate: must be a mapping with mode, such as {{mode: matrix, options: first}}")
    return [], generate


def _list[T](path: Path, document: Json, key: str, kind: type[T], meaning: str) -> list[T]:
    values = document.get(key, [])
    if not isinstance(values, list):
        raise WrongUse(f"{path}: {key}: must be a list")
    for place, value in enumerate(values):
        if not isinstance(value, kind):
            raise WrongUse(f"{path}: {key}.{place}: must be {meaning}")
    return values
