"""Translates regular expressions from JavaScript's dialect (promptfoo, JSON Schema) to that of Python's `regex`.

Classes, case, line ends and boundaries are written out, because the flags of `regex` mean other characters. Without the
`u` flag, JavaScript compares UTF-16 code units: such an expression is applied to `javascript_values.code_units`.
"""

import re
import warnings
from collections.abc import Mapping
from typing import NamedTuple

from cupel_core.domain.text.javascript_case import Range, with_other_cases
from cupel_core.domain.text.javascript_classes import (
    CLASS_ESCAPES,
    LINE_ENDS,
    UNICODE_WORD_ESCAPES,
    WORD,
    WORD_IGNORING_CASE,
    is_property,
    written_character,
    written_set,
)
from cupel_core.domain.text.javascript_values import code_units
from cupel_core.domain.text.patterns import MAX_PATTERN_LENGTH, has_nested_repetition

FLAGS = frozenset("gimsu")
_LEADING_FLAGS = re.compile(r"\(\?([imsu]+)\)")
_GROUP = re.compile(
    r"\?(?:(?P<name><(?P<id>[\w$\u200c\u200d]+)>)|(?P<look><?[=!])|(?P<on>[ims]*)(?:-(?P<off>[ims]*))?:)"
)
_QUANTIFIER = re.compile(r"(?:[*+?]|\{(?P<low>\d+)(?:,(?P<high>\d*))?\})\??")
_PROPERTY = re.compile(r"\{([\w=]+)\}")
_OPENING = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|\((?:\?<(?P<name>[\w$\u200c\u200d]+)>|(?!\?))", re.DOTALL)
_CONTROLS = {"f": 0x0C, "n": 0x0A, "r": 0x0D, "t": 0x09, "v": 0x0B}
_SYNTAX = frozenset("^$\\.*+?()[]{}|/")
_FIXED_WIDTH_ERROR = "look-behind requires fixed-width pattern"
"""The standard library's `re` has this limit, and `regex` does not."""


class PatternError(ValueError):
    """The expression is invalid in JavaScript; the message continues `is not a regular expression: `."""


class TranslatedPattern(NamedTuple):
    expression: str
    """An expression for `regex`, without flags."""
    is_unicode: bool
    """The expression is applied to characters instead of UTF-16 code units."""
    names: Mapping[str, int]


def translate(pattern: str, flags: str = "") -> TranslatedPattern:
    """Return the same expression for `regex`. It may begin with flags, which JavaScript writes after it: `(?i)yes`.
    Raises PatternError."""
    if leading := _LEADING_FLAGS.match(pattern):
        pattern, flags = pattern[leading.end() :], flags + leading[1]
    is_unicode = "u" in flags
    return _Translator(pattern if is_unicode else code_units(pattern), frozenset(flags)).translated()


def javascript_pattern_error(pattern: str, flags: str = "") -> str | None:
    if len(pattern) > MAX_PATTERN_LENGTH:
        return f"must have at most {MAX_PATTERN_LENGTH} characters"
    try:
        expression = translate(pattern, flags).expression
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # the expression would change its meaning in a later Python
            re.compile(re.sub(r"\\[pP]\{[^}]*\}", r"\\w", expression))
    except (PatternError, re.error, Warning, OverflowError, RecursionError) as error:
        if not str(error).startswith(_FIXED_WIDTH_ERROR):
            return f"is not a regular expression: {error}"
    if has_nested_repetition(pattern):
        return (
            "must not repeat a group that itself repeats something, such as (a+)+: matching can take exponential time"
        )
    return None


def schema_flags(pattern: str) -> str:
    """Return the flags of a JSON schema's pattern: `u` as in promptfoo, unless the pattern is only valid without it."""
    try:
        translate(pattern, "u")
    except PatternError:
        return ""
    return "u"


class _Translator:
    def __init__(self, pattern: str, flags: frozenset[str]) -> None:
        self.pattern = pattern
        self.position = 0
        self.flags = flags
        self.is_unicode = "u" in flags
        self.names: dict[str, int] = {}
        openings = [match for match in _OPENING.finditer(pattern) if match[0].startswith("(")]
        for number, match in enumerate(openings, start=1):
            if match["name"] in self.names:
                raise PatternError(f"two groups have the name {match['name']}")
            if match["name"]:
                self.names[match["name"]] = number
        self.group_count = len(openings)
        self.opened = 0
        self.closed: set[int] = set()
        self.enclosing: list[tuple[frozenset[str], int | None, str]] = []
        """Each open group has the flags before it, its number if it has one, and its opening text."""

    def translated(self) -> TranslatedPattern:
        parts: list[str] = []
        while self.position < len(self.pattern):
            parts.append(self._part())
        if self.enclosing:
            raise PatternError("a group is not closed")
        return TranslatedPattern("".join(parts), self.is_unicode, self.names)

    def _part(self) -> str:
        """Translate the next atom with its quantifier, or whatever else is at this position."""
        character = self._take()
        match character:
            case "(":
                return self._opened_group()
            case "|":
                return "|"
            case "^":
                return self._unrepeatable(self._line_start())
            case "$":
                return self._unrepeatable(self._line_end())
            case ")":
                return self._closed_group()
            case "\\" if self._peek() in ("b", "B"):
                return self._unrepeatable(self._boundary(self._take()))
        return self._quantified(self._atom(character))

    def _atom(self, character: str) -> str:
        match character:
            case "\\":
                return self._escape()
            case "[":
                return self._set()
            case ".":
                return "(?s:.)" if "s" in self.flags else written_set(LINE_ENDS, is_negated=True)
            case "*" | "+" | "?":
                raise PatternError(f"nothing to repeat before {character}")
            case "{" if self.is_unicode or _QUANTIFIER.match(self.pattern, self.position - 1):
                raise PatternError("nothing to repeat before {")
            case "]" | "}" if self.is_unicode:
                raise PatternError(f"{character} stands alone")
        return self._character(ord(character))

    def _quantified(self, atom: str) -> str:
        quantifier = _QUANTIFIER.match(self.pattern, self.position)
        if quantifier is None:
            return atom
        self.position = quantifier.end()
        low, high = quantifier["low"], quantifier["high"]
        if high and int(high) < int(low):
            raise PatternError("the bounds of a repetition are out of order")
        return atom + quantifier[0]

    def _unrepeatable(self, assertion: str) -> str:
        if _QUANTIFIER.match(self.pattern, self.position):
            raise PatternError("an assertion cannot be repeated")
        return assertion

    def _opened_group(self) -> str:
        match = _GROUP.match(self.pattern, self.position)
        if match is None and self._peek() == "?":
            raise PatternError("a group begins with an unknown sign after ?")
        number, before, written = None, self.flags, "("
        if match is None or match["name"]:
            self.opened += 1
            number = self.opened
        elif match["look"]:
            written = f"(?{match['look']}"
        else:
            self.flags = (self.flags | frozenset(match["on"])) - frozenset(match["off"] or "")
            written = "(?:"
        self.position = match.end() if match else self.position
        self.enclosing.append((before, number, written))
        return written

    def _closed_group(self) -> str:
        if not self.enclosing:
            raise PatternError("a parenthesis is closed that is not open")
        self.flags, number, written = self.enclosing.pop()
        if number is not None:
            self.closed.add(number)
        is_look_behind = written.startswith("(?<")
        if is_look_behind or (self.is_unicode and written in ("(?=", "(?!")):
            return self._unrepeatable(")")
        return self._quantified(")")

    def _line_start(self) -> str:
        return rf"(?:\A|(?<={written_set(LINE_ENDS)}))" if "m" in self.flags else r"\A"

    def _line_end(self) -> str:
        return rf"(?:(?={written_set(LINE_ENDS)})|\Z)" if "m" in self.flags else r"\Z"

    def _boundary(self, kind: str) -> str:
        word = written_set(WORD_IGNORING_CASE if self.is_unicode and "i" in self.flags else WORD)
        if kind == "b":
            return f"(?:(?<={word})(?!{word})|(?<!{word})(?={word}))"
        return f"(?:(?<={word})(?={word})|(?<!{word})(?!{word}))"

    def _character(self, code: int) -> str:
        return self._written([(code, code)]) if "i" in self.flags else written_character(code)

    def _written(self, ranges: list[Range], properties: list[str] | None = None, *, is_negated: bool = False) -> str:
        if "i" in self.flags:
            ranges = with_other_cases(ranges, is_unicode=self.is_unicode)
        if len(ranges) == 1 and not properties and not is_negated and len(set(ranges[0])) == 1:
            return written_character(ranges[0][0])
        written = written_set(ranges, properties or (), is_negated=is_negated)
        return f"(?i:{written})" if properties and "i" in self.flags else written

    def _escape(self) -> str:
        character = self._peek()
        if character in CLASS_ESCAPES:
            return written_set(self._class_escape(self._take()))
        if character in ("p", "P") and self.is_unicode:
            return self._written([], [self._property()])
        if character.isascii() and character.isdigit() and character != "0":
            return self._reference_or_octal()
        if character == "k" and (self.names or self.is_unicode):
            return self._named_reference()
        return self._character(self._character_escape())

    def _class_escape(self, name: str) -> tuple[Range, ...]:
        if self.is_unicode and "i" in self.flags and name in UNICODE_WORD_ESCAPES:
            return UNICODE_WORD_ESCAPES[name]
        return CLASS_ESCAPES[name]

    def _property(self) -> str:
        sign = self._take()
        match = _PROPERTY.match(self.pattern, self.position)
        if match is None or not is_property(match[1]):
            raise PatternError(f"\\{sign} needs the name of a property of characters")
        self.position = match.end()
        return f"\\{sign}{match[0]}"

    def _reference_or_octal(self) -> str:
        digits = re.compile(r"\d+").match(self.pattern, self.position)
        if digits and int(digits[0]) <= self.group_count:
            self.position = digits.end()
            return self._reference(int(digits[0]))
        if self.is_unicode:
            raise PatternError(f"there is no group \\{self._peek()}")
        return self._character(self._octal())

    def _octal(self) -> int:
        octal = re.compile(r"[0-3][0-7]{0,2}|[4-7][0-7]?").match(self.pattern, self.position)
        if octal is None:
            return ord(self._take())
        self.position = octal.end()
        return int(octal[0], 8)

    def _named_reference(self) -> str:
        match = re.compile(r"k<([^>]*)>").match(self.pattern, self.position)
        if match is None or match[1] not in self.names:
            raise PatternError("\\k needs the name of a group")
        self.position = match.end()
        return self._reference(self.names[match[1]])

    def _reference(self, number: int) -> str:
        """Return a reference; a group that has matched nothing is empty, unlike in Python."""
        if number not in self.closed:
            return "(?:)"
        return rf"(?({number})(?i:\{number})|)" if "i" in self.flags else rf"(?({number})\{number}|)"

    def _character_escape(self) -> int:
        character = self._take()
        if character in _CONTROLS:
            return _CONTROLS[character]
        if character == "0" and not self._peek().isdigit():
            return 0
        if character == "c" and (letter := self._peek()).isascii() and letter.isalpha():
            return ord(self._take()) % 32
        if character == "c" and not self.is_unicode:
            self.position -= 1
            return ord("\\")
        if character in ("x", "u") and (code := self._hexadecimal(character)) is not None:
            return code
        if self.is_unicode and character not in _SYNTAX:
            raise PatternError(f"\\{character} is unknown")
        if character == "0":
            self.position -= 1
            return self._octal()
        return ord(character)

    def _hexadecimal(self, kind: str) -> int | None:
        if kind == "u" and self.is_unicode:
            written = r"\{([0-9a-fA-F]+)\}|([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|([0-9a-fA-F]{4})"
        else:
            written = f"([0-9a-fA-F]{{{2 if kind == 'x' else 4}}})"
        match = re.compile(written).match(self.pattern, self.position)
        if match is None:
            return None
        self.position = match.end()
        first, *rest = (int(digits, 16) for digits in match.groups() if digits)
        code = 0x10000 + ((first - 0xD800) << 10) + (rest[0] - 0xDC00) if rest else first
        if code > 0x10FFFF:
            raise PatternError("a character is beyond Unicode")
        return code

    def _set(self) -> str:
        is_negated = self._peek() == "^"
        self.position += is_negated
        ranges: list[Range] = []
        properties: list[str] = []
        while (character := self._peek()) != "]":
            if not character:
                raise PatternError("a set is not closed")
            self._add_member(ranges, properties)
        self.position += 1
        return self._written(ranges, properties, is_negated=is_negated)

    def _add_member(self, ranges: list[Range], properties: list[str]) -> None:
        first = self._member(properties)
        if self._peek() != "-" or self._peek(1) in ("]", ""):
            ranges.extend(first)
            return
        self.position += 1
        last = self._member(properties)
        if all(len(each) == 1 and each[0][0] == each[0][1] for each in (first, last)):
            if first[0][0] > last[0][0]:
                raise PatternError("a range is out of order")
            ranges.append((first[0][0], last[0][0]))
        elif self.is_unicode:
            raise PatternError("a range has a class at its end")
        else:
            ranges.extend((*first, (0x2D, 0x2D), *last))

    def _member(self, properties: list[str]) -> tuple[Range, ...]:
        """Return the characters of one member of a set; a property is appended to `properties` instead."""
        character = self._take()
        code = ord(character)
        if character == "\\":
            escaped = self._peek()
            if escaped in CLASS_ESCAPES:
                return self._class_escape(self._take())
            if escaped in ("p", "P") and self.is_unicode:
                properties.append(self._property())
                return ()
            code = self._member_escape(escaped)
        return ((code, code),)

    def _member_escape(self, escaped: str) -> int:
        if escaped == "b":
            self.position += 1
            return 0x08
        if escaped == "-" and self.is_unicode:
            self.position += 1
            return 0x2D
        if "1" <= escaped <= "9" and not self.is_unicode:
            return self._octal()
        return self._character_escape()

    def _peek(self, offset: int = 0) -> str:
        return self.pattern[self.position + offset : self.position + offset + 1]

    def _take(self) -> str:
        if self.position >= len(self.pattern):
            raise PatternError("it ends with a backslash")
        self.position += 1
        return self.pattern[self.position - 1]
