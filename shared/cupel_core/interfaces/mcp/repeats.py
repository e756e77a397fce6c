"""Calls that are repeated with their key: what they create is created once."""

from collections.abc import Callable
from typing import Any, Protocol

import orjson

from cupel_core.base.errors import AppError
from cupel_core.base.ids import new_id
from cupel_core.interfaces.mcp.models import CreatingArguments
from cupel_core.interfaces.mcp.request import ToolRequest
from cupel_core.store import idempotency, idempotency_keys

_FIRST_INTERNAL_ERROR = 500


class Created(Protocol):
    @property
    def id(self) -> Any: ...


def once[R: Created](
    request: ToolRequest,
    operation_id: str,
    arguments: CreatingArguments,
    create: Callable[[], R],
    read: Callable[[str], R],
) -> R:
    """What `create` makes; if an earlier call with the same key has made it, what `read` finds of its id now.

    Only the id is stored with the key: the rest may be content that is to be erased.
    """
    key = arguments.idempotency_key
    if key is None:
        return create()
    content = f"tool of {operation_id}\n{arguments.model_dump_json(exclude={'idempotency_key'})}"
    answered = idempotency.find_answer(request.workspace, key, content, request.now)
    if answered is not None:
        return read(orjson.loads(answered.answer or "{}")["id"])
    reservation = idempotency.reserve(request.workspace, key, content, new_id("req"), request.now)
    try:
        with idempotency_keys.applying(reservation):
            made = create()
    except AppError as error:
        idempotency_keys.release(reservation, even_if_applied=error.status < _FIRST_INTERNAL_ERROR)
        raise
    idempotency_keys.answer(reservation, orjson.dumps({"id": made.id}).decode())
    return made
