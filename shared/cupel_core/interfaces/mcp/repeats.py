"""Carries out calls with a key once, and repeats their results."""

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any

import orjson

from cupel_core.base.errors import AppError, Conflict
from cupel_core.base.ids import new_id
from cupel_core.contract.operation import Call, Operation, Replay
from cupel_core.interfaces.gateway.locations import fill
from cupel_core.interfaces.mcp.outcomes import names_of
from cupel_core.interfaces.mcp.request import ToolRequest
from cupel_core.interfaces.routes import load, routes_at
from cupel_core.store import idempotency, idempotency_keys

_MAX_STORED_BYTES = 300_000
"""An item has at most 400 KB."""


def call_once(
    operation: Operation, request: ToolRequest, key: str, sent: Mapping[str, Any], call_function: Callable[[], Any]
) -> Any:
    """Call the operation; if an earlier call with the same key has succeeded, return the object that it created.

    The object is read again where possible, since its content may have to be erased.
    """
    workspace, content = request.workspace, f"tool of {operation.id}\n{_as_text(sent)}"
    answered = idempotency.find_answer(workspace, key, content, request.now)
    if answered is not None:
        return _repeated(request, orjson.loads(answered.answer or "{}"))
    reservation = idempotency.reserve(workspace, key, content, new_id("req"), request.now)
    try:
        with idempotency_keys.applying(reservation):
            result = call_function()
    except AppError as error:
        was_refused = error.status < HTTPStatus.INTERNAL_SERVER_ERROR
        idempotency_keys.release(reservation, even_if_applied=was_refused)
        raise
    idempotency_keys.answer(reservation, _to_answer(operation, sent, result))
    return result


def _as_text(sent: Mapping[str, Any]) -> str:
    given = {name: each for name, each in sent.items() if each is not None}
    return orjson.dumps(given, option=orjson.OPT_SORT_KEYS).decode()


def _to_answer(operation: Operation, sent: Mapping[str, Any], result: Any) -> str:
    made = names_of(result)
    if operation.replay is Replay.CREATED and operation.location:
        return orjson.dumps({"location": fill(operation.location, {**made, **sent})}).decode()
    json = orjson.dumps(made)
    if operation.replay is Replay.RESPONSE and len(json) <= _MAX_STORED_BYTES:
        return orjson.dumps({"body": made}).decode()
    return "{}"


def _repeated(request: ToolRequest, answer: dict[str, Any]) -> Any:
    if "body" in answer:
        return answer["body"]
    path = answer.get("location")
    if path is None:
        raise Conflict("the first call with this idempotency_key succeeded, but its result is not repeated")
    operation = load(routes_at(path)["GET"])
    return operation.function(Call(request.caller, request.now), **operation.parameters(path))
