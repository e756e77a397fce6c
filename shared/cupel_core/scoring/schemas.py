"""JSON Schema validation of model outputs: nothing is fetched, and patterns in schemas have a time limit."""

from collections.abc import Iterator
from datetime import datetime
from functools import cache
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

from jsonschema import Draft7Validator, FormatChecker, SchemaError, ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import extend, validator_for
from referencing import Registry
from referencing.exceptions import Unresolvable

from cupel_core.domain.scoring.unscored import UnscoredCode
from cupel_core.scoring.check_result import NotComputable
from cupel_core.scoring.pattern_search import matches

_FORMATS = ("date", "email", "ipv4", "ipv6", "uuid")
"""Those that need no further library; `date-time` and `uri` are added below. Other formats are not checked."""


def violation(schema: Any, data: Any) -> str | None:
    """How the data violates the schema; None if it does not. The draft is that of `$schema`, by default Draft 7.

    Raises NotComputable for an invalid schema.
    """
    validator_class = _bounded(validator_for(schema, default=Draft7Validator))
    try:
        validator_class.check_schema(schema)
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
    """The positions of the first rows that violate the schema, and how. Run in the sandbox; raises as `violation`."""
    found = ([position, problem] for position, row in enumerate(rows) if (problem := violation(schema, row)))
    return list(islice(found, most))


@cache
def _bounded(validator_class: type[Validator]) -> type[Validator]:
    bounded: type[Validator] = extend(validator_class, {"pattern": _pattern})  # type: ignore[no-untyped-call]
    return bounded


def _pattern(_: Validator, pattern: str, instance: Any, __: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and not matches(pattern, instance):
        yield ValidationError(f"{instance[:100]!r} does not match {pattern!r}")


@cache
def _formats() -> FormatChecker:
    checker = FormatChecker(_FORMATS)
    checker.checks("date-time", ValueError)(_is_date_time)
    checker.checks("uri", ValueError)(_is_uri)
    return checker


def _is_date_time(instance: object) -> bool:
    if not isinstance(instance, str):
        return True
    return "T" in instance.upper() and datetime.fromisoformat(instance).tzinfo is not None


def _is_uri(instance: object) -> bool:
    if not isinstance(instance, str):
        return True
    parts = urlsplit(instance)
    return bool(parts.scheme and (parts.netloc or parts.path))
