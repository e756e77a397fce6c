"""Renders templates of graders: `{{ item.answer }}` and `{{ sample.choices[0].message.content }}` are paths into
JSON."""

import json
import re
from collections.abc import Mapping
from typing import Any

from cupel_core.domain.scoring.assertion_values import MAX_RENDERED_LENGTH, to_text
from cupel_core.domain.text.json_limits import json_limit_error

SAMPLE = "sample"
"""The namespace has the target's answer. A path that it does not have is rendered as nothing, because the target said
nothing there; in any other namespace, such a path is an error."""
_STEP = r"""\.[\w-]+|\[\d{1,6}\]|\['[^'\]]*'\]|\["[^"\]]*"\]"""
_PATH = re.compile(rf"\{{\{{\s*([A-Za-z_]\w*)((?:{_STEP})*)\s*\}}\}}")
_STEPS = re.compile(_STEP)
_OPENING = re.compile(r"\{\{\s*([A-Za-z_]\w*)")
_MISSING = object()


class ParsedTexts(dict[str, Any]):
    """Parses texts as JSON, such as the arguments of a function call, each once; other texts give None."""

    def __missing__(self, text: str) -> Any:
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = None
        self[text] = None if json_limit_error(value) else value
        return self[text]


def recorded_sample(sample: Mapping[str, Any]) -> dict[str, Any]:
    """Return a sample of a data set with `output_text`: exports have `output` or `outputs`, chat completions
    `choices`."""
    if isinstance(sample.get("output_text"), str):
        return dict(sample)
    texts = [message.get("content") for message in recorded_messages(sample)]
    found = [text for text in texts if isinstance(text, str)]
    return {**sample, "output_text": "\n".join(found)} if found else dict(sample)


def recorded_messages(sample: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    said = [each for name in ("output", "outputs") for each in _list(sample.get(name))]
    said += [each.get("message") for each in _list(sample.get("choices")) if isinstance(each, Mapping)]
    return [each for each in said if isinstance(each, Mapping)]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def namespaces_of(text: str) -> set[str]:
    return {match[1] for match in _PATH.finditer(text)}


def template_error(text: str, namespaces: frozenset[str]) -> str | None:
    """Return the error in a template that may use these namespaces; None if there is none. Braces around anything but a
    name are text, because JSON in a prompt has them too."""
    for opening in _OPENING.finditer(text):
        path = _PATH.match(text, opening.start())
        if path is None and opening[1] in namespaces:
            return (
                f"has an expression that is not a path, such as {{{{item.answer}}}}: {text[opening.start() :][:60]!r}"
            )
        if path is not None and path[1] not in namespaces:
            known = " and ".join(f"{{{{{name}.…}}}}" for name in sorted(namespaces))
            return f"has the unknown variable {path[0]}; templates may use {known}"
    return None


def render_template(text: str, namespaces: Mapping[str, Any]) -> str:
    """Render a template. Raises ValueError for a path without a value, and for more than MAX_RENDERED_LENGTH
    characters."""
    left, parsed = MAX_RENDERED_LENGTH - len(text), ParsedTexts()

    def replacement(match: re.Match[str]) -> str:
        nonlocal left
        found = _text_at(match, namespaces, parsed)
        left -= len(found)
        if left < 0:
            raise ValueError(f"its variables make it longer than {MAX_RENDERED_LENGTH:,} characters")
        return found

    return _PATH.sub(replacement, text)


def value_at(path: str, namespaces: Mapping[str, Any]) -> Any:
    """Return the value at a path without braces, such as `item.messages`. Raises ValueError if there is none."""
    match = _PATH.fullmatch(f"{{{{{path}}}}}")
    value = _MISSING if match is None else _lookup(match, namespaces, ParsedTexts())
    if value is _MISSING:
        raise ValueError(f"unknown variable {path[:100]}")
    return value


def _text_at(match: re.Match[str], namespaces: Mapping[str, Any], parsed: ParsedTexts) -> str:
    value = _lookup(match, namespaces, parsed)
    if value is _MISSING:
        if match[1] == SAMPLE:
            return ""
        raise ValueError(f"unknown variable {match[1]}{match[2]}")
    return to_text(value)


def _lookup(match: re.Match[str], namespaces: Mapping[str, Any], parsed: ParsedTexts) -> Any:
    value: Any = namespaces.get(match[1], _MISSING)
    for step in _STEPS.findall(match[2]):
        name = step[1:] if step.startswith(".") else step[1:-1].strip("'\"")
        if isinstance(value, str) and match[1] == SAMPLE:
            value = parsed[value]
        if isinstance(value, Mapping):
            value = value.get(name, _MISSING)
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            return _MISSING
    return value
