"""Checks outputs that are, or contain, JSON, XML or HTML."""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any
from xml.etree.ElementTree import Element, ParseError, TreeBuilder, XMLParser

import orjson

from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.domain.scoring.unscored import UnscoredCode
from cupel_core.scoring.assertion_context import AssertionContext
from cupel_core.scoring.check_result import CheckResult, NotComputable, binary

_HTML_SIGNS = (
    (r"<[a-zA-Z][a-zA-Z0-9-]*(?:\s[^>]*)?>", 1),
    (r"</[a-zA-Z][a-zA-Z0-9-]*\s*>", 1),
    (r"<[a-zA-Z][a-zA-Z0-9-]*(?:\s[^>]*)?/>", 1),
    (r"&(?:[a-zA-Z]+|#[0-9]+|#x[0-9a-fA-F]+);", 1),
    (r"(?i)<!DOCTYPE\s+html", 2),
    (r"<!--(?:[^-]|-(?!-))*-->", 1),
    (r"\s[a-zA-Z-]+=\s*[\"'][^\"']*[\"']", 1),
    (
        r"(?i)<(html|head|body|div|span|p|a|img|h[1-6]|ul|ol|li|table|tr|td|th|form|input|button|script|style|link|meta"
        r"|br|hr)\b",
        2,
    ),
)
"""Each pattern is a sign of HTML with this weight."""
_ENOUGH_HTML_SIGNS = 2
MAX_WASTED_CHARACTERS = 500_000
"""A search for JSON may parse this many characters in vain, because parsing from every brace of an output is
quadratic."""
_MAX_READ_AGAIN = 2_000
"""Number of characters of an XML element that may be read again, because a tag or comment in it contains a `>`."""
_BRACE = re.compile(r'\{(?=\s*["}])')


def is_json(assertion: Assertion, context: AssertionContext) -> CheckResult:
    try:
        data = orjson.loads(context.output)
    except orjson.JSONDecodeError as error:
        return binary(False, f"the output is not JSON: {error}")
    problem = _schema_violation(assertion.value, data)
    return binary(problem is None, f"the output is JSON{f' but violates the schema: {problem}' if problem else ''}")


def contains_json(assertion: Assertion, context: AssertionContext) -> CheckResult:
    """Pass if one object matches."""
    problem: str | None = "the output contains no JSON object"
    for data in _objects(context.output):
        problem = _schema_violation(assertion.value, data)
        if problem is None:
            return binary(True, "the output contains a JSON object")
    return binary(False, f"no JSON object in the output matches: {problem}")


def _objects(output: str) -> Iterator[Any]:
    decoder = json.JSONDecoder(parse_constant=_refuse_constant)
    brace, wasted = _BRACE.search(output), 0
    while brace and wasted <= MAX_WASTED_CHARACTERS:
        try:
            data, end = decoder.raw_decode(output, brace.start())
            yield data
        except (ValueError, RecursionError) as error:
            wasted += getattr(error, "pos", len(output)) - brace.start()
            end = brace.start() + 1
        brace = _BRACE.search(output, end)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _schema_violation(schema: Any, data: Any) -> str | None:
    if not schema:
        return None
    from cupel_core.scoring.schemas import violation

    return violation(_read_schema(schema), data)


def _read_schema(schema: Any) -> Any:
    try:
        return json.loads(schema) if isinstance(schema, str) else schema
    except (ValueError, RecursionError):
        raise NotComputable("the schema is not JSON", UnscoredCode.ASSERTION) from None


def is_xml(assertion: Assertion, context: AssertionContext) -> CheckResult:
    from defusedxml.common import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    try:
        root = fromstring(context.output)
    except (ParseError, DefusedXmlException) as error:
        return binary(False, f"the output is not XML: {error}")
    missing = _missing_paths(root, _required_paths(assertion.value))
    return binary(not missing, f"the output is XML{f' without {", ".join(missing)}' if missing else ''}")


def contains_xml(assertion: Assertion, context: AssertionContext) -> CheckResult:
    """Pass if one element contains all required paths."""
    required = _required_paths(assertion.value)
    missing: list[str] = []
    for root in _fragments(context.output):
        missing = _missing_paths(root, required)
        if not missing:
            return binary(True, "the output contains XML")
    return binary(False, f"no XML in the output has {', '.join(missing)}" if missing else "the output contains no XML")


def _fragments(output: str) -> Iterator[Element]:
    """Yield the outermost complete XML elements in a text; hardly any part of it is parsed twice."""
    start = output.find("<")
    while start >= 0:
        if not _may_start_element(output, start):
            start = output.find("<", start + 1)
            continue
        builder, end = _read_element(output, start)
        yield from builder.outermost_complete()
        start = output.find("<", max(end, start + 1))


def _may_start_element(output: str, start: int) -> bool:
    """Return whether a tag starts here that ends before the next one starts."""
    next_tag = output.find("<", start + 1)
    tag_end = output.find(">", start, len(output) if next_tag < 0 else next_tag)
    return tag_end >= 0 and output[start + 1].isalpha()


class _FirstElement(TreeBuilder):
    """Builds an element, and knows which of its descendants are complete if it is not."""

    def __init__(self) -> None:
        super().__init__()
        self.root: Element | None = None
        self.open: list[Element] = []
        self.tags = 0
        """Counts the tags that were read, to tell whether the parser waits."""

    def start(self, tag: str, attrs: dict[str, str], /) -> Element:
        element = super().start(tag, attrs)
        if self.root is None:
            self.root = element
        self.open.append(element)
        self.tags += 1
        return element

    def end(self, tag: str, /) -> Element:
        self.open.pop()
        self.tags += 1
        return super().end(tag)

    @property
    def is_complete(self) -> bool:
        return self.root is not None and not self.open

    def outermost_complete(self) -> Iterator[Element]:
        if self.root is not None and self.is_complete:
            yield self.root
        for element, open_child in zip_longest(self.open, self.open[1:]):
            yield from (child for child in element if child is not open_child)


def _read_element(output: str, start: int) -> tuple[_FirstElement, int]:
    """Return the element that starts here, as far as it can be read, and where reading ended. It cannot declare
    entities."""
    builder, end, read_again = _FirstElement(), start, 0
    parser = XMLParser(target=builder)  # noqa: S314 - see above
    # The parser waits for more of a tag or comment that has a `>` within; older ones neither wait nor have a flush.
    flush = getattr(parser, "flush", lambda: None)
    while not builder.is_complete and (close := output.find(">", end)) >= 0:
        tags = builder.tags
        try:
            parser.feed(output[end : close + 1])
            if builder.tags == tags and read_again <= _MAX_READ_AGAIN:
                flush()
                read_again += close - start
        except ParseError:
            break
        end = close + 1
    return builder, end


def _required_paths(value: Any) -> list[str]:
    """Return the required paths from the root: `order.item.name`."""
    if isinstance(value, Mapping):
        value = value.get("requiredElements")
    if isinstance(value, str):
        value = [part.strip() for part in value.split(",")]
    return [str(path) for path in value or () if path]


def _missing_paths(root: Element, paths: list[str]) -> list[str]:
    return [path for path in paths if not _has_path(root, path.split("."))]


def _has_path(root: Element, path: list[str]) -> bool:
    """Return whether the path exists; a number in it selects among elements of the same name, from 0."""
    level = [root] if _name(root) == path[0].rpartition(":")[2] else []
    for step in path[1:]:
        if step.isdecimal():
            level = level[int(step) : int(step) + 1]
        else:
            name = step.rpartition(":")[2]
            level = [child for element in level for child in element if _name(child) == name]
    return bool(level)


def _name(element: Element) -> str:
    return str(element.tag).rpartition("}")[2]


def is_html(_: Assertion, context: AssertionContext) -> CheckResult:
    """Parse the output as HTML. Raises ValueError for the few texts on which the parser fails."""
    from cupel_core.scoring import html_documents  # imports a parser, which few assertions need

    return html_documents.is_html(context.output)


def contains_html(_: Assertion, context: AssertionContext) -> CheckResult:
    """Look for tags, entities, comments and attributes, as promptfoo does. Raises TimeoutError."""
    from cupel_core.scoring.pattern_search import matches  # imports regex, which few assertions need

    found = sum(weight for pattern, weight in _HTML_SIGNS if matches(pattern, context.output)) >= _ENOUGH_HTML_SIGNS
    return binary(found, f"the output {'contains' if found else 'does not contain'} HTML")
