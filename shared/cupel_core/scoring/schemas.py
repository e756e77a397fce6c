"""Validates model outputs by JSON Schema: nothing is fetched, and patterns in schemas have a time limit.

Formats are checked as AJV does (ajv-formats 3), with which promptfoo validates; others are ignored.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from ipaddress import IPv4Address, IPv6Address
from itertools import islice
from typing import Any

from jsonschema import Draft7Validator, FormatChecker, SchemaError, ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import extend, validator_for
from referencing import Registry
from referencing.exceptions import Unresolvable

from cupel_core.domain.scoring.unscored import UnscoredCode
from cupel_core.domain.text.javascript_patterns import PatternError, translate
from cupel_core.scoring.check_result import NotComputable
from cupel_core.scoring.pattern_search import matches_schema

_UNRESERVED = r"a-z0-9\-._~!$&'()*+,;="
_ENCODED = "%[0-9a-f]{2}"
_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)", re.ASCII)
_TIME = re.compile(
    r"(?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d(?:\.\d+)?)"
    r"(?P<zone>z|(?P<sign>[+-])(?P<zone_hours>\d\d)(?::?(?P<zone_minutes>\d\d))?)?",
    re.ASCII | re.IGNORECASE,
)
_IP_LITERAL = re.compile(r"//?(?:[^/?#@]*@)?\[([^\]]*)\]")
_FUTURE_IP = re.compile(rf"v[0-9a-f]+\.[{_UNRESERVED}:]+", re.ASCII | re.IGNORECASE)


def violation(schema: Any, data: Any) -> str | None:
    """Return how the data violates the schema; None if it does not. The draft is that of `$schema`, by default Draft 7.
    Raises NotComputable for an invalid schema."""
    validator_class = _bounded(validator_for(schema, default=Draft7Validator))
    try:
        # Without formats: the patterns of a schema are JavaScript's.
        validator_class.check_schema(schema, format_checker=FormatChecker(()))  # type: ignore[call-arg]
        validator: Validator = validator_class(schema, registry=Registry(), format_checker=_formats())
        problem = next(iter(validator.iter_errors(data)), None)
    except SchemaError as error:
        raise NotComputable(f"the schema is invalid: {error.message}", UnscoredCode.ASSERTION) from None
    except Unresolvable as error:
        raise NotComputable(f"the schema has an unresolvable reference: {error}", UnscoredCode.ASSERTION) from None
    except RecursionError:
        raise NotComputable("the schema or the output is nested too deeply") from None
    return None if problem is None else f"{problem.json_path}: {problem.message[:300]}"


def violations(schema: Any, rows: list[Any], most: int) -> list[list[Any]]:
    """Return the positions of the first rows that violate the schema, and how. It runs in the sandbox and raises as
    `violation`."""
    found = ([position, problem] for position, row in enumerate(rows) if (problem := violation(schema, row)))
    return list(islice(found, most))


@cache
def _bounded(validator_class: type[Validator]) -> type[Validator]:
    rules = {
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional,
        "type": partial(_type, validator_class.VALIDATORS["type"]),
    }
    bounded: type[Validator] = extend(validator_class, rules)  # type: ignore[no-untyped-call]
    return bounded


def _type(
    check: Any, validator: Any, types: Any, instance: Any, schema: Mapping[str, Any]
) -> Iterator[ValidationError]:
    """Allow null if `nullable: true` is beside `type`, as OpenAPI and Gemini write it."""
    if instance is not None or schema.get("nullable") is not True:
        yield from check(validator, types, instance, schema)


def _pattern(_: Validator, pattern: str, instance: Any, __: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and not matches_schema(pattern, instance):
        yield ValidationError(f"{instance[:100]!r} does not match {pattern!r}")


def _pattern_properties(
    validator: Any, patterns: Mapping[str, Any], instance: Any, _: Any
) -> Iterator[ValidationError]:
    for pattern, schema in patterns.items() if isinstance(instance, dict) else ():
        for name, value in instance.items():
            if matches_schema(pattern, name):
                yield from validator.descend(value, schema, path=name, schema_path=pattern)


def _additional(validator: Any, rule: Any, instance: Any, schema: Mapping[str, Any]) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    extras = [
        name
        for name in instance
        if name not in known and not any(matches_schema(pattern, name) for pattern in patterns)
    ]
    if isinstance(rule, dict):
        for name in extras:
            yield from validator.descend(instance[name], rule, path=name)
    elif not rule and extras:
        yield ValidationError(f"properties that are not allowed: {', '.join(map(repr, extras))}"[:300])


@cache
def _formats() -> FormatChecker:
    checker = FormatChecker(())
    for name, is_text in TEXT_FORMATS.items():
        checker.checks(name)(_of(str, is_text))
    for name, is_number in NUMBER_FORMATS.items():
        checker.checks(name)(_of((int, float), is_number))
    return checker


def _of(types: type | tuple[type, ...], check: Callable[[Any], bool]) -> Callable[[object], bool]:
    """Apply the check to values of these types only, because a format says nothing about others."""
    return lambda value: not isinstance(value, types) or isinstance(value, bool) or check(value)


def is_date(text: str) -> bool:
    match = _DATE.fullmatch(text)
    if match is None:
        return False
    year, month, day = map(int, match.groups())
    is_leap_year = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 1 <= month <= 12 and 1 <= day <= _DAYS[month - 1] + (month == 2 and is_leap_year)


def is_time(text: str, *, needs_zone: bool = True) -> bool:
    match = _TIME.fullmatch(text)
    if match is None or (needs_zone and not match["zone"]):
        return False
    hour, minute, second = int(match["hour"]), int(match["minute"]), float(match["second"])
    zone_hours, zone_minutes = int(match["zone_hours"] or 0), int(match["zone_minutes"] or 0)
    if zone_hours > 23 or zone_minutes > 59:
        return False
    if hour <= 23 and minute <= 59 and second < 60:
        return True
    sign = -1 if match["sign"] == "-" else 1
    utc_minute = minute - zone_minutes * sign
    utc_hour = hour - zone_hours * sign - (utc_minute < 0)
    return utc_hour in (23, -1) and utc_minute in (59, -1) and second < 61  # a leap second


def is_date_time(text: str, *, needs_zone: bool = True) -> bool:
    date, *rest = re.split(r"[tT\s]", text)
    return len(rest) == 1 and is_date(date) and is_time(rest[0], needs_zone=needs_zone)


def _is_address(text: str, kind: type[IPv4Address | IPv6Address]) -> bool:
    try:
        kind(text)
    except ValueError:
        return False
    return "%" not in text


def _expression(written: str) -> Callable[[str], bool]:
    compiled = re.compile(written, re.ASCII | re.IGNORECASE)
    return lambda text: compiled.fullmatch(text) is not None


def _address(quote: str, *, is_reference: bool) -> Callable[[str], bool]:
    character = rf"(?:[{_UNRESERVED}{quote}:@]|{_ENCODED})"
    host = rf"(?:\[[^\]]*\]|(?:[{_UNRESERVED}{quote}]|{_ENCODED})*)"
    authority = rf"//?(?:(?:[{_UNRESERVED}:]|{_ENCODED})*@)?{host}(?::\d*)?(?:/{character}*)*"
    path = rf"{character}+(?:/{character}*)*"
    rest = rf"(?:{authority}|/(?:{path})?|{path})"
    scheme = r"[a-z][a-z0-9+\-.]*:"
    optional = "?" if is_reference else ""
    query = rf"(?:{character}|[/?])*"
    has_form = _expression(rf"(?:{scheme}){optional}{rest}{optional}(?:\?{query})?(?:#{query})?")
    return lambda text: has_form(text) and _has_valid_host(text)


def _has_valid_host(text: str) -> bool:
    literal = _IP_LITERAL.search(text)
    return literal is None or _is_address(literal[1], IPv6Address) or _FUTURE_IP.fullmatch(literal[1]) is not None


def _is_pattern(text: str) -> bool:
    try:
        translate(text)
    except PatternError:
        return False
    return True


_ATOM = r"[a-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LABEL = "[a-z0-9](?:[a-z0-9-]*[a-z0-9])?"
_SHORT_LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_VARIABLE = rf"(?:\w|{_ENCODED})+(?::[1-9][0-9]{{0,3}}|\*)?"
TEXT_FORMATS: Mapping[str, Callable[[str], bool]] = {
    "date": is_date,
    "time": is_time,
    "date-time": is_date_time,
    "iso-time": lambda text: is_time(text, needs_zone=False),
    "iso-date-time": lambda text: is_date_time(text, needs_zone=False),
    "duration": _expression(r"P(?!$)(?:(\d+Y)?(\d+M)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+S)?)?|(\d+W)?)"),
    "uri": _address("", is_reference=False),
    "uri-reference": _address('"', is_reference=True),
    "uri-template": _expression(
        rf"(?:[^\x00-\x20\"'<>%\\^`{{|}}]|{_ENCODED}|\{{[+#./;?&=,!@|]?{_VARIABLE}(?:,{_VARIABLE})*\}})*"
    ),
    "email": _expression(rf"{_ATOM}(?:\.{_ATOM})*@(?:{_LABEL}\.)+{_LABEL}"),
    "hostname": _expression(rf"(?=.{{1,253}}\.?\Z){_SHORT_LABEL}(?:\.{_SHORT_LABEL})*\.?"),
    "ipv4": lambda text: _is_address(text, IPv4Address),
    "ipv6": lambda text: _is_address(text, IPv6Address),
    "regex": _is_pattern,
    "uuid": _expression("(?:urn:uuid:)?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"),
    "json-pointer": _expression("(?:/(?:[^~/]|~0|~1)*)*"),
    "json-pointer-uri-fragment": _expression(rf"#(?:/(?:[a-z0-9_\-.!$&'()*+,;:=@]|{_ENCODED}|~0|~1)*)*"),
    "relative-json-pointer": _expression("(?:0|[1-9][0-9]*)(?:#|(?:/(?:[^~/]|~0|~1)*)*)"),
    "byte": _expression("(?:[a-z0-9+/]{4})*(?:[a-z0-9+/]{2}==|[a-z0-9+/]{3}=)?"),
}
NUMBER_FORMATS: Mapping[str, Callable[[float], bool]] = {
    "int32": lambda number: float(number).is_integer() and -(2**31) <= number < 2**31,
    "int64": lambda number: float(number).is_integer(),
}
