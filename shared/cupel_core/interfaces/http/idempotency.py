"""Repeats the responses of operations that create something, by their Idempotency-Keys.

The status and the `Location` of a response are stored; the created object is read again when the request is repeated.
An `@operation` declares whether it takes a key and what it answers then.
"""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any

import orjson
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2

from cupel_core.base.clock import utc_now
from cupel_core.base.errors import Conflict
from cupel_core.base.ids import new_id
from cupel_core.contract.operation import Operation, Replay
from cupel_core.interfaces.gateway import locations
from cupel_core.interfaces.gateway.caller import caller
from cupel_core.store import idempotency, idempotency_keys
from cupel_core.store.idempotency_keys import IdempotencyItem

MAX_STORED_BYTES = 300_000
"""An item has at most 400 KB."""

type Response = dict[str, Any]


def idempotency_key(request: APIGatewayProxyEventV2) -> str | None:
    return idempotency.read_key(request.headers)


def respond_once(
    operation: Operation,
    request: APIGatewayProxyEventV2,
    respond: Callable[[], Response],
    read: Callable[[str], Response],
) -> Response:
    """Return the response to a request, which is not carried out again if it is repeated with the same key.

    `read` returns the object at a path. Runs and rescores store their own answers, together with the objects that they
    create.
    """
    key = idempotency_key(request) if operation.replay else None
    if key is None or operation.replay is Replay.STARTED:
        return respond()
    workspace, now = caller(request).workspace, utc_now()
    content = f"{operation.id}\n{request.path}\n{request.body or ''}"
    answer = idempotency.find_answer(workspace, key, content, now)
    if answer is not None:
        return _repeated(answer, read)
    reservation = idempotency.reserve(workspace, key, content, new_id("req"), now)
    with idempotency_keys.applying(reservation):
        response = respond()
    if response["statusCode"] < HTTPStatus.MULTIPLE_CHOICES:
        idempotency_keys.answer(reservation, _to_answer(operation, request.path, response))
    else:
        was_refused = response["statusCode"] < HTTPStatus.INTERNAL_SERVER_ERROR
        idempotency_keys.release(reservation, even_if_applied=was_refused)
    return response


def _to_answer(operation: Operation, path: str, response: Response) -> str:
    """Return the stored answer. It has the body only if that cannot be read again: the body may be erased later."""
    location = locations.location_of(operation, path, response)
    answer = {"status": response["statusCode"], "replay": operation.replay, "location": location}
    if operation.replay is Replay.RESPONSE and len(response["body"].encode()) <= MAX_STORED_BYTES:
        answer["body"] = response["body"]
    return orjson.dumps(answer).decode()


def _repeated(item: IdempotencyItem, read: Callable[[str], Response]) -> Response:
    answer = orjson.loads(item.answer or "{}")
    location = {"Location": answer["location"]} if answer["location"] else {}
    if "body" in answer:
        headers = {"Content-Type": "application/json", **location}
        return {"statusCode": answer["status"], "headers": headers, "body": answer["body"], "isBase64Encoded": False}
    if answer["replay"] != Replay.CREATED:
        raise Conflict(
            f"the first request with this Idempotency-Key succeeded and created {answer['location']}, "
            "but its response is not repeated, because it had a secret or was too large"
        )
    current = read(answer["location"])
    if current["statusCode"] != HTTPStatus.OK:
        return current
    return {**current, "statusCode": answer["status"], "headers": current["headers"] | location}
