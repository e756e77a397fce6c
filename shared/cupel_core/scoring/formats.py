"""Outputs that are, or contain, JSON or XML."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any
from xml.etree.ElementTree import Element, ParseError, TreeBuilder, XMLParser

import orjson

from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.scoring.assertion_context import Evidence
from cupel_core.scoring.check_result import Outcome, Uncomputable, found

MAX_READ = 500_000
"""Characters read in vain while JSON or XML is looked for: reading from every brace of an output is quadratic."""
_BRACE = re.compile(r'\{(?=\s*["}])')


def is_json(assertion: Assertion, evidence: Evidence) -> Outcome:
    try:
        data = orjson.loads(evidence.output)
    except orjson.JSONDecodeError as error:
        return found(False, f"the output is no JSON: {error}")
    complaint = _complaint(assertion.value, data)
    return found(complaint is None, f"the output is JSON{f' outside the schema: {complaint}' if complaint else ''}")


def contains_json(assertion: Assertion, evidence: Evidence) -> Outcome:
    """One of its objects is enough."""
    complaint: str | None = "the output has no JSON object in it"
    for data in _objects(evidence.output):
        complaint = _complaint(assertion.value, data)
        if complaint is None:
            return found(True, "the output has a JSON object in it")
    return found(False, f"no JSON object in the output fits: {complaint}")


def _objects(output: str) -> Iterator[Any]:
    """Those that do not lie in others."""
    decoder = json.JSONDecoder(parse_constant=_refuse_constant)
    brace, in_vain = _BRACE.search(output), 0
    while brace and in_vain <= MAX_READ:
        try:
            data, end = decoder.raw_decode(output, brace.start())
            yield data
        except (ValueError, RecursionError) as error:
            in_vain += getattr(error, "pos", len(output)) - brace.start()
            end = brace.start() + 1
        brace = _BRACE.search(output, end)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _complaint(schema: Any, data: Any) -> str | None:
    """Why data does not satisfy a schema, of which an empty one asks for nothing."""
    if not schema:
        return None
    from cupel_core.scoring.schemas import complaint

    return complaint(_read_schema(schema), data)


def _read_schema(schema: Any) -> Any:
    try:
        return json.loads(schema) if isinstance(schema, str) else schema
    except ValueError:
        raise Uncomputable("the schema is no JSON") from None


def is_xml(assertion: Assertion, evidence: Evidence) -> Outcome:
    from defusedxml.common import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    try:
        root = fromstring(evidence.output)
    except (ParseError, DefusedXmlException) as error:
        return found(False, f"the output is no XML: {error}")
    missing = _missing(root, _elements(assertion.value))
    return found(not missing, f"the output is XML{f' without {", ".join(missing)}' if missing else ''}")


def contains_xml(assertion: Assertion, evidence: Evidence) -> Outcome:
    """One element with all that is asked for is enough."""
    wanted = _elements(assertion.value)
    missing: list[str] = []
    for root in _fragments(evidence.output):
        missing = _missing(root, wanted)
        if not missing:
            return found(True, "the output has XML in it")
    return found(False, f"no XML in the output has {', '.join(missing)}" if missing else "the output has no XML in it")


def _fragments(output: str) -> Iterator[Element]:
    """Elements that do not lie in others."""
    start, in_vain = output.find("<"), 0
    while start >= 0 and in_vain <= MAX_READ:
        root, end = _read_element(output, start)
        if root is None:
            in_vain += end - start
            end = start + 1
        else:
            yield root
        start = output.find("<", end)


class _First(TreeBuilder):
    """The first element that is whole."""

    whole: Element | None = None
    depth = 0

    def start(self, tag: str, attrs: dict[str, str], /) -> Element:
        self.depth += 1
        return super().start(tag, attrs)

    def end(self, tag: str, /) -> Element:
        element = super().end(tag)
        self.depth -= 1
        if self.depth == 0:
            self.whole = element
        return element


def _read_element(output: str, start: int) -> tuple[Element | None, int]:
    """The element that begins here, and how far was read. No declaration of entities can stand where one begins."""
    first, end = _First(), start
    if not output[start + 1 : start + 2].isalpha():
        return None, end
    parser = XMLParser(target=first)  # noqa: S314 - see above
    while first.whole is None and (close := output.find(">", end)) >= 0:
        try:
            parser.feed(output[end : close + 1])
        except ParseError:
            break
        end = close + 1
    return first.whole, end


def _elements(value: Any) -> list[str]:
    """Paths from the root: `order.item.name`."""
    if isinstance(value, Mapping):
        value = value.get("requiredElements")
    if isinstance(value, str):
        value = [part.strip() for part in value.split(",")]
    return [str(path) for path in value or () if path]


def _missing(root: Element, paths: list[str]) -> list[str]:
    return [path for path in paths if not _has(root, path.split("."))]


def _has(root: Element, path: list[str]) -> bool:
    """A number in a path chooses among elements of one name, from 0."""
    level = [root] if _name(root) == path[0].rpartition(":")[2] else []
    for step in path[1:]:
        if step.isdecimal():
            level = level[int(step) : int(step) + 1]
        else:
            name = step.rpartition(":")[2]
            level = [child for element in level for child in element if _name(child) == name]
    return bool(level)


def _name(element: Element) -> str:
    """Without its namespace."""
    return str(element.tag).rpartition("}")[2]
