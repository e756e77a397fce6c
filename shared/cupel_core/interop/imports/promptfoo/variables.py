"""Combines the variables of a test: lists that make several cases, files, and variables inside variables."""

import re
from collections.abc import Iterator, Mapping
from itertools import product
from math import prod
from typing import Any, NamedTuple

from cupel_core.domain.definitions.scenarios import MAX_SCENARIOS
from cupel_core.interop.imports.files import SCHEME, FileSource, NotImportable, matching_paths, read_file
from cupel_core.interop.imports.json_documents import to_json
from cupel_core.interop.imports.media import ImportedMedia
from cupel_core.interop.imports.promptfoo.templates import escape_unclosed_tags, referenced_names, render
from cupel_core.interop.imports.promptfoo.yaml_documents import from_yaml

MAX_SUBSTITUTION_ROUNDS = 5
_PLACEHOLDER = re.compile(r"{{\s*(\w+)\s*}}")
CODE_SUFFIXES = (".js", ".cjs", ".mjs", ".ts", ".cts", ".mts", ".py", ".rb")
_TEXT = (".txt", ".md", ".json", ".jsonl", ".csv", ".html", ".xml", ".j2", "")


class VariableCombination(NamedTuple):
    variables: Mapping[str, Any]
    number: int | None


def combinations(
    variables: Mapping[str, Any], files: FileSource, *, expand: bool = True
) -> Iterator[VariableCombination]:
    """Yield every combination of the values; the first variable changes slowest. Raises `NotImportable`."""
    if not expand:
        yield VariableCombination(dict(variables), None)
        return
    values = [_values(value, files) for value in variables.values()]
    if prod(map(len, values)) > MAX_SCENARIOS:
        raise NotImportable(f"its variables make more than {MAX_SCENARIOS:,} cases")
    has_several = any(len(alternatives) != 1 for alternatives in values)
    for number, combination in enumerate(product(*values), start=1):
        yield VariableCombination(dict(zip(variables, combination, strict=True)), number if has_several else None)


def count_combinations(variables: Mapping[str, Any]) -> int:
    total = 1
    for value in variables.values():
        total *= len(value) if _is_expanded(value) else 1
    return total


def _values(value: Any, files: FileSource) -> list[Any]:
    if isinstance(value, str) and value.startswith(SCHEME):
        paths = matching_paths(files, value)
        if not paths:
            raise NotImportable(f"{value} matches no file")
        return [f"{SCHEME}{path}" for path in paths]
    return value if _is_expanded(value) else [value]


def _is_expanded(value: Any) -> bool:
    """Return whether a value is a list of alternatives: an empty list, or one that starts with no string, is one
    value."""
    return isinstance(value, list) and bool(value) and isinstance(value[0], str)


def resolve_variables(variables: Mapping[str, Any], files: FileSource, media: ImportedMedia) -> dict[str, Any]:
    resolved = {name: _load(media.variable(value), files) for name, value in variables.items()}
    resolved = {
        name: re.sub(r"\n\Z", "", value) if isinstance(value, str) else value for name, value in resolved.items()
    }
    for _ in range(MAX_SUBSTITUTION_ROUNDS):
        before = dict(resolved)
        for name, value in before.items():
            if isinstance(value, str) and (match := _PLACEHOLDER.search(value)) and match[1] in before:
                resolved[name] = value.replace(match[0], _as_text(resolved[match[1]]), 1)
        if resolved == before:
            break
    return resolved


def render_variables(variables: Mapping[str, Any]) -> dict[str, Any]:
    """Return the variables with templates rendered; a template that uses an unknown variable is left as it is."""

    def render_value(value: Any) -> Any:
        is_renderable = isinstance(value, str) and all(name in variables for name in referenced_names(value) - {"env"})
        return render(escape_unclosed_tags(value), variables) if is_renderable else value

    return {name: render_value(value) for name, value in variables.items()}


def is_code(path: str, suffixes: tuple[str, ...] = CODE_SUFFIXES) -> bool:
    name = path.rpartition("/")[2].partition(":")[0].lower()
    return name.endswith(suffixes)


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else to_json(value)


def _load(value: Any, files: FileSource) -> Any:
    if not (isinstance(value, str) and value.startswith(SCHEME)):
        return value
    path = value.removeprefix(SCHEME)
    suffix = path[path.rfind(".") :].lower() if "." in path.rpartition("/")[2] else ""
    if is_code(path):
        raise NotImportable(f"{value} is code, which is not executed")
    if suffix in (".yaml", ".yml"):
        return to_json(from_yaml(read_file(files, value), path))
    if suffix not in _TEXT and files.read(path) is None:
        raise NotImportable(f"{value} is not a text file")
    return read_file(files, value).strip()
