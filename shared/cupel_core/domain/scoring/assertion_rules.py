"""Which kinds of assertions there are, what each needs, and what is wrong with those that somebody has written."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, NamedTuple

from cupel_core.domain.scoring.assertion_values import has_variables, listed
from cupel_core.domain.scoring.assertions import NOT
from cupel_core.domain.text.javascript_patterns import flaw
from cupel_core.domain.text.json_schema import flaws

MAX_ASSERTIONS = 100
"""Of a scenario or a definition, with the parts of sets."""
MAX_NESTING = 3
"""Sets in sets: promptfoo has one level, and a test's own threshold makes another around them."""
MAX_NAME_LENGTH = 200
SET = "assert-set"
SELECT_BEST = "select-best"
CODE = frozenset({"javascript", "python", "ruby"})
_FIELDS = frozenset({"type", "value", "threshold", "weight", "metric", "provider", "tag", "config", "assert"})

type ValueRule = Callable[[Any], str | None]


class Complaint(NamedTuple):
    """What is wrong with a field such as `assertions.2.threshold`, in words that go after its name."""

    field: str
    message: str


@dataclass(frozen=True)
class Kind:
    """What an assertion of this type is made of. `threshold` is the one it has when none is given."""

    value: ValueRule = lambda _: None
    threshold: float | None = None
    needs_threshold: bool = False
    is_share: bool = False
    """Its threshold is a share of 1."""
    may_negate: bool = True
    is_judged: bool = False
    """By a model, which a run has to be configured with."""
    is_embedded: bool = False
    """Likewise, by a model that embeds."""


def complaints(assertions: Any, field: str = "assertions") -> tuple[Complaint, ...]:
    """Why these JSON assertions cannot be a scenario's or a definition's; empty when they can."""
    if not isinstance(assertions, list):
        return (Complaint(field, "must be a list"),)
    if _count(assertions) > MAX_ASSERTIONS:
        return (Complaint(field, f"must be at most {MAX_ASSERTIONS}, with the parts of sets"),)
    return tuple(_of_all(assertions, field, depth=0))


def _count(assertions: list[Any]) -> int:
    parts = (each.get("assert") for each in assertions if isinstance(each, dict))
    return len(assertions) + sum(_count(part) for part in parts if isinstance(part, list))


def _of_all(assertions: list[Any], field: str, depth: int) -> Iterator[Complaint]:
    for number, assertion in enumerate(assertions):
        yield from _of_one(assertion, f"{field}.{number}", depth)


def _of_one(assertion: Any, field: str, depth: int) -> Iterator[Complaint]:
    if not isinstance(assertion, dict):
        yield Complaint(field, "must be an object")
        return
    yield from (Complaint(f"{field}.{name}", "is not known") for name in assertion if name not in _FIELDS)
    written = assertion.get("type")
    if why := _wrong_type(written):
        yield Complaint(f"{field}.type", why)
        return
    name = str(written).removeprefix(NOT)
    yield from _of_value(KINDS[name], assertion, field)
    yield from _of_numbers(KINDS[name], assertion, field)
    yield from _of_words(assertion, field)
    yield from _of_parts(name, assertion.get("assert"), f"{field}.assert", depth)


def _wrong_type(written: Any) -> str | None:
    if not isinstance(written, str) or not written:
        return "must be the name of a type of assertion"
    name = written.removeprefix(NOT)
    if name in CODE:
        return f"{written} is not supported: Cupel runs no code out of assertions; a webhook can run yours"
    if name not in KINDS:
        from difflib import get_close_matches  # only for who mistyped

        near = get_close_matches(name, KINDS, n=1)
        return f"there is no type {written!r}" + (f"; did you mean {near[0]}?" if near else "")
    if written.startswith(NOT) and not KINDS[name].may_negate:
        return f"{name} has no opposite: negate what is in it" if name == SET else f"{name} has no opposite"
    return None


def _of_value(kind: Kind, assertion: Mapping[str, Any], field: str) -> Iterator[Complaint]:
    value = assertion.get("value")
    # What a variable stands for is only known when a conversation is scored.
    if (why := kind.value(value)) and not has_variables(value):
        yield Complaint(f"{field}.value", why)


def _of_numbers(kind: Kind, assertion: Mapping[str, Any], field: str) -> Iterator[Complaint]:
    threshold, weight = assertion.get("threshold"), assertion.get("weight")
    if threshold is None and kind.needs_threshold:
        yield Complaint(f"{field}.threshold", "is needed")
    if threshold is not None and not _is_amount(threshold):
        yield Complaint(f"{field}.threshold", "must be a number from 0")
    elif threshold is not None and kind.is_share and threshold > 1:
        yield Complaint(f"{field}.threshold", "must be a number from 0 to 1")
    if weight is not None and not _is_amount(weight):
        yield Complaint(f"{field}.weight", "must be a number from 0")


def _of_words(assertion: Mapping[str, Any], field: str) -> Iterator[Complaint]:
    for name in ("metric", "tag", "provider"):
        word = assertion.get(name)
        if word is not None and not (isinstance(word, str) and 0 < len(word.strip()) <= MAX_NAME_LENGTH):
            yield Complaint(f"{field}.{name}", f"must be a text of at most {MAX_NAME_LENGTH} characters")
        elif name == "provider" and word is not None and not all(word.partition("/")):
            yield Complaint(f"{field}.provider", "must be a model: provider/name")
    config = assertion.get("config")
    if config is not None and not isinstance(config, dict):
        yield Complaint(f"{field}.config", "must be an object")
    elif config and "headers" in config:
        yield Complaint(
            f"{field}.config.headers", "is not kept: a definition is no place for secrets, the evaluator's headers are"
        )


def _of_parts(name: str, parts: Any, field: str, depth: int) -> Iterator[Complaint]:
    if name != SET:
        if parts is not None:
            yield Complaint(field, f"belongs to an {SET} only")
    elif not isinstance(parts, list) or not parts:
        yield Complaint(field, "must be a list of assertions")
    elif depth == MAX_NESTING - 1 and SET in map(_type_of, parts):
        yield Complaint(field, f"must not have sets in sets more than {MAX_NESTING} deep")
    elif SELECT_BEST in map(_type_of, parts):
        yield Complaint(field, f"must not have {SELECT_BEST}: it compares models, beside the sets of each")
    else:
        yield from _of_all(parts, field, depth + 1)


def _type_of(part: Any) -> Any:
    return part.get("type") if isinstance(part, dict) else None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _is_amount(value: Any) -> bool:
    return _is_number(value) and value >= 0


def _given(value: Any) -> str | None:
    return "is needed" if value is None else None


def _text(value: Any) -> str | None:
    return None if isinstance(value, str) and value else "must be a text"


def _any_text(value: Any) -> str | None:
    return None if isinstance(value, str) else "must be a text"


def _text_or_number(value: Any) -> str | None:
    return None if (isinstance(value, str) and value) or _is_number(value) else "must be a text or a number"


def _texts(value: Any) -> str | None:
    if isinstance(value, list) and not all(isinstance(each, str | int | float) for each in value):
        return "must be a list of texts"
    if not isinstance(value, str | list):
        return "must be a list of texts, or one text with commas"
    try:
        listed(value)
    except ValueError as error:
        return str(error)
    return None


def _references(value: Any) -> str | None:
    if isinstance(value, list):
        return None if value and all(isinstance(each, str) for each in value) else "must be a list of texts"
    return None if isinstance(value, str) and value else "must be a text or a list of texts"


def _pattern(value: Any) -> str | None:
    return _text(value) or flaw(value)


def _schema(value: Any) -> str | None:
    if isinstance(value, str) and value:
        try:
            value = json.loads(value)
        except ValueError:
            return "must be a JSON Schema: an object, or its JSON as text"
    if value in (None, ""):
        return None
    return next(flaws(value), None)


def _elements(value: Any) -> str | None:
    if isinstance(value, dict):
        value = value.get("requiredElements")
    if value is None or isinstance(value, str) or (isinstance(value, list) and all(isinstance(e, str) for e in value)):
        return None
    return "must name elements: a list such as root.item, or one text with commas"


def _words(value: Any) -> str | None:
    if isinstance(value, dict):
        bounds = [value[name] for name in ("min", "max") if value.get(name) is not None]
        if not bounds or not all(map(_is_amount, bounds)) or set(value) - {"min", "max"}:
            return "must have min, max or both, as numbers"
        return None if bounds == sorted(bounds) else "must have a min that is at most its max"
    is_count = _is_amount(value) or (isinstance(value, str) and value.strip().isdecimal())
    return None if is_count else "must be a number, or an object with min and max"


def _rubric(value: Any) -> str | None:
    return None if value and isinstance(value, str | dict | list) else "must say what is graded"


def _url(value: Any) -> str | None:
    is_url = isinstance(value, str) and value.startswith(("http://", "https://"))
    return None if is_url else "must be a URL that begins with https:// or http://"


KINDS: Mapping[str, Kind] = {
    "equals": Kind(_given),
    "contains": Kind(_text_or_number),
    "icontains": Kind(_text_or_number),
    "contains-any": Kind(_texts),
    "icontains-any": Kind(_texts),
    "contains-all": Kind(_texts),
    "icontains-all": Kind(_texts),
    "starts-with": Kind(_text),
    "regex": Kind(_pattern),
    "is-json": Kind(_schema),
    "contains-json": Kind(_schema),
    "is-xml": Kind(_elements),
    "contains-xml": Kind(_elements),
    "levenshtein": Kind(_any_text, threshold=5),
    "word-count": Kind(_words),
    "rouge-n": Kind(_text, threshold=0.75, is_share=True),
    "bleu": Kind(_references, threshold=0.5, is_share=True),
    "latency": Kind(needs_threshold=True),
    "cost": Kind(needs_threshold=True),
    "finish-reason": Kind(_text),
    "is-refusal": Kind(),
    "similar": Kind(_references, threshold=0.75, is_share=True, is_embedded=True),
    "llm-rubric": Kind(_rubric, is_share=True, is_judged=True),
    "g-eval": Kind(_references, threshold=0.7, is_share=True, is_judged=True),
    "factuality": Kind(_text, is_judged=True),
    "answer-relevance": Kind(threshold=0, is_share=True, is_judged=True, is_embedded=True),
    "webhook": Kind(_url),
    SET: Kind(is_share=True, may_negate=False),
    SELECT_BEST: Kind(_text, may_negate=False, is_judged=True),
}
