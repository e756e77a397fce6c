"""Fields of a reply, whatever their type. Text, calls and errors are needed, and no other field decides about them."""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import orjson

_NOTHING: Mapping[str, object] = {}
_REASONING_TYPE = re.compile(r"reason|think|thought|summary", re.I)
_NO_TEXT_TYPE = re.compile(r"tool|function|image|audio|video|file|document|search|citation|reference|source", re.I)
_LABEL_KEYS = ("type", "id", "name", "reason", "value")
_MAX_DEPTH = 5
"""Parts are read within parts up to this depth."""


class Content(NamedTuple):
    """The content. `text` is None if there is none at all, which differs from an empty one."""

    text: str | None
    reasoning: str = ""


def mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else _NOTHING


def mappings(value: object) -> list[Mapping[str, object]]:
    """Return the objects in a list, or the one that is in place of a list."""
    if isinstance(value, dict):
        return [value]
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list | tuple) else []


def label(value: object) -> str | None:
    """Return a name, a number, or the name in an object such as SGLang's `{"type": "stop", "matched": 128009}`."""
    if isinstance(value, dict):
        value = next((value[key] for key in _LABEL_KEYS if value.get(key) is not None), None)
    if isinstance(value, str):
        return value or None
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def number(value: object) -> float | None:
    """Return a number, also from text."""
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return None
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def as_json(value: object) -> str:
    """Return text as it is, and any other value as JSON."""
    return value if isinstance(value, str) else orjson.dumps(value, default=str).decode()


def arguments_of(value: object) -> str:
    """Return the arguments of a call: the model's text, or JSON of the object that its server has parsed."""
    return "{}" if value is None else as_json(value)


def content_of(value: object, depth: int = 0) -> Content:
    """Return the content of a text, a part, or a list of both. Parts that are neither text nor reasoning are left
    out."""
    if value is None or isinstance(value, str):
        return Content(value)
    if depth >= _MAX_DEPTH:
        return Content(None)
    if isinstance(value, list | tuple):
        parts = [content_of(part, depth + 1) for part in value]
        texts = [part.text for part in parts if part.text is not None]
        return Content("".join(texts) if texts or not value else None, joined(part.reasoning for part in parts))
    return _of_part(value, depth) if isinstance(value, dict) else Content(as_json(value))


def _of_part(part: Mapping[str, object], depth: int) -> Content:
    kind = str(part.get("type") or "")
    if part.get("reasoningContent") is not None:  # Bedrock
        reasoning = mapping(part["reasoningContent"]).get("reasoningText")
        return Content(None, content_of(reasoning, depth + 1).text or "")
    if part.get("thought") is True or _REASONING_TYPE.search(kind):
        return Content(None, _thoughts(part, depth))
    if _NO_TEXT_TYPE.search(kind):
        return Content(None)
    written = next((part[key] for key in ("text", "refusal", "content", "value") if part.get(key) is not None), None)
    return content_of(written, depth + 1)


def _thoughts(part: Mapping[str, object], depth: int) -> str:
    """Return the thoughts, from `thinking` (Mistral, Anthropic), `reasoning` (LangChain) or `summary` (Responses
    API)."""
    names = ("thinking", "reasoning", "reasoning_content", "text", "summary", "content", "value")
    found = (content_of(part[name], depth + 1) for name in names if part.get(name) is not None)
    return joined((content.text or content.reasoning) for content in found)


def joined(thoughts: Iterable[str | None]) -> str:
    return "\n\n".join(thought for thought in thoughts if thought and thought.strip())
