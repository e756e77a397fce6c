"""Responses as they are sent: a model is validated when it is made, and then becomes JSON once."""

import inspect
from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Any, NamedTuple, get_args, get_origin

import orjson
from aws_lambda_powertools.event_handler import Response

from cupel_core.contract.common import ResponseModel

CONTENT_TYPE = "application/json"


class Rendered[M: ResponseModel](NamedTuple):
    """The JSON of a response model, or of a page whose items were rendered one by one."""

    json: bytes


def render_model(model: ResponseModel) -> bytes:
    return model.__pydantic_serializer__.to_json(model, by_alias=True)


def rendering(function: Callable[..., Any], status: int) -> Callable[..., Response[Any]]:
    """The handler with its result as JSON. Without a return annotation, by which Powertools would validate the result
    again, and then encode it twice."""

    @wraps(function)
    def respond(*args: Any, **arguments: Any) -> Response[Any]:
        result = function(*args, **arguments)
        if not isinstance(result, Response):
            return Response(status, CONTENT_TYPE, _to_json(result))
        if isinstance(result.body, ResponseModel):
            result.body = _to_json(result.body)
        return result

    signature = inspect.signature(function).replace(return_annotation=inspect.Signature.empty)
    respond.__signature__ = signature  # type: ignore[attr-defined]
    return respond


def _to_json(result: Any) -> str:
    match result:
        case Rendered(json):
            return json.decode()
        case ResponseModel():
            return render_model(result).decode()
    return orjson.dumps(result).decode()


def response_type(function: Callable[..., Any]) -> Any:
    """What a handler responds with, by its annotation: a model, or None for a response without a body."""
    annotation = inspect.signature(function).return_annotation
    return get_args(annotation)[0] if get_origin(annotation) in (Response, Rendered) else annotation


def documented(status: int, description: str, kind: Any) -> dict[int, Any]:
    """The response of a handler, for the OpenAPI document."""
    content = {} if status == HTTPStatus.NO_CONTENT else {"content": {CONTENT_TYPE: {"model": kind}}}
    return {status: {"description": description, **content}}
