"""JSON Schema validation of model outputs: nothing is fetched, and patterns in schemas have a time limit."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from itertools import islice
from typing import Any

from jsonschema import Draft7Validator, FormatChecker, SchemaError, ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import extend, validator_for
from referencing import Registry
from referencing.exceptions import Unresolvable

from cupel_core.domain.scoring.unscored import UnscoredCode
from cupel_core.scoring.check_result import NotComputable
from cupel_core.scoring.pattern_search import matches_schema
from cupel_core.scoring.schema_formats import NUMBER_FORMATS, TEXT_FORMATS


def violation(schema: Any, data: Any) -> str | None:
    """How the data violates the schema; None if it does not. The draft is that of `$schema`, by default Draft 7.

    Raises NotComputable for an invalid schema.
    """
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
    """The positions of the first rows that violate the schema, and how. Run in the sandbox; raises as `violation`."""
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
    """`nullable: true` beside `type`, as OpenAPI and Gemini write it, allows null."""
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
    """A format says nothing about values of other types."""
    return lambda value: not isinstance(value, types) or isinstance(value, bool) or check(value)
