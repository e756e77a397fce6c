"""The variables of a test: lists that make several cases of it, files, and variables in variables."""

import re
from collections.abc import Iterator, Mapping
from itertools import product
from math import prod
from typing import Any, NamedTuple

from cupel_core.imports.drafts import MAX_SCENARIOS
from cupel_core.imports.files import SCHEME, Files, Missing, matching, read
from cupel_core.imports.json_documents import to_json
from cupel_core.imports.promptfoo.templates import closed, names_in, render
from cupel_core.imports.promptfoo.yaml_documents import from_yaml

MAX_ROUNDS = 5
_PLACEHOLDER = re.compile(r"{{\s*(\w+)\s*}}")
CODE = (".js", ".cjs", ".mjs", ".ts", ".cts", ".mts", ".py", ".rb")
_TEXT = (".txt", ".md", ".json", ".jsonl", ".csv", ".html", ".xml", ".j2", "")


class Case(NamedTuple):
    """One combination of a test's variables; `number` counts from 1 where there are several."""

    variables: Mapping[str, Any]
    number: int | None


def cases(variables: Mapping[str, Any], files: Files, *, expand: bool = True) -> Iterator[Case]:
    """The first variable changes slowest. Missing when a file is not there."""
    if not expand:
        yield Case(dict(variables), None)
        return
    values = [_values(value, files) for value in variables.values()]
    if prod(map(len, values)) > MAX_SCENARIOS:
        raise Missing(f"makes more than {MAX_SCENARIOS:,} cases")
    several = any(len(each) != 1 for each in values)
    for number, combination in enumerate(product(*values), start=1):
        yield Case(dict(zip(variables, combination, strict=True)), number if several else None)


def count_of(variables: Mapping[str, Any]) -> int:
    """How many cases lists make, without making them."""
    total = 1
    for value in variables.values():
        total *= len(value) if _is_expanded(value) else 1
    return total


def _values(value: Any, files: Files) -> list[Any]:
    if isinstance(value, str) and value.startswith(SCHEME):
        found = matching(files, value)
        if not found:
            raise Missing(f"there is no file {value}")
        return [f"{SCHEME}{path}" for path in found]
    return value if _is_expanded(value) else [value]


def _is_expanded(value: Any) -> bool:
    """A list that begins with anything but a text is one value."""
    return isinstance(value, list) and (not value or isinstance(value[0], str))


def resolved(variables: Mapping[str, Any], files: Files) -> dict[str, Any]:
    """With the texts of files, no newline at the end, and plain placeholders replaced."""
    known = {name: _loaded(value, files) for name, value in variables.items()}
    known = {name: re.sub(r"\n\Z", "", value) if isinstance(value, str) else value for name, value in known.items()}
    for _ in range(MAX_ROUNDS):
        before = dict(known)
        for name, value in before.items():
            if isinstance(value, str) and (found := _PLACEHOLDER.search(value)) and before.get(found[1]) is not None:
                known[name] = value.replace(found[0], _written(known[found[1]]), 1)
        if known == before:
            break
    return known


def rendered(variables: Mapping[str, Any]) -> dict[str, Any]:
    """Texts that are templates, rendered; one that names what is not there stays as it is."""

    def one(value: Any) -> Any:
        known = isinstance(value, str) and all(variables.get(name) is not None for name in names_in(value) - {"env"})
        return render(closed(value), variables) if known else value

    return {name: one(value) for name, value in variables.items()}


def _written(value: Any) -> str:
    return value if isinstance(value, str) else to_json(value)


def _loaded(value: Any, files: Files) -> Any:
    if not (isinstance(value, str) and value.startswith(SCHEME)):
        return value
    path = value.removeprefix(SCHEME)
    suffix = path[path.rfind(".") :].lower() if "." in path.rpartition("/")[2] else ""
    if suffix in CODE or suffix.split(":")[0] in CODE:
        raise Missing(f"{value} is code, which is not run")
    if suffix in (".yaml", ".yml"):
        return to_json(from_yaml(read(files, value), path))
    if suffix not in _TEXT and files.read(path) is None:
        raise Missing(f"{value} is no text file")
    return read(files, value).strip()
