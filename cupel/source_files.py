import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import yaml

from cupel.errors import ApiProblem, RefusedField, UsageError
from cupel.json_types import Json
from cupel_core.domain.text.yaml_messages import yaml_problem
from cupel_core.interop.imports.json_documents import InvalidDocument
from cupel_core.interop.imports.text_files import decode_text, kind_of

MAX_LISTED = 50
_SCENARIO = re.compile(r"scenarios\.(\d{1,9})(?=\.|$)")
_INTEGER_BOUND = 2**63
_MAX_INTEGER_LENGTH = 1_000


class _Loader(yaml.SafeLoader):
    """Reads dates as text, as in JSON, and refuses a repeated key of a mapping, of which the first would be lost.

    It also refuses integers of more than 64 bits, which JSON of other programs does not represent.
    """

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node = super().compose_mapping_node(anchor)
        seen: set[tuple[str, str]] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if (key.tag, key.value) in seen:
                    raise yaml.MarkedYAMLError(
                        problem=f"{key.value}: this key occurs twice; keep one of them", problem_mark=key.start_mark
                    )
                seen.add((key.tag, key.value))
        return node


def _integer(loader: _Loader, node: yaml.ScalarNode) -> int:
    """Return an integer. More digits than Python converts are refused before."""
    value = loader.construct_yaml_int(node) if len(node.value) <= _MAX_INTEGER_LENGTH else None
    if value is None or not -_INTEGER_BOUND <= value < _INTEGER_BOUND:
        raise yaml.MarkedYAMLError(
            problem="must not be an integer of more than 64 bits; a text has quotes", problem_mark=node.start_mark
        )
    return int(value)


_Loader.add_constructor("tag:yaml.org,2002:int", _integer)
_TIMESTAMP = "tag:yaml.org,2002:timestamp"
_Loader.yaml_implicit_resolvers = {
    start: [(tag, pattern) for tag, pattern in resolvers if tag != _TIMESTAMP]
    for start, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


@dataclass(frozen=True)
class SourceFile:
    """Holds a parsed file. Errors call it `name`; without `content` they name no line."""

    name: str
    document: Any
    content: bytes | None = None
    rows: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    """What is left out of a table of scenarios, or changed, for the person who starts a run of it."""

    @classmethod
    def read(cls, path: Path) -> Self:
        try:
            content = path.read_bytes()
        except OSError as error:
            raise UsageError(f"{path}: {error.strerror or error}") from error
        refuse_binary(path, content)
        return cls(str(path), _parse_yaml(path, content), content)

    def mapping(self) -> Json:
        if not isinstance(self.document, dict):
            raise UsageError(f"{self.name}: must be a mapping")
        return self.document

    def refusal(self, problems: Iterable[RefusedField]) -> UsageError:
        root = yaml.compose(self.content, Loader=_Loader) if self.content is not None else None
        located = sorted(
            ((_line(root, field), field, message) for field, message in problems), key=lambda each: each[0]
        )
        lines = [f"{self._place(line)}: {self._named(field)}{message}" for line, field, message in located]
        if len(lines) == 1:
            return UsageError(lines[0])
        listed = lines[:MAX_LISTED] + [f"and {len(lines) - MAX_LISTED:,} more"] * (len(lines) > MAX_LISTED)
        return UsageError("\n  ".join([f"{len(lines):,} problems", *listed]))

    def _named(self, field: str) -> str:
        found = _SCENARIO.match(field)
        if found and int(found[1]) < len(self.rows):
            rest = field[found.end() :].lstrip(".")
            field = self.rows[int(found[1])] + (f" {rest}" if rest else "")
        return f"{field}: " if field else ""

    def _place(self, line: int) -> str:
        return f"{self.name}:{line}" if line else self.name

    @contextmanager
    def explaining(self) -> Iterator[None]:
        try:
            yield
        except ApiProblem as problem:
            if not problem.errors:
                raise
            raise self.refusal(problem.errors) from problem


def refuse_binary(path: Path, content: bytes) -> None:
    """Raise UsageError for a file that begins like one of a known kind that is no text."""
    if kind := kind_of(content):
        raise UsageError(f"{path}: must be YAML or JSON, but is {kind}")


@contextmanager
def renamed_fields(rename: Callable[[str], str]) -> Iterator[None]:
    """Rename the fields that the API refuses to those of the file."""
    try:
        yield
    except ApiProblem as problem:
        errors = tuple(RefusedField(rename(each.field), each.message) for each in problem.errors)
        raise ApiProblem(problem.status, problem.title, problem.detail, errors, problem.etag) from problem


def _parse_yaml(path: Path, content: bytes) -> Any:
    try:
        document = yaml.load(content, Loader=_Loader)  # noqa: S506 - a SafeLoader
        json.dumps(document, allow_nan=False)
    except yaml.MarkedYAMLError as error:
        raise UsageError(f"{path}{_problem_of_yaml(content, error)}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: {_problem_of_text(content, error)}") from error
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"{path}: contains a value that JSON cannot represent: {error}") from error
    return document


def _problem_of_yaml(content: bytes, error: yaml.MarkedYAMLError) -> str:
    mark, found = error.problem_mark, error.problem or error.context or ""
    problem = yaml_problem(found)
    if mark is None:
        return f": {problem}"
    if "but got '['" in found or "but got '{'" in found:
        problem = f"{problem}; a text with brackets needs quotes here"
    place, last = f":{mark.line + 1}:{mark.column + 1}", content.rstrip().count(b"\n") + 1
    if "<stream end>" in found:
        place = place if mark.line < last else f":{last}"
        context = error.context_mark
        start = f", in what starts on line {context.line + 1:,}" if context and context.line < last else ""
        return f"{place}: the file ends too early{start}: {problem}"
    field = _field_at(content, mark) if error.context is None else ""
    return f"{place}: {f'{field}: ' if field else ''}{problem}"


def _field_at(content: bytes, mark: yaml.Mark) -> str:
    try:
        root = yaml.compose(content, Loader=_Loader)
    except yaml.YAMLError:
        return ""
    found = next((path for path, node in _values(root, ()) if node.start_mark.index == mark.index), ())
    return ".".join(found)


def _values(node: yaml.Node | None, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], yaml.Node]]:
    if isinstance(node, yaml.ScalarNode):
        yield path, node
    elif isinstance(node, yaml.SequenceNode):
        for number, item in enumerate(node.value):
            yield from _values(item, (*path, str(number)))
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield from _values(value, (*path, str(key.value)))


def _problem_of_text(content: bytes, error: Exception) -> str:
    try:
        decode_text(content)
    except InvalidDocument as problem:
        return str(problem)
    return f"is not valid YAML text: {error}"


def _line(node: yaml.Node | None, field: str) -> int:
    """Return the line of a field such as `scenarios.0.prompt`, or of the nearest part above it; 0 without a root."""
    if node is None:
        return 0
    line, rest = node.start_mark.line + 1, field.split(".") if field else []
    while rest and (step := _step(node, rest)) is not None:
        line, node, taken = step
        rest = rest[taken:]
    return line


def _step(node: yaml.Node, rest: list[str]) -> tuple[int, yaml.Node, int] | None:
    """Step one level down: return the line, the node there, and how many parts its key has, as keys may contain
    dots."""
    if isinstance(node, yaml.SequenceNode):
        if not rest[0].isdigit() or int(rest[0]) >= len(node.value):
            return None
        item = node.value[int(rest[0])]
        return item.start_mark.line + 1, item, 1
    if isinstance(node, yaml.MappingNode):
        nodes = {key.value: (key.start_mark.line + 1, value) for key, value in node.value}
        for taken in range(len(rest), 0, -1):
            if (found := nodes.get(".".join(rest[:taken]))) is not None:
                return *found, taken
    return None
