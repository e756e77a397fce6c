"""Parses what an assertion checks instead of the whole answer: a subset of JavaScript expressions on `output`.

`JSON.parse(output).items[0].name`, `output.trim().toLowerCase()`, `output.match(/id: (\\d+)/)[1]`, and so on.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.text.javascript_patterns import FLAGS, javascript_pattern_error

MAX_LENGTH = 1_000
MAX_CODE_LENGTH = 20_000
_MAX_STEPS = 50
PARSE, TEXT, FIELD, CALL = "JSON.parse", "String", "field", "call"


class Pattern(NamedTuple):
    source: str
    flags: str


class TransformStep(NamedTuple):
    """`name` is the function or method, or the field (a number for an element); a method also has its arguments."""

    kind: str
    name: str | int = ""
    arguments: tuple[str | int | Pattern, ...] = ()


@dataclass(frozen=True)
class _Method:
    """Lists the types that each argument may have, and how many are required."""

    arguments: tuple[tuple[type, ...], ...] = ()
    required: int | None = None

    def error(self, name: str, given: tuple[Any, ...]) -> str | None:
        required = len(self.arguments) if self.required is None else self.required
        fits = required <= len(given) <= len(self.arguments) and all(
            isinstance(argument, types) for argument, types in zip(given, self.arguments, strict=False)
        )
        return None if fits else f"{name} has other arguments than it takes here"


_RANGE = _Method(((int,), (int,)), required=1)
METHODS: Mapping[str, _Method] = {
    "trim": _Method(),
    "trimStart": _Method(),
    "trimEnd": _Method(),
    "toLowerCase": _Method(),
    "toUpperCase": _Method(),
    "toString": _Method(),
    "split": _Method(((str, Pattern),)),
    "match": _Method(((Pattern,),)),
    "replace": _Method(((str, Pattern), (str,))),
    "replaceAll": _Method(((str, Pattern), (str,))),
    "slice": _RANGE,
    "substring": _RANGE,
    "at": _Method(((int,),)),
    "join": _Method(((str,),)),
}
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<name>[A-Za-z_$][\w$]*)
      | (?P<number>-?\d{1,9})(?![\w.])
      | (?P<text>'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")
      | (?P<regex>/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\[\n])+/[a-z]*)
      | (?P<sign>\?\.|[.\[\](),])
    )""",
    re.VERBOSE,
)
_ARROW = re.compile(r"^\s*(?:\(\s*output\s*(?:,\s*\w+\s*)*\)|output)\s*=>\s*")
_RETURN = re.compile(r"^\s*return\b")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}


class TransformError(ValueError):
    """The expression is not supported; the message continues after `transform`."""


def parse_transform(text: Any) -> tuple[TransformStep, ...]:
    """Return the steps from the output to what is checked. Raises TransformError."""
    if not isinstance(text, str) or not text.strip():
        raise TransformError("must be an expression on output, such as JSON.parse(output).name")
    if len(text) > MAX_LENGTH:
        raise TransformError(f"must have at most {MAX_LENGTH} characters")
    body = _RETURN.sub("", _ARROW.sub("", text)).strip().removesuffix(";").rstrip()
    parser = _Parser(_tokens(body))
    steps = parser.expression()
    if parser.remaining:
        raise TransformError(_outside(parser.remaining[0].text))
    if len(steps) > _MAX_STEPS:
        raise TransformError(f"must have at most {_MAX_STEPS} steps")
    return steps


def transform_error(text: Any) -> str | None:
    try:
        parse_transform(text)
    except TransformError as error:
        return str(error)
    return None


def code_error(text: Any) -> str | None:
    """Return the error in the code of a transform, in words for its author; None if it may be run."""
    if not isinstance(text, str) or not text.strip():
        return "must be an expression on output, such as JSON.parse(output).name"
    return None if len(text) <= MAX_CODE_LENGTH else f"must have at most {MAX_CODE_LENGTH:,} characters"


def compose(*transforms: Any) -> str | None:
    """Return the transform that applies each to the result of the one before it; None if there are none. Raises
    TransformError if one is invalid."""
    steps = [step for each in transforms for step in parse_transform(each)]
    return _written(steps) if transforms else None


class _TransformToken(NamedTuple):
    kind: str
    text: str


def _tokens(text: str) -> list[_TransformToken]:
    tokens, position = [], 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None or match.lastgroup is None:
            raise TransformError(_outside(text[position:].strip()))
        tokens.append(_TransformToken(match.lastgroup, match[match.lastgroup]))
        position = match.end()
    return tokens


def _outside(rest: str) -> str:
    return (
        f"is code that is not run here, from {rest[:30]!r} on: it may select from output or JSON.parse(output) by "
        f"fields and indexes, and call {', '.join(METHODS)}"
    )


@dataclass
class _Parser:
    remaining: list[_TransformToken] = field(default_factory=list)

    def expression(self) -> tuple[TransformStep, ...]:
        steps = list(self._start())
        while self.remaining and self.remaining[0].text in (".", "?.", "["):
            steps.append(self._element() if self._take().text == "[" else self._member())
        return tuple(steps)

    def _start(self) -> tuple[TransformStep, ...]:
        token = self._take()
        if token.text == "(":
            steps = self.expression()
            self._expect(")")
            return steps
        if token == _TransformToken("name", "output"):
            return ()
        function = {"JSON": PARSE, "String": TEXT}.get(token.text)
        if function == PARSE:
            self._expect(".")
            self._expect("parse")
        elif function is None:
            raise TransformError(_outside(token.text))
        self._expect("(")
        inner = self.expression()
        self._expect(")")
        return (*inner, TransformStep(function))

    def _element(self) -> TransformStep:
        token = self._take()
        if token.kind == "number" and not token.text.startswith("-"):
            step = TransformStep(FIELD, int(token.text))
        elif token.kind == "text":
            step = TransformStep(FIELD, _unquoted(token.text))
        else:
            raise TransformError(_outside(token.text))
        self._expect("]")
        return step

    def _member(self) -> TransformStep:
        if self.remaining and self.remaining[0].text == "[":  # ?.[0]
            self._take()
            return self._element()
        token = self._take()
        if token.kind != "name":
            raise TransformError(_outside(token.text))
        if not self.remaining or self.remaining[0].text != "(":
            return TransformStep(FIELD, token.text)
        method = METHODS.get(token.text)
        arguments = self._arguments()
        if method is None:
            raise TransformError(_outside(f"{token.text}("))
        if error := method.error(token.text, arguments):
            raise TransformError(error)
        return TransformStep(CALL, token.text, arguments)

    def _arguments(self) -> tuple[str | int | Pattern, ...]:
        self._expect("(")
        arguments: list[str | int | Pattern] = []
        while (token := self._take()).text != ")":
            if arguments:
                if token.text != ",":
                    raise TransformError(_outside(token.text))
                token = self._take()
            arguments.append(_literal(token))
        return tuple(arguments)

    def _take(self) -> _TransformToken:
        if not self.remaining:
            raise TransformError("ends too early")
        return self.remaining.pop(0)

    def _expect(self, text: str) -> None:
        if (token := self._take()).text != text:
            raise TransformError(_outside(token.text))


def _literal(token: _TransformToken) -> str | int | Pattern:
    readers: Mapping[str, Callable[[str], str | int | Pattern]] = {"number": int, "text": _unquoted, "regex": _pattern}
    if token.kind not in readers:
        raise TransformError(_outside(token.text))
    return readers[token.kind](token.text)


def _unquoted(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), text[1:-1])


def _pattern(text: str) -> Pattern:
    source, _, flags = text[1:].rpartition("/")
    if not set(flags) <= FLAGS:
        raise TransformError(f"has a regular expression with the flags {flags}; known flags: {''.join(sorted(FLAGS))}")
    if why := javascript_pattern_error(source, flags):
        raise TransformError(f"has a regular expression that {why}")
    return Pattern(source, flags)


def _written(steps: Sequence[TransformStep]) -> str:
    text = "output"
    for step in steps:
        if step.kind in (PARSE, TEXT):
            text = f"{step.kind}({text})"
        elif step.kind == CALL:
            text += f".{step.name}({', '.join(map(_written_literal, step.arguments))})"
        elif isinstance(step.name, str) and re.fullmatch(r"[A-Za-z_$][\w$]*", step.name):
            text += f".{step.name}"
        else:
            text += f"[{_written_literal(step.name)}]"
    return text


def _written_literal(value: str | int | Pattern) -> str:
    if isinstance(value, Pattern):
        return f"/{value.source}/{value.flags}"
    if isinstance(value, int):
        return str(value)
    escaped = value.replace("\\", "\\\\").replace("'", "\\'").replace("\0", "\\0")
    return "'" + escaped.replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r") + "'"
