"""Reads the replies of judges, simulated users and writers: strictly in the verdict, leniently in the rest.

A reply with two different verdicts has none, wherever they are: the text that was judged may contain an object, and a
judge may quote it. The rules are in docs/assertions.md; the table of replies is
tests/unit/scoring/grading/judge_replies.py.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, TypeAliasType, get_args, get_origin

from pydantic import ConfigDict, ValidationError

from cupel_core.base.deferred_models import DeferredModel
from cupel_core.domain.text.lenient_json import JsonObject, TooIntricate, find_objects, plain
from cupel_core.domain.text.reasoning import separate_reasoning
from cupel_core.scoring.grading.reply_values import EXPLAINED

MAX_REPLY_LENGTH = 1_000_000
"""A longer reply, in characters with the reasoning, is not read."""
MAX_ANSWER_LENGTH = 200_000
"""A longer answer, in characters without the reasoning, is not read: its end may contradict its beginning."""
_MAX_PROBLEMS = 5


class UnusableReply(ValueError):
    """The reply has no verdict, or more than one; the message says why."""


class StructuredReply(DeferredModel):
    """Defines a reply that a model must give. The schema is strict, but reading is lenient: keys may have another
    style, other keys are ignored, and fields are converted by the validators of `reply_values`."""

    model_config = ConfigDict(extra="forbid")

    explanations: ClassVar[frozenset[str]] = frozenset({"reason"})
    """Fields that explain the verdict, by their names in JSON. They may be missing, and do not change it."""
    optional: ClassVar[frozenset[str]] = frozenset()
    """Other fields that may be missing; their validators then receive None."""

    @classmethod
    def of_text(cls, text: str, /) -> Mapping[str, Any] | None:  # noqa: ARG003 - of no use unless overridden
        """Return the fields of a reply that has no object; None if it must have one."""
        return None


class ShortReply(StructuredReply):
    """Defines a reply of one value and a reason. A reply of the value alone, or of a category and its meaning, is read,
    too."""

    value_field: ClassVar[str]

    @classmethod
    def of_text(cls, text: str, /) -> Mapping[str, Any] | None:
        return {cls.value_field: text, "reason": text if EXPLAINED.match(text) else None}


def read_reply[T: StructuredReply](reply_type: type[T], text: str, verdict_of: Callable[[T], Any] | None = None) -> T:
    """Read the one verdict of a reply. Raises UnusableReply. `verdict_of` returns what distinguishes verdicts, by
    default all fields but explanations; it raises ValueError for fields that are no verdict."""
    return _ReplyReader(reply_type, verdict_of or _fields_without_explanations).read(_answer(text))


def problem_of(error: ValidationError) -> str:
    problems = error.errors(include_url=False)[:_MAX_PROBLEMS]
    return "; ".join(
        f"{'.'.join(map(str, each['loc'])) or 'it'}: {each['msg'].removeprefix('Value error, ')}" for each in problems
    )


def _answer(text: str) -> str:
    if len(text) > MAX_REPLY_LENGTH:
        raise UnusableReply(f"it has more than {MAX_REPLY_LENGTH:,} characters")
    answer = separate_reasoning(text).answer.strip().removeprefix("\ufeff").strip()
    if len(answer) > MAX_ANSWER_LENGTH:
        raise UnusableReply(f"it has more than {MAX_ANSWER_LENGTH:,} characters")
    if not answer:
        raise UnusableReply("it has only reasoning" if text.strip() else "it is empty")
    return _text_of_string(answer)


def _text_of_string(answer: str) -> str:
    """Return the text of a reply that is one JSON string, and any other reply as it is."""
    if not answer.startswith('"') or not answer.endswith('"'):
        return answer
    try:
        said = json.loads(answer, strict=False)
    except ValueError:
        return answer
    return said.strip() if isinstance(said, str) and said.strip() else answer


def _fields_without_explanations(reply: StructuredReply) -> Any:
    fields = reply.model_dump(by_alias=True)
    return {name: value for name, value in fields.items() if name not in reply.explanations}


class _ReplyReader[T: StructuredReply]:
    def __init__(self, reply_type: type[T], verdict_of: Callable[[T], Any]) -> None:
        self._type = reply_type
        self._verdict_of = verdict_of
        self._problem = ""
        self._known_fields = 0
        """Counts the known fields of the object that `_problem` is about."""

    def read(self, answer: str) -> T:
        try:
            found = find_objects(answer)
        except TooIntricate as error:
            raise UnusableReply(str(error)) from None
        readings = [reading for each in found.objects for reading in self._readings(each)]
        if not readings:
            return self._read_text(answer, has_objects=bool(found.objects))
        if any(verdict != readings[0][1] for _, verdict in readings):
            raise UnusableReply("it has different verdicts, and only one of them can be the judge's own")
        if field := self._field_in(found.rest):
            raise UnusableReply(f'"{field}" is also outside of its object')
        if field := self._contradiction_in(found.rest, *readings[-1]):
            raise UnusableReply(f'"{field}" is also outside of its object, with another value')
        return readings[-1][0]

    def _readings(self, value: Any) -> Iterator[tuple[T, Any]]:
        """Yield the verdicts in an object. Objects within a verdict, even an unusable one, are ignored, because they
        may be quoted from the judged text."""
        if isinstance(value, JsonObject):
            fields = _fields(self._type, value)
            reading = self._reading(fields)
            if reading is not None:
                yield reading
            if reading is not None or self._decides(fields):
                return
        for each in _contained(value):
            yield from self._readings(each)

    def _decides(self, fields: Mapping[str, Any]) -> bool:
        """Return whether a field of the verdict has a plain value, so that the object is the judge's own."""
        own = (value for name, value in fields.items() if name not in self._type.explanations)
        return any(isinstance(value, str | int | float) for value in own)

    def _reading(self, fields: Mapping[str, Any]) -> tuple[T, Any] | None:
        if not fields:
            return None
        try:
            return self._valid(fields)
        except ValueError as error:  # This includes ValidationError.
            if len(fields) > self._known_fields:
                self._known_fields = len(fields)
                self._problem = problem_of(error) if isinstance(error, ValidationError) else str(error)
            return None

    def _valid(self, fields: Mapping[str, Any]) -> tuple[T, Any]:
        may_be_missing = self._type.explanations | self._type.optional
        missing = {name: None for name in _names(self._type) if name in may_be_missing}
        reply = self._type.model_validate({**missing, **fields})
        return reply, self._verdict_of(reply)

    def _read_text(self, answer: str, *, has_objects: bool) -> T:
        fields = None if self._known_fields else self._type.of_text(answer)
        if fields is not None:
            try:
                return self._valid(fields)[0]
            except ValueError as error:
                if isinstance(error, UnusableReply):
                    raise
        raise UnusableReply(self._problem or self._missing_object(answer, has_objects=has_objects))

    def _missing_object(self, answer: str, *, has_objects: bool) -> str:
        if has_objects:
            names = ", ".join(name for name in _names(self._type) if name not in self._type.explanations)
            return f"it has no object with {names or 'the fields that were asked for'}"
        if "{" in answer and _QUOTED_KEY.search(answer):
            return "its JSON is broken or was cut"
        return "it refuses" if _REFUSAL.search(answer.replace("’", "'")) else "it has no JSON object"

    def _field_in(self, rest: str) -> str | None:
        """Return a field of the verdict that is not part of an object; None if there is none."""
        names = {_style_free(name) for name in _names(self._type) if name not in self._type.explanations}
        return next((key for key in _QUOTED_KEY.findall(rest) if _style_free(key) in names), None)

    def _contradiction_in(self, rest: str, reply: T, verdict: Any) -> str | None:
        """Return a field on its own line, as in YAML or bold type, that contradicts the object; None without one."""
        names = {_style_free(name): name for name in _names(self._type) if name not in self._type.explanations}
        said = reply.model_dump(by_alias=True)
        for key, value in _LINE_WITH_FIELD.findall(rest):
            name = names.get(_style_free(key))
            if name is None:
                continue
            try:
                if self._valid({**said, name: value})[1] != verdict:
                    return name
            except ValueError:  # It is prose.
                continue
        return None


_LINE_WITH_FIELD = re.compile(
    r"""^[ \t>|*_#`{-]{0,10} (\w{1,40}) [*_`]{0,3} [ \t]* [:=|] [ \t*_`]{0,10} ([^\s*_`,|}]{1,50})""",
    re.MULTILINE | re.VERBOSE,
)
_QUOTED_KEY = re.compile(r"""["'“]([\w][\w -]{0,40})["'”]\s*:""")


def _contained(value: Any) -> Sequence[Any]:
    if isinstance(value, JsonObject):
        return [each for _, each in value.pairs]
    return value if isinstance(value, list) else ()


def _fields(reply_type: type[StructuredReply], found: JsonObject) -> dict[str, Any]:
    """Return the fields that the object has, by their names in JSON. Raises UnusableReply if a field of the verdict has
    two values."""
    names = {_style_free(name): name for name in _names(reply_type)}
    fields = dict[str, Any]()
    for key, value in found.pairs:
        name = names.get(_style_free(key))
        if name is None:
            continue
        fitted = _fitted(value, _names(reply_type)[name])
        if name in fields and fields[name] != fitted and name not in reply_type.explanations:
            raise UnusableReply(f'it has "{name}" twice, with different values')
        fields[name] = fitted
    return fields


def _names(reply_type: type[StructuredReply]) -> Mapping[str, Any]:
    return {field.alias or name: field.annotation for name, field in reply_type.model_fields.items()}


def _style_free(key: str) -> str:
    return "".join(filter(str.isalnum, key)).casefold()


def _fitted(value: Any, annotation: Any) -> Any:
    """Convert the value for a field of this type: objects within get the names of their fields."""
    while isinstance(annotation, TypeAliasType) or get_origin(annotation) is Annotated:
        annotation = annotation.__value__ if isinstance(annotation, TypeAliasType) else get_args(annotation)[0]
    if get_origin(annotation) is list and isinstance(value, list):
        return [_fitted(each, get_args(annotation)[0]) for each in value]
    if isinstance(annotation, type) and issubclass(annotation, StructuredReply) and isinstance(value, JsonObject):
        return _fields(annotation, value)
    return plain(value)


_REFUSAL = re.compile(
    r"""\b(?:can(?:no|')t|can\ not|won't|will\ not|unable\ to|not\ able\ to|must\ decline|have\ to\ decline)\b"""
    r"""[\w\s,]{0,40}\b(?:assist|help|comply|fulfill|judge|evaluat\w+|grad\w+|assess|rate|provide|continue|engage"""
    r"""|respond|process|participate|role-?play|request)\b | \bas\ an\ ai\b | \bi'm\ sorry,\ but\b""",
    re.IGNORECASE | re.VERBOSE,
)
_REFUSED_ROLE = re.compile(
    r"""\b(?:can(?:no|')t|won't|unable\ to|not\ able\ to)\ (?:assist|help|comply|continue|engage|participate|fulfill
    |role-?play)\b[^.!?]{0,40}\b(?:requests?|role-?play|scenario|content|persona|task|this|that)\b | \bas\ an\ ai\b""",
    re.IGNORECASE | re.VERBOSE,
)


def refuses_role(text: str) -> bool:
    """Return whether a simulated user's words are those of a model that refuses this role."""
    return _REFUSED_ROLE.search(text.replace("’", "'")) is not None
