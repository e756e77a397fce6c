"""Reads calls of functions that are written in an output, in the forms of OpenAI, Anthropic and Google."""

import json
import re
from collections.abc import Iterator, Mapping
from enum import Enum, auto
from typing import Any

from cupel_core.domain.conversations.tools import ToolCall

MAX_WASTED_CHARACTERS = 500_000
"""A search for JSON in a text may parse this many characters in vain."""
_FENCE = re.compile(r"[ \t]*(```|~~~)")


class Form(Enum):
    OPENAI_TOOLS = auto()
    """`[{function: {name, arguments}}]`, or an object with it as `tool_calls`."""
    OPENAI_FUNCTION = auto()
    """`{name, arguments}`, or an object with it as `function_call`."""
    ANTHROPIC = auto()
    """`{type: tool_use, name, input}`, or a list with such blocks."""
    GOOGLE = auto()
    """`{functionCall: {name, args}}`, a list with such parts, or `{toolCall: {functionCalls: […]}}`."""


def read_calls(output: Any, forms: frozenset[Form]) -> list[ToolCall] | None:
    """Return None if the output has none of these forms, or one of its calls has no name and arguments."""
    if isinstance(output, str):
        try:
            output = json.loads(output)
        except (ValueError, RecursionError):
            return None
    for form, read in _READERS.items():
        if form in forms and (calls := read(output)):
            return None if None in calls else [call for call in calls if call]
    return None


type _ReadCalls = list[ToolCall | None]


def _openai_tools(output: Any) -> _ReadCalls:
    items = output.get("tool_calls") if isinstance(output, Mapping) else output
    if not isinstance(items, list) or not any(isinstance(each, Mapping) and "function" in each for each in items):
        return []
    return [_with_text(each.get("function")) if isinstance(each, Mapping) else None for each in items]


def _openai_function(output: Any) -> _ReadCalls:
    function = output.get("function_call", output) if isinstance(output, Mapping) else None
    return [_with_text(function)] if isinstance(function, Mapping) and "arguments" in function else []


def _anthropic(output: Any) -> _ReadCalls:
    blocks = output if isinstance(output, list) else [output]
    used = [each for each in blocks if isinstance(each, Mapping) and each.get("type") == "tool_use"]
    return [_with_object(each, "input") for each in used]


def _google(output: Any) -> _ReadCalls:
    if isinstance(output, Mapping) and isinstance(live := output.get("toolCall"), Mapping):
        calls = live.get("functionCalls")
        return [_with_object(each, "args") for each in calls] if isinstance(calls, list) else []
    parts = output if isinstance(output, list) else [output]
    called = [each["functionCall"] for each in parts if isinstance(each, Mapping) and "functionCall" in each]
    return [_with_object(each, "args") for each in called]


_READERS = {
    Form.OPENAI_TOOLS: _openai_tools,
    Form.ANTHROPIC: _anthropic,
    Form.GOOGLE: _google,
    Form.OPENAI_FUNCTION: _openai_function,
}


def _with_text(function: Any) -> ToolCall | None:
    match function:
        case {"name": str(name), "arguments": str(arguments)}:
            return ToolCall("", name, arguments)
    return None


def _with_object(call: Any, field: str) -> ToolCall | None:
    if not isinstance(call, Mapping) or not isinstance(call.get("name"), str):
        return None
    arguments = call.get(field, {})
    return ToolCall("", call["name"], arguments if isinstance(arguments, str) else json.dumps(arguments))


def written_names(output: Any) -> set[str]:
    """Return the names of the functions that an output calls, also in JSON between the lines of a text."""
    if not isinstance(output, str):
        return set(_names(output))
    try:
        return set(_names(json.loads(output)))
    except (ValueError, RecursionError):
        return {name for block in _blocks(output) for name in _names(block)}


def _names(output: Any) -> Iterator[str]:
    match output:
        case {"tool_calls": list(calls)}:
            for each in calls:
                yield from _names_of(each, "function")
        case {"toolCall": {"functionCalls": list(calls)}}:
            for each in calls:
                yield from _name(each)
        case {"type": "tool_use" | "function_call", "name": str(name)}:
            yield name
        case {"functionCall": called}:
            yield from _name(called)
        case list():
            for each in output:
                yield from _of_item(each)


def _of_item(item: Any) -> Iterator[str]:
    match item:
        case {"type": "tool_use", "name": str(name)}:
            yield name
        case {"functionCall": Mapping() as called} | {"function": Mapping() as called}:
            yield from _name(called)
        case _:
            yield from _name(item)


def _names_of(call: Any, field: str) -> Iterator[str]:
    if isinstance(call, Mapping):
        yield from _name(call.get(field))
        yield from _name(call)


def _name(call: Any) -> Iterator[str]:
    if isinstance(call, Mapping) and isinstance(call.get("name"), str):
        yield call["name"]


def _blocks(text: str) -> Iterator[Any]:
    """Yield the JSON objects and lists that begin and end with a line, outside of fenced code."""
    decoder, position, wasted, fence = json.JSONDecoder(), 0, 0, ""
    while position < len(text) and wasted <= MAX_WASTED_CHARACTERS:
        line_end = text.find("\n", position)
        line_end = len(text) if line_end < 0 else line_end
        start, next_line = position, line_end + 1
        line = text[position:line_end]
        if marker := _FENCE.match(line):
            fence = "" if fence else marker[1]
        elif not fence and (content := line.lstrip())[:1] in ("{", "["):
            start = line_end - len(content)
            try:
                block, end = decoder.raw_decode(text, start)
                rest_end = text.find("\n", end)
                rest_end = len(text) if rest_end < 0 else rest_end
                if not text[end:rest_end].strip():
                    yield block
                    next_line = rest_end + 1
            except (ValueError, RecursionError) as error:
                wasted += getattr(error, "pos", len(text)) - start
        position = next_line
