"""Reads arguments of operations as models send them: one flat object in snake case, whatever part of a request they
are.

Parameters of the path and the query have their own names, and fields of the body theirs; objects within the body have
the names of the API.
"""

import inspect
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Annotated, Any, get_args

from pydantic import ConfigDict, Field, create_model
from pydantic.alias_generators import to_camel

from cupel_core.base.errors import FieldError, Invalid
from cupel_core.contract.common import RequestModel
from cupel_core.contract.operation import Operation
from cupel_core.contract.query import Parameter
from cupel_core.domain.text.near_names import unknown_field_message
from cupel_core.interfaces.gateway.validation import parse
from cupel_core.interfaces.mcp.exceptions import LEFT_OUT_FIELDS, check_fields
from cupel_core.interfaces.mcp.numbers import as_integer

KEY = "idempotency_key"
_MAX_ID_LENGTH = 300
_MAX_UNKNOWN = 100


class ParametersOfOperation(RequestModel):
    model_config = ConfigDict(alias_generator=None)


@cache
def parameters_model(operation: Operation) -> type[ParametersOfOperation]:
    fields: dict[str, Any] = {each.name: _field(each) for each in _parameters(operation)}
    model: type[ParametersOfOperation] = create_model(operation.id, __base__=ParametersOfOperation, **fields)
    return model


def _parameters(operation: Operation) -> Iterator[inspect.Parameter]:
    for each in operation.arguments:
        note = _note(each)
        if each.name != "body" and not each.name.startswith("_") and not (note and note.is_header):
            yield each


def _note(argument: inspect.Parameter) -> Parameter | None:
    return next((note for note in get_args(argument.annotation)[1:] if isinstance(note, Parameter)), None)


def _field(argument: inspect.Parameter) -> tuple[Any, Any]:
    note = _note(argument)
    if note is None:
        return Annotated[str, Field(strict=True, min_length=1, max_length=_MAX_ID_LENGTH)], ...
    kind, *others = (each for each in get_args(argument.annotation) if each is not note)
    default = ... if argument.default is inspect.Parameter.empty else argument.default
    return Annotated[kind, *others, Field(description=note.description, **note.constraints)], default


def body_names(operation: Operation) -> dict[str, str]:
    if operation.body is None:
        return {}
    left_out = LEFT_OUT_FIELDS.get(operation.id, {})
    fields = operation.body.model_fields.items()
    named = {name: field.alias or to_camel(name) for name, field in fields}
    return {name: alias for name, alias in named.items() if alias not in left_out}


def argument_names(operation: Operation) -> list[str]:
    key = [KEY] if operation.replay else []
    return [*parameters_model(operation).model_fields, *body_names(operation), *key]


def read_values(operation: Operation, sent: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of the operation's function. Raises Invalid, naming every argument that is wrong."""
    _check_names(operation, sent)
    body = _read_body(operation, sent)
    check_fields(operation, body)
    values = dict(parse(parameters_model(operation), _read_parameters(operation, sent), ""))
    if operation.body is not None:
        values["body"] = parse(operation.body, body, "")
    return values


def _check_names(operation: Operation, sent: Mapping[str, Any]) -> None:
    known = argument_names(operation)
    left_out = LEFT_OUT_FIELDS.get(operation.id, {})
    accepted = {*known, *body_names(operation).values(), *left_out}
    unknown = [name for name in sent if name not in accepted and to_camel(name) not in left_out][:_MAX_UNKNOWN]
    if unknown:
        raise Invalid.fields(FieldError(name, unknown_field_message(name, known)) for name in unknown)


def _read_parameters(operation: Operation, sent: Mapping[str, Any]) -> dict[str, Any]:
    names = parameters_model(operation).model_fields
    return {name: as_integer(value) for name, value in sent.items() if name in names and value is not None}


def _read_body(operation: Operation, sent: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of the body by their names in a request. Null counts as absent: models send it for omitted
    fields."""
    if operation.body is None:
        return {}
    parameters, names = parameters_model(operation).model_fields, body_names(operation)
    own = {name: each for name, each in sent.items() if name not in parameters and each is not None}
    aliases = {name: names.get(name, to_camel(name) if "_" in name else name) for name in own}
    twice = [name for name, alias in aliases.items() if name != alias and alias in own]
    if twice:
        raise Invalid.fields(FieldError(name, f"is given twice: also as {aliases[name]}") for name in twice)
    return {aliases[name]: as_integer(each) for name, each in own.items()}


def read_key(arguments: Mapping[str, Any]) -> str | None:
    """Return the key under which a call may be repeated. Raises Invalid for a key that the API refuses too."""
    key = arguments.get(KEY)
    if key is None:
        return None
    if not isinstance(key, str):
        raise Invalid.field(KEY, "must be a string")
    from cupel_core.store import idempotency  # Only calls with a key need it.

    return idempotency.check_key(key, KEY)
