"""Finds JSON objects in a text that a language model wrote: among prose, and with the mistakes that models make.

Only unambiguous text is read besides JSON: trailing commas, control characters in strings, comments, words and
quotation marks of Python and JavaScript, invalid escapes. A string that ends too early is not repaired, because nobody
knows where it should have ended.
"""

import json
import math
import re
from typing import Any, NamedTuple

MAX_DEPTH = 50
"""Objects and lists may be nested this deep."""
MAX_WORK = 4_000_000
"""No more characters than this are read, each token counting as several, because a hostile text can make a reader start
over again and again; it is abandoned after about 0.3 s."""
_TOKEN_WORK = 20
_MAX_TOKEN_LENGTH = 50
"""Numbers have no more characters than this: longer ones are meaningless, and Python refuses to convert thousands."""
_SPACE = re.compile(r"\s*")
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_WORD = re.compile(r"[-+]?[A-Za-z]+\b")
_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?")
_AFTER_NUMBER = re.compile(r"\s*(?:%|/\s*\d+(?:\.\d+)?)")
"""A share or a fraction is no JSON, so it is read as a text."""
_STRINGS = {
    '"': re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"', re.DOTALL),
    "'": re.compile(r"'([^'\\]*(?:\\.[^'\\]*)*)'", re.DOTALL),
    "“": re.compile(r"“([^“”\\]*(?:\\.[^“”\\]*)*)”", re.DOTALL),
}
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_WORDS = {
    "true": True,
    "false": False,
    "null": None,
    "none": None,
    "nan": None,
    "infinity": None,
    "undefined": None,
    "yes": "yes",
    "no": "no",
}


class JsonObject(NamedTuple):
    """Contains the pairs of an object in their order; a key may occur twice."""

    pairs: tuple[tuple[str, Any], ...]


class FoundObjects(NamedTuple):
    objects: tuple[JsonObject, ...]
    """Objects within other objects are not included."""
    rest: str


class TooIntricate(ValueError):
    """Reading the text would take too long."""


class _Broken(ValueError):
    pass


def find_objects(text: str) -> FoundObjects:
    """Find the objects in the text itself; an object within a string is part of that string. Raises TooIntricate."""
    reader, objects, rest, read_to = _ObjectReader(text), list[JsonObject](), list[str](), 0
    start = text.find("{")
    while start >= 0:
        try:
            value, end = reader.read(start)
        except _Broken:
            start = text.find("{", start + 1)
            continue
        if value.pairs:
            objects.append(value)
            rest.append(text[read_to:start])
            read_to = end
        start = text.find("{", end)
    return FoundObjects(tuple(objects), "\n".join([*rest, text[read_to:]]))


def plain(value: Any) -> Any:
    """Convert what was read to dictionaries and lists; the last value of a repeated key counts."""
    if isinstance(value, JsonObject):
        return {key: plain(each) for key, each in value.pairs}
    return [plain(each) for each in value] if isinstance(value, list) else value


class _ObjectReader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._work = 0

    def read(self, start: int) -> tuple[JsonObject, int]:
        return self._object(start, 1)

    def _spend(self, characters: int) -> None:
        self._work += characters + _TOKEN_WORK
        if self._work > MAX_WORK:
            raise TooIntricate("it has too many braces")

    def _value(self, position: int, depth: int) -> tuple[Any, int]:
        character = self._text[position : position + 1]
        if character == "{":
            return self._object(position, depth + 1)
        if character == "[":
            return self._list(position, depth + 1)
        if character in _STRINGS:
            return self._string(position)
        if number := _NUMBER.match(self._text, position):
            return self._number(number)
        return self._word(position)

    def _object(self, position: int, depth: int) -> tuple[JsonObject, int]:
        if depth > MAX_DEPTH:
            raise _Broken
        pairs = list[tuple[str, Any]]()
        position = self._skip(position + 1)
        while not self._text.startswith("}", position):
            key, position = self._key(position)
            position = self._skip(position)
            if not self._text.startswith(":", position):
                raise _Broken
            value, position = self._value(self._skip(position + 1), depth)
            pairs.append((key, value))
            position = self._after_item(position, "}")
        return JsonObject(tuple(pairs)), position + 1

    def _list(self, position: int, depth: int) -> tuple[list[Any], int]:
        if depth > MAX_DEPTH:
            raise _Broken
        values = list[Any]()
        position = self._skip(position + 1)
        while not self._text.startswith("]", position):
            value, position = self._value(position, depth)
            values.append(value)
            position = self._after_item(position, "]")
        return values, position + 1

    def _after_item(self, position: int, end: str) -> int:
        position = self._skip(position)
        if self._text.startswith(",", position):
            return self._skip(position + 1)
        if not self._text.startswith(end, position):
            raise _Broken
        return position

    def _key(self, position: int) -> tuple[str, int]:
        if self._text[position : position + 1] in _STRINGS:
            return self._string(position)
        name = _NAME.match(self._text, position)
        if name is None:
            raise _Broken
        self._spend(len(name.group()))
        return name.group(), name.end()

    def _string(self, position: int) -> tuple[str, int]:
        match = _STRINGS[self._text[position]].match(self._text, position)
        if match is None:
            self._spend(len(self._text) - position)
            raise _Broken
        self._spend(match.end() - position)
        return _unescaped(match[1]), match.end()

    def _number(self, match: re.Match[str]) -> tuple[Any, int]:
        self._spend(match.end() - match.start())
        end = match.end()
        if end - match.start() > _MAX_TOKEN_LENGTH:
            raise _Broken
        if after := _AFTER_NUMBER.match(self._text, end):
            return self._text[match.start() : after.end()], after.end()
        if self._text[end : end + 1].isalnum():
            raise _Broken
        number = float(match.group())
        if not math.isfinite(number):
            return None, end
        return (int(match.group()) if match.group().lstrip("+-").isdigit() else number), end

    def _word(self, position: int) -> tuple[Any, int]:
        match = _WORD.match(self._text, position)
        word = match.group().lstrip("+-").casefold() if match else ""
        if match is None or word not in _WORDS:
            raise _Broken
        self._spend(len(word))
        return _WORDS[word], match.end()

    def _skip(self, position: int) -> int:
        while True:
            match = _SPACE.match(self._text, position)
            end = match.end() if match else position
            self._spend(end - position)
            position = end
            if self._text.startswith("//", position):
                closing = self._text.find("\n", position)
                following = len(self._text) if closing < 0 else closing + 1
            elif self._text.startswith("/*", position):
                closing = self._text.find("*/", position + 2)
                following = len(self._text) if closing < 0 else closing + 2
            else:
                return position
            self._spend(following - position)
            position = following


def _unescaped(written: str) -> str:
    if "\\" not in written:
        return written
    try:
        return str(json.loads(f'"{written}"', strict=False))
    except ValueError:
        return _ESCAPE.sub(_unescaped_character, written)


def _unescaped_character(match: re.Match[str]) -> str:
    escaped = match[1]
    return chr(int(escaped[1:], 16)) if len(escaped) > 1 else _ESCAPED.get(escaped, escaped)
