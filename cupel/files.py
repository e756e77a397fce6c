"""Reads definition files: YAML or JSON with `id?`, `name`, `folder?`, `tags?`, `content?`, `scenarios` or `generate`.

A file may also have the `personas` and `connectors` that these refer to. `scenarios` may name a table, and a scenario
may be a text. A file is checked by the rules of the API before anything is sent, and all its problems are reported at
once.
"""

import hashlib
import json
import re
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from cupel.environment import read_variable
from cupel.errors import RefusedField, UsageError
from cupel.joined_files import join_files
from cupel.json_types import Json
from cupel.local_files import LocalFile, LocalFiles
from cupel.other_files import refuse_other_document, refuse_other_kind
from cupel.scenario_tables import InvalidTable, is_table, load_scenarios
from cupel.source_files import SourceFile
from cupel_core.domain.text.near_names import unknown_field_message
from cupel_core.domain.text.validation_messages import REQUIRED, of_missing, shown_value

_KEYS = ("id", "name", "folder", "tags", "content", "scenarios", "generate", "personas", "connectors")
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_DIGEST_LENGTH = 12

type Problems = Iterator[RefusedField]


@dataclass(frozen=True)
class DefinitionFile:
    source: SourceFile
    definition: Json
    scenarios: list[Json] | None = None
    generate: Json | None = None
    id: str | None = None
    personas: list[Json] = field(default_factory=list)
    """Scenarios refer to them by name in `personaIds`."""
    connectors: list[Json] = field(default_factory=list)
    """Runs refer to them as `connector/<name>`."""
    files: Mapping[str, LocalFile] = field(default_factory=dict)

    @property
    def digest(self) -> str | None:
        """Identify the version that the file describes by its content and scenarios, without comments and names.

        The result is None if the file describes only a part of a version.
        """
        content, scenarios = self.definition.get("content"), self.generate or self.scenarios
        if content is None or scenarios is None:
            return None
        return hashlib.sha256(json.dumps([content, scenarios], sort_keys=True).encode()).hexdigest()[:_DIGEST_LENGTH]


def read_definition(path: Path, *, allow_code: bool = False) -> DefinitionFile:
    """Read a definition file. Assertions of code are refused unless they may run, which is only in process."""
    return _parse_file(path, required=("name", "content"), allow_code=allow_code)


def read_definitions(paths: Sequence[Path], *, allow_code: bool = False) -> DefinitionFile:
    """Read one definition file, or several as one definition with a prompt for each. Raises UsageError if they differ.

    Code of assertions is read relative to the folder of the files, which must then be the same.
    """
    files = [read_definition(path, allow_code=allow_code) for path in paths]
    if len(files) == 1:
        return files[0]
    if allow_code and len({path.absolute().parent for path in paths}) > 1:
        raise UsageError(f"{', '.join(map(str, paths))}: with code in assertions, must be in one folder")
    joined = _parse(join_files([file.source for file in files]), required=("name", "content"), allow_code=allow_code)
    return replace(joined, files=dict(ChainMap(*(dict(file.files) for file in files))))


def read_definition_changes(path: Path) -> DefinitionFile:
    return _parse_file(path, required=())


def definition_from_mapping(document: Mapping[str, Any], *, allow_code: bool = False) -> DefinitionFile:
    try:
        json.dumps(document, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"the definition contains a value that JSON cannot represent: {error}") from error
    source = SourceFile("the definition", {"name": "definition", **document})
    return _parse_with_files(source, Path(), required=("name", "content"), allow_code=allow_code)


def _parse_file(path: Path, required: tuple[str, ...], *, allow_code: bool = False) -> DefinitionFile:
    refuse_other_kind(path)
    source = SourceFile.read(path)
    refuse_other_document(path, source.document)
    return _parse_with_files(source, path.parent, required, allow_code=allow_code)


def _parse_with_files(
    source: SourceFile, folder: Path, required: tuple[str, ...], *, allow_code: bool = False
) -> DefinitionFile:
    source = _with_scenarios(source, folder, required)
    local = LocalFiles(folder)
    source = replace(source, document=local.in_document(source.document))
    if local.problems:
        raise source.refusal(local.problems)
    return replace(_parse(source, required, allow_code=allow_code), files=local.files)


def _with_scenarios(source: SourceFile, folder: Path, required: tuple[str, ...]) -> SourceFile:
    document = source.document
    if not isinstance(document, dict):
        return source
    scenarios = document.get("scenarios")
    if "content" in required and "content" not in document and scenarios:
        document = {**document, "content": {}}
    if is_table(scenarios):
        content = document.get("content")
        try:
            loaded = load_scenarios(scenarios, folder, content if isinstance(content, dict) else {})
        except InvalidTable as error:
            raise source.refusal(error.problems) from None
        document = {**document, "scenarios": loaded.scenarios}
        return replace(source, document=document, rows=loaded.places, warnings=loaded.warnings)
    if isinstance(scenarios, list):
        listed = [{"prompt": each} if isinstance(each, str) else each for each in scenarios]
        document = {**document, "scenarios": listed}
    return replace(source, document=document)


def _parse(source: SourceFile, required: tuple[str, ...], *, allow_code: bool = False) -> DefinitionFile:
    document = source.document
    if not isinstance(document, dict):
        raise source.refusal([RefusedField("", _other_root(document))])
    problems = [*_structure_problems(document, required)]
    personas, connectors = (_expanded(document, key, problems) for key in ("personas", "connectors"))
    problems += _rule_problems(source, personas, connectors, allow_code)
    problems += [] if problems else _fit_problems(document)
    if problems:
        raise source.refusal(problems)
    return DefinitionFile(
        source,
        {key: document[key] for key in ("name", "folder", "tags", "content") if key in document},
        document.get("scenarios"),
        document.get("generate"),
        document.get("id"),
        personas,
        connectors,
    )


def _other_root(document: object) -> str:
    found = "is empty" if document is None else f"is {'a list' if isinstance(document, list) else 'a text or a number'}"
    return (
        f"{found}; a definition file has fields with a colon, at least name and scenarios. Known fields: "
        f"{', '.join(_KEYS)}"
    )


def _fit_problems(document: Json) -> Problems:
    from cupel.definition_rules import fit_problems  # It takes a second to import.
    from cupel_core.domain.definitions.fit import MAX_MISFITS

    return islice(fit_problems(document), MAX_MISFITS)


def _structure_problems(document: Json, required: tuple[str, ...]) -> Problems:
    if unknown := document.keys() - set(_KEYS):
        yield from _unknown_fields(unknown)
    for key in ("id", "name", "folder"):
        if (key in document or key in required) and not _is_text(document.get(key)):
            yield RefusedField(key, of_missing(document.get(key), "must be non-empty text"))
    content = document.get("content")
    if ("content" in document or "content" in required) and not isinstance(content, dict):
        kind = "must be a mapping with fields such as system, template and dimensions"
        yield RefusedField("content", of_missing(content, kind))
    yield from _item_problems(document, "tags", str, "text")
    yield from _scenarios_problems(document, is_required=bool(required))
    for key in ("personas", "connectors"):
        yield from _item_problems(document, key, dict, "a mapping with a name")
        yield from _name_problems(document, key)


def _unknown_fields(keys: Iterable[object]) -> Problems:
    from cupel.definition_rules import content_paths  # It takes a second to import.

    for key in sorted(map(str, keys)):
        yield RefusedField(key, unknown_field_message(key, _KEYS, content_paths()))


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _scenarios_problems(document: Json, *, is_required: bool) -> Problems:
    given = [key for key in ("scenarios", "generate") if key in document]
    if len(given) == 2 or (is_required and not given):
        found = "both are given" if given else "none of them is given"
        yield RefusedField("scenarios", f"exactly one of scenarios and generate is required, but {found}")
    yield from _item_problems(document, "scenarios", dict, "a text or a mapping with a prompt or messages")
    if document.get("scenarios") == []:
        yield RefusedField("scenarios", "must not be empty; add at least one text or one mapping with a prompt")
    generate = document.get("generate", {"mode": ""})
    if not isinstance(generate, dict):
        kind = "must be a mapping with a mode, such as {mode: matrix, options: first}"
        yield RefusedField("generate", of_missing(generate, kind))
    elif generate.get("mode") is None:
        yield RefusedField("generate.mode", f"{REQUIRED}: matrix or llm")


def _item_problems(document: Json, key: str, kind: type, description: str) -> Problems:
    values = document.get(key, [])
    if not isinstance(values, list):
        yield RefusedField(key, f"must be a list, not {shown_value(values)}")
        return
    for position, value in enumerate(values):
        if not isinstance(value, kind):
            yield RefusedField(f"{key}.{position}", f"must be {description}, not {shown_value(value)}")


def _name_problems(document: Json, key: str) -> Problems:
    seen: set[str] = set()
    for position, resource in enumerate(_mappings(document, key)):
        name = resource.get("name")
        if not isinstance(name, str) or not name.strip():
            yield RefusedField(f"{key}.{position}.name", of_missing(name, "must be non-empty text"))
        elif name.casefold() in seen:
            yield RefusedField(f"{key}.{position}.name", f"{name} is used twice")
        else:
            seen.add(name.casefold())


def _mappings(document: Json, key: str) -> list[Json]:
    values = document.get(key)
    return [each if isinstance(each, dict) else {} for each in values] if isinstance(values, list) else []


def _expanded(document: Json, key: str, problems: list[RefusedField]) -> list[Json]:
    """Replace environment variables in the header values of resources, as in `${NAME}`."""
    return [_expand_headers(each, f"{key}.{n}.headers", problems) for n, each in enumerate(_mappings(document, key))]


def _expand_headers(body: Json, place: str, problems: list[RefusedField]) -> Json:
    headers = body.get("headers")
    if headers is None:
        return body
    if not isinstance(headers, dict) or not all(isinstance(value, str) for value in headers.values()):
        problems.append(RefusedField(place, "must be a mapping of header names to text"))
        return {name: value for name, value in body.items() if name != "headers"}
    missing = {name for text in headers.values() for name in _VARIABLE.findall(text) if read_variable(name) is None}
    problems += [RefusedField(place, f"the environment variable {name} is not set") for name in sorted(missing)]
    return {**body, "headers": {name: _VARIABLE.sub(_value, text) for name, text in headers.items()}}


def _value(variable: re.Match[str]) -> str:
    return read_variable(variable[1]) or ""


def _rule_problems(
    source: SourceFile, personas: Iterable[Json], connectors: Iterable[Json], allow_code: bool
) -> Problems:
    # The rules take longer to import than everything that runs without a file.
    from cupel import definition_rules as rules

    document = source.document
    if isinstance(document.get("content"), dict):
        has_scenarios = bool(document.get("scenarios"))
        yield from rules.content_problems(document["content"], allow_code=allow_code, has_scenarios=has_scenarios)
    scenarios = document.get("scenarios")
    is_checked = bool(source.rows)  # The scenarios of a table were checked row by row.
    for position, scenario in enumerate(scenarios if isinstance(scenarios, list) and not is_checked else ()):
        if isinstance(scenario, dict):
            yield from rules.scenario_problems(scenario, f"scenarios.{position}", allow_code=allow_code)
    for key, resources, check in (
        ("personas", personas, rules.persona_problems),
        ("connectors", connectors, rules.connector_problems),
    ):
        for position, resource in enumerate(resources):
            if _is_text(resource.get("name")):
                yield from check(resource, f"{key}.{position}")
