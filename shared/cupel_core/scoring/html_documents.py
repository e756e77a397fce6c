"""Decides whether a text is HTML by promptfoo's rule: nothing but markup, with at least one written element of HTML.

The text is parsed as a browser does it, so that unclosed tags are no error. Only a helper of the sandbox imports this
module: the parser takes a while to load, and its time is quadratic for texts that only an attacker writes.
"""

import re
from collections.abc import Iterator
from io import StringIO
from itertools import islice
from xml.etree.ElementTree import Element

from tinyhtml5 import parse  # type: ignore[import-untyped]

from cupel_core.domain.text.javascript_values import trim
from cupel_core.scoring.check_result import CheckResult, binary

MAX_LENGTH = 10 * 1024 * 1024
MAX_WRITTEN_TAGS = 20
"""Number of tags of one wrapper that are examined; the first one that is not within a comment or a script decides."""
_MARK = "data-cupel"
_WRAPPERS = ("html", "head", "body")
"""The parser adds these if they are not written."""
_NAMES = """
title base link meta style article section nav aside h1 h2 h3 h4 h5 h6 header footer address p hr pre
blockquote ol ul li dl dt dd figure figcaption main div a em strong small s cite q dfn abbr ruby rt rp data
time code var samp kbd sub sup i b u mark bdi bdo span br wbr img iframe embed object param picture source
video audio track map area svg math script noscript canvas ins del table caption colgroup col tbody thead
tfoot tr td th form label input button select datalist optgroup option textarea output progress meter fieldset
legend details summary dialog menu slot template
"""
_ELEMENTS = frozenset(_NAMES.split())


def is_html(output: str) -> CheckResult:
    """Check an output. Raises ValueError for the few texts on which the parser fails."""
    problem = html_problem(output)
    return binary(problem is None, f"the output {problem or 'is HTML'}")


def html_problem(output: str) -> str | None:
    text = trim(output)
    if not text:
        return "is empty"
    if len(text) > MAX_LENGTH:
        return f"has more than {MAX_LENGTH:,} characters"
    if re.match(r"<\?xml", text, re.IGNORECASE):
        return "is XML"
    root = _parsed(text)
    body = root.find("body")
    if body is not None and _has_text(body) and not _is_written("body", text):
        return "has text outside of HTML elements"
    names = {_local_name(element) for element in _elements(root)}
    if any(name in _ELEMENTS or "-" in name for name in names) or any(_is_written(name, text) for name in _WRAPPERS):
        return None
    return "has no HTML element"


def _parsed(text: str) -> Element:
    """Return the document as a tree, read from a stream, because the parser would open a file that a short text
    names."""
    try:
        root: Element = parse(StringIO(text), namespace_html_elements=False, scripting=True)
    except AssertionError:
        raise ValueError("the parser of HTML fails on the output") from None
    return root


def _elements(root: Element) -> Iterator[Element]:
    """Yield all elements but comments and wrappers."""
    return (each for each in root.iter() if isinstance(each.tag, str) and each.tag not in _WRAPPERS)


def _local_name(element: Element) -> str:
    return str(element.tag).rpartition("}")[2].lower()


def _has_text(parent: Element) -> bool:
    return any(trim(text or "") for text in (parent.text, *(child.tail for child in parent)))


def _is_written(name: str, text: str) -> bool:
    """Return whether a tag of the text made this wrapper, and not something before it.

    The text up to the tag is parsed, with a space that becomes part of the wrapper if that exists already, or of what
    comes after it. A tag within a comment or a script makes nothing.
    """
    tags = re.finditer(rf"<{name}(?=[\t\n\f\r />])", text, re.IGNORECASE | re.ASCII)
    for tag in islice(tags, MAX_WRITTEN_TAGS):
        root = _parsed(f"{text[: tag.start()]} <{name} {_MARK}>")
        wrappers = {"html": root, **{str(each.tag): each for each in root if each.tag in _WRAPPERS}}
        if name in wrappers and _MARK in wrappers[name].attrib:
            body = wrappers.get("body")
            is_body_empty = body is None or not (len(body) or body.text)
            return is_body_empty and (
                name == "body" or not (next(_elements(root), None) is not None or wrappers["head"].tail)
            )
    return False
