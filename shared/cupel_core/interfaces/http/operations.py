"""Serves operations as routes of the HTTP API: arguments come from the request, and the result is the response.

Powertools validates the arguments by a signature that is derived here from that of the operation's function.
"""

import base64
import inspect
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from functools import cache
from http import HTTPStatus
from typing import Annotated, Any, get_args
from urllib.parse import parse_qs

import orjson
from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.openapi.params import Body, Header, Query
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2
from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic.alias_generators import to_camel

from cupel_core.base.clock import utc_now
from cupel_core.base.errors import FieldError, Invalid
from cupel_core.base.paging import Entry, Page, fill_page
from cupel_core.base.preconditions import UNCONDITIONAL, Precondition
from cupel_core.contract.common import ResponseModel
from cupel_core.contract.operation import (
    Answered,
    Call,
    HttpRequest,
    Listed,
    Operation,
    Ranged,
    Rendered,
    Revalidated,
    Tagged,
    Text,
)
from cupel_core.contract.payloads import MAX_PAGE_BYTES, bounded_record, payload_bytes
from cupel_core.contract.query import Parameter, parameter_of
from cupel_core.domain.access import AccessRole, Caller
from cupel_core.interfaces.gateway.caller import caller
from cupel_core.interfaces.gateway.requests import host_of
from cupel_core.store import idempotency

CONTENT_TYPE = "application/json"
IF_MATCH = Annotated[
    str | None,
    Header(
        alias="If-Match",
        min_length=1,
        max_length=1_000,
        description="`ETag` of the state that the change is based on; 412 if it is not the current one",
    ),
]
_NOBODY = Caller("", AccessRole.VIEWER, "")
_NOT_MODIFIED = {"statusCode": HTTPStatus.NOT_MODIFIED.value, "body": "", "isBase64Encoded": False}
_KEPT = {"Cache-Control": "private, no-cache"}
_request: ContextVar[APIGatewayProxyEventV2] = ContextVar("request")
_tag: ContextVar[Tagged[Any] | Revalidated[Any] | None] = ContextVar("tag", default=None)
_added: set[tuple[APIGatewayHttpResolver, str]] = set()


def add_route(app: APIGatewayHttpResolver, operation: Operation) -> None:
    if (app, operation.id) in _added:
        return
    _added.add((app, operation.id))
    register = app.route(
        operation.path.replace("{", "<").replace("}", ">"),
        method=operation.method,
        operation_id=operation.id,
        summary=operation.summary,
        description=operation.description or f"{operation.summary}.",
        tags=[operation.tag],
        status_code=operation.status,
        responses=_documented(operation),
    )
    register(_handler(operation))


def resolve(app: APIGatewayHttpResolver, event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    _request.set(APIGatewayProxyEventV2(event))
    _tag.set(None)
    response = app.resolve(event, context)
    tagged = _tag.get()
    if tagged is None or response["statusCode"] >= HTTPStatus.MULTIPLE_CHOICES:
        return response
    response = {**response, "headers": {**response["headers"], "ETag": tagged.tag}}
    is_known = isinstance(tagged, Revalidated) and _is_read(event) and _http(_request.get()).knows(tagged.tag)
    return response | _NOT_MODIFIED if is_known else response


def check_query(operation: Operation, sent: Iterable[str]) -> None:
    """Raise Invalid, naming every sent query parameter that the operation does not have."""
    known = query_names(operation)
    accepted = f"it accepts {', '.join(known)}" if known else "it accepts none"
    errors = [
        FieldError(name, f"is not a query parameter of {operation.id}; {accepted}")
        for name in sent
        if name not in known
    ]
    if errors:
        raise Invalid.fields(errors)


def query_names(operation: Operation) -> tuple[str, ...]:
    found = ((each, parameter_of(each.annotation)) for each in operation.arguments)
    return tuple(
        name_of(operation, each, parameter) for each, parameter in found if parameter and not parameter.is_header
    )


def name_of(operation: Operation, argument: inspect.Parameter, parameter: Parameter) -> str:
    """Return the parameter's name in a request; OpenAI's names are in snake case."""
    return parameter.name or (argument.name if operation.is_of_openai else to_camel(argument.name))


def _handler(operation: Operation) -> Callable[..., Response[Any]]:
    """Return the route's function. It has no return annotation, by which Powertools would validate the result again."""
    unsplit = [
        (each.name, name_of(operation, each, parameter))
        for each in operation.arguments
        if (parameter := parameter_of(each.annotation)) and not parameter.is_split
    ]

    def handle(if_match: str | None = None, **values: Any) -> Response[Any]:
        for argument, name in unsplit:
            if values[argument]:
                values[argument] = _unsplit_values(name)
        result = operation.function(_call(operation, if_match), **values)
        return _respond(operation.status, result, values.get("limit"))

    parameters = [_as_parameter(operation, each) for each in operation.arguments]
    if operation.if_match:
        parameters.append(_keyword("if_match", IF_MATCH, None))
    handle.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    handle.__annotations__ = {each.name: each.annotation for each in parameters}
    handle.__name__ = operation.function.__name__
    return handle


def _keyword(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)


def _as_parameter(operation: Operation, argument: inspect.Parameter) -> inspect.Parameter:
    annotation, parameter = argument.annotation, parameter_of(argument.annotation)
    if parameter is not None:
        where = Header if parameter.is_header else Query
        name = name_of(operation, argument, parameter)
        alias = None if name == argument.name else name
        note = where(alias=alias, description=parameter.description, **parameter.constraints)
        kind, *others = (each for each in get_args(annotation) if each is not parameter)
        annotation = Annotated[kind, *others, note]
    elif argument.name == "body" and argument.default is not inspect.Parameter.empty:
        annotation = Annotated[annotation, Body()]
    return _keyword(argument.name, annotation, argument.default)


def _unsplit_values(name: str) -> list[str]:
    """Return the values of a repeatable parameter as they were sent; Powertools splits them at commas."""
    return parse_qs(_request.get().raw_query_string, keep_blank_values=True).get(name, [])


def _call(operation: Operation, if_match: str | None) -> Call:
    request = _request.get()
    if operation.is_public:
        return Call(_NOBODY, utc_now(), http=_http(request))
    who = caller(request)
    precondition = UNCONDITIONAL if if_match is None else Precondition.parse(if_match)
    key = idempotency.read_key(request.headers) if operation.replay else None
    return Call(who, utc_now(), precondition, key, _http(request), _may_wait(who))


def _http(request: APIGatewayProxyEventV2) -> HttpRequest:
    return HttpRequest(request.headers, lambda: _body(request.raw_event), lambda: _page_url(request))


def _may_wait(who: Caller) -> Callable[[float], Any]:
    def enter(seconds: float) -> Any:
        from cupel_core.workspace.access.waiting import may_wait  # Few requests wait.

        return may_wait(who, seconds)

    return enter


def _body(event: dict[str, Any]) -> bytes:
    body = event.get("body") or ""
    return base64.b64decode(body) if event.get("isBase64Encoded") else body.encode()


def _page_url(request: APIGatewayProxyEventV2) -> str:
    host, context = host_of(request.headers), request.raw_event["requestContext"]
    if context.get("domainName", "").endswith(".localhost"):
        # The embedded cloud serves every API below a separate path, which the function does not receive.
        return f"http://{host}/_aws/execute-api/{context['apiId']}/{context['stage']}"
    return f"{request.headers.get('x-forwarded-proto', 'https')}://{host}"


def _is_read(event: dict[str, Any]) -> bool:
    return bool(event["requestContext"]["http"]["method"] == "GET")


def _respond(status: int, result: Any, limit: int | None) -> Response[Any]:
    match result:
        case None:
            return Response(HTTPStatus.NO_CONTENT)
        case Tagged(body, _):
            _tag.set(result)
            return _respond(status, body, limit)
        case Revalidated(body, _, is_kept):
            _tag.set(result)
            response = _respond(status, body, limit)
            response.headers.update(_KEPT if is_kept else {})
            return response
        case Answered(body, own_status, location, headers):
            response = _respond(own_status, body, limit)
            response.headers.update({**headers, **({"Location": location} if location else {})})
            return response
        case Text(media_type, text, headers):
            return Response(status, media_type, text, headers=dict(headers))
    return Response(status, CONTENT_TYPE, _to_json(result, limit).decode())


def _to_json(result: Any, limit: int | None) -> bytes:
    match result:
        case Rendered(json):
            return json
        case Listed(source, render) if isinstance(source, Page) and not source.cursors:
            items = [bounded_record(render(each)) for each in source.items]
            return _page(items, "nextCursor", source.next_cursor)
        case Listed(source, render):
            # A page has as many items as were requested, even if the operation has no limit.
            most = len(source.items) if isinstance(source, Page) else limit or 0
            page = _fill(result.entries(), most, render)
            return _page(page.items, "nextCursor", page.next_cursor)
        case Ranged(entries, own_limit, render):
            page = _fill(entries, own_limit, render)
            return _page(page.items, "nextIndex", None if page.next_cursor is None else int(page.next_cursor))
        case ResponseModel():
            return bounded_record(result)
    return orjson.dumps(result)


def _page(items: Iterable[bytes], name: str, following: str | int | None) -> bytes:
    return b'{"items":[%b],"%b":%b}' % (b",".join(items), name.encode(), orjson.dumps(following))


def _fill(entries: Iterable[Entry[Any]], limit: int, render: Callable[[Any], Any]) -> Page[bytes]:
    """Return a page of at least one rendered item, and read no more entries than it needs."""
    rendered = (entry.map(lambda item: bounded_record(render(item))) for entry in entries)
    return fill_page(rendered, limit, payload_bytes, MAX_PAGE_BYTES)


@cache
def _documented(operation: Operation) -> dict[int, Any]:
    found: dict[int, Any] = {}
    for status, description in {operation.status: operation.returns, **operation.also}.items():
        found[status] = {"description": description}
        if status != HTTPStatus.NO_CONTENT:
            texts = {each: {"schema": {"type": "string"}} for each in operation.texts}
            found[status]["content"] = {CONTENT_TYPE: {"model": operation.response}, **texts}
    return found
