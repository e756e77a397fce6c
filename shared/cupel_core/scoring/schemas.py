"""JSON Schema on what models say: nothing is fetched, and the expressions in a schema are bounded in time."""

from collections.abc import Iterator
from datetime import datetime
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from jsonschema import Draft7Validator, FormatChecker, SchemaError, ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import extend, validator_for
from referencing import Registry
from referencing.exceptions import Unresolvable

from cupel_core.scoring.check_result import Uncomputable
from cupel_core.scoring.pattern_search import matches

_FORMATS = ("date", "email", "ipv4", "ipv6", "uuid")
"""Of those that need no further library; `date-time` and `uri` are below. Others are not looked at."""


def complaint(schema: Any, data: Any) -> str | None:
    """Why data does not satisfy a schema of its `$schema`, Draft 7 without one; Uncomputable for what is no schema."""
    kind = _bounded(validator_for(schema, default=Draft7Validator))
    try:
        kind.check_schema(schema)
        validator: Validator = kind(schema, registry=Registry(), format_checker=_formats())
        problem = next(iter(validator.iter_errors(data)), None)
    except SchemaError as error:
        raise Uncomputable(f"the schema is none: {error.message}") from None
    except Unresolvable as error:
        raise Uncomputable(f"the schema refers to what is not in it: {error}") from None
    except RecursionError:
        raise Uncomputable("the schema or the output is nested too deeply") from None
    return None if problem is None else f"{problem.json_path}: {problem.message[:300]}"


@cache
def _bounded(kind: type[Validator]) -> type[Validator]:
    bounded: type[Validator] = extend(kind, {"pattern": _pattern})  # type: ignore[no-untyped-call]
    return bounded


def _pattern(_: Validator, pattern: str, instance: Any, __: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and not matches(pattern, instance):
        yield ValidationError(f"{instance[:100]!r} does not match {pattern!r}")


@cache
def _formats() -> FormatChecker:
    checker = FormatChecker(_FORMATS)
    checker.checks("date-time", ValueError)(_is_moment)
    checker.checks("uri", ValueError)(_is_uri)
    return checker


def _is_moment(instance: object) -> bool:
    if not isinstance(instance, str):
        return True
    return "T" in instance.upper() and datetime.fromisoformat(instance).tzinfo is not None


def _is_uri(instance: object) -> bool:
    if not isinstance(instance, str):
        return True
    parts = urlsplit(instance)
    return bool(parts.scheme and (parts.netloc or parts.path))
