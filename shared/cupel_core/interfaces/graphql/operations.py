"""Resolves the fields that are derived from operations: arguments of GraphQL become those of the operation's function.

The same function answers the operation over HTTP, so both check and return the same.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import cache, partial
from typing import Annotated, Any, get_args

import orjson
from pydantic import Field, TypeAdapter, ValidationError
from pydantic.alias_generators import to_camel

from cupel_core.base.errors import FieldError, Invalid, NotFound
from cupel_core.base.paging import Entry, Page, fill_page
from cupel_core.contract.common import ResponseModel
from cupel_core.contract.operation import (
    Answered,
    Call,
    Listed,
    Operation,
    Ranged,
    Rendered,
    Replay,
    Revalidated,
    Tagged,
)
from cupel_core.contract.query import parameter_of
from cupel_core.domain.text.validation_messages import error_message
from cupel_core.interfaces.graphql.inputs import check_cursor, check_limit, check_offset, connection, parse
from cupel_core.interfaces.graphql.lists import first_items
from cupel_core.interfaces.graphql.loaded import Loaded
from cupel_core.interfaces.graphql.request import Request
from cupel_core.interfaces.graphql.root_fields import RootField
from cupel_core.interfaces.routes import find_operation, load
from cupel_core.store import idempotency

_MAX_NAME_LENGTH = 500
"""The HTTP API refuses longer paths."""
_PAGE = {"limit", "offset", "first", "after"}


def resolve_with(field: RootField) -> Callable[..., Any]:
    return partial(_resolve, field, load(field.route))


def _resolve(field: RootField, operation: Operation, request: Request, _: None, /, **arguments: Any) -> Any:
    if field.override.prepare:
        arguments = _PREPARATIONS[field.override.prepare](arguments)
    key = arguments.pop("idempotency_key", None)
    call = Call(
        request.caller,
        request.now,
        idempotency_key=_idempotency_key(field, operation, request, key),
        may_wait=partial(_may_wait, request),
        selects_fields=True,
    )
    try:
        with _waiting(operation, request):
            if operation.is_list:
                return _list(field, operation, request, call, arguments)
            result = operation.function(call, **_values(field, operation, arguments))
    except field.override.absent:
        if field.may_be_absent:
            return None
        raise
    if field.override.then:
        following = find_operation(field.override.then)
        result = following.function(call, **{name: arguments[name] for name in following.path_names})
    return _to_value(result, request)


def _idempotency_key(field: RootField, operation: Operation, request: Request, key: str | None) -> str | None:
    """Return the key, unless the operation stores its answer with the object that it creates.

    Raises Invalid if the key would create something once over HTTP and again by a mutation.
    """
    if operation.replay is None:
        return None
    if operation.replay is not Replay.STARTED:
        if request.idempotency_key is not None:
            message = f"{field.name} would be repeated despite the key; leave it out, or send it over HTTP"
            raise Invalid.field(idempotency.HEADER, message)
        return None
    own = idempotency.check_key(request.idempotency_key)
    return key or own


def _waiting(operation: Operation, request: Request) -> AbstractContextManager[Any]:
    if not operation.calls_others:
        return nullcontext()
    from cupel_core.workspace.access.waiting import waiting  # Few requests wait.

    return waiting(request.caller)


def _may_wait(request: Request, seconds: float) -> AbstractContextManager[bool]:
    from cupel_core.workspace.access.waiting import may_wait  # Few requests wait.

    return may_wait(request.caller, seconds)


def _values(field: RootField, operation: Operation, arguments: Mapping[str, Any]) -> dict[str, Any]:
    given = {name: value for name, value in arguments.items() if value is not None}
    _check_path(operation, given)
    values = {each.name: _value(field, each, given[each.name]) for each in operation.arguments if each.name in given}
    if operation.body is not None:
        values["body"] = _body(field, operation, given)
    return values


def _check_path(operation: Operation, given: Mapping[str, Any]) -> None:
    """Raise NotFound for a value that no path of a request can contain."""
    for name in operation.path_names:
        if not 1 <= len(given[name]) <= _MAX_NAME_LENGTH:
            raise NotFound(f"nothing has such an id or name: it must have 1 to {_MAX_NAME_LENGTH} characters")


def _body(field: RootField, operation: Operation, given: Mapping[str, Any]) -> Any:
    if not field.override.is_flat:
        return parse(operation.types["body"], given.get("body", {}), field.override.error_prefix)
    body = {to_camel(name): value for name, value in given.items() if name not in operation.path_names}
    try:
        return parse(operation.types["body"], body, "")
    except Invalid as refusal:
        errors = (FieldError(_published(field, each.field), each.message) for each in refusal.errors)
        raise Invalid.fields(errors) from None


def _published(field: RootField, path: str) -> str:
    first, dot, rest = path.partition(".")
    return f"{field.override.renamed.get(first, first)}{dot}{rest}"


def _value(field: RootField, argument: inspect.Parameter, value: Any) -> Any:
    if argument.name == "body" or argument.annotation is str:
        return value
    try:
        return _adapter(argument.annotation).validate_python(value)
    except ValidationError as error:
        name = field.override.renamed.get(argument.name) or to_camel(argument.name)
        raise Invalid.fields(FieldError(name, error_message(each)) for each in error.errors()) from None


@cache
def _adapter(annotation: Any) -> TypeAdapter[Any]:
    kind, *notes = get_args(annotation) if hasattr(annotation, "__metadata__") else (annotation,)
    parameter = parameter_of(annotation)
    others = [each for each in notes if each is not parameter]
    if parameter is not None:
        others.append(Field(**parameter.constraints))
    return TypeAdapter(Annotated[kind, *others] if others else kind)


def _list(field: RootField, operation: Operation, request: Request, call: Call, arguments: dict[str, Any]) -> Any:
    page = {name: value for name, value in arguments.items() if name in _PAGE}
    values = _values(field, operation, {name: value for name, value in arguments.items() if name not in _PAGE})

    def read(limit: int, cursor: str | None) -> Page[Callable[[], Any]]:
        listed: Listed[Any] = operation.function(call, limit=limit, cursor=cursor, **values)
        found = listed.source if isinstance(listed.source, Page) else fill_page(listed.source, limit)
        return found.map(lambda item: partial(listed.render, item))

    if field.override.is_connection:
        found = read(check_limit(page["first"], "first"), check_cursor(page.get("after")))
        return connection(found.map(lambda render: _to_value(render(), request)))
    found = first_items(read, check_limit(page["limit"]), check_offset(page["offset"]))
    return found.map(lambda render: _to_value(render(), request))


def _to_value(result: Any, request: Request) -> Any:
    match result:
        case None:
            return True
        case Tagged() | Revalidated() | Answered():
            return _to_value(result.body, request)
        case Rendered(json):
            return orjson.loads(json)
        case Ranged(entries, limit, render):
            return _range(entries, limit, lambda item: _to_value(render(item), request))
        case ResponseModel():
            return _loaded(result, request)
    return result


def _range(entries: Iterable[Entry[Any]], limit: int, render: Callable[[Any], Any]) -> dict[str, Any]:
    page = fill_page(entries, limit).map(render)
    return {"items": list(page.items), "nextIndex": None if page.next_cursor is None else int(page.next_cursor)}


def _loaded(model: ResponseModel, request: Request) -> Loaded:
    run = getattr(getattr(model, "run", model), "stored_run", None)
    if run is not None:
        request.runs[run.id] = run
    return Loaded(model, run)


def _expand_start(arguments: dict[str, Any]) -> dict[str, Any]:
    body = dict(arguments["body"])
    key = body.pop("idempotencyKey", None)
    idempotency.check_key(key, "input.idempotencyKey")
    short = {name: body.pop(name) for name in ("temperature", "maxTurns") if name in body}
    config = {"config": {**(body.get("config") or {}), **short}} if short else {}
    return {**arguments, "body": {**body, **config}, "idempotency_key": key}


def _choose_run_id(arguments: dict[str, Any]) -> dict[str, Any]:
    given = [each for each in arguments.values() if each is not None]
    if len(given) != 1:
        raise Invalid.field("id", "exactly one of id and runId is required")
    return {"run_id": given[0]}


def _name_compared_runs(arguments: dict[str, Any]) -> dict[str, Any]:
    options = {name: value for name, value in (arguments.get("options") or {}).items() if value is not None}
    body: dict[str, Any] = {name: options[name] for name in ("metric", "margin", "alpha") if name in options}
    for side in ("baseline", "comparison"):
        names = {name: f"{side}{name.title()}" for name in ("targets", "prompts")}
        chosen = {name: options[option] for name, option in names.items() if option in options}
        body[side] = {"runId": arguments[f"{side}_run_id"], **chosen}
    return {"body": body}


_PREPARATIONS = {
    "choose_run_id": _choose_run_id,
    "expand_start": _expand_start,
    "name_compared_runs": _name_compared_runs,
}
