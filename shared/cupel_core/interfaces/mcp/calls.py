"""Carries out operations for a model: with the caller's role, once per key, and recorded like requests."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import orjson

from cupel_core.base.errors import Forbidden
from cupel_core.base.paging import Entry, Page
from cupel_core.contract.common import ResponseModel
from cupel_core.contract.operation import (
    Call,
    Listed,
    Operation,
    Ranged,
    Rendered,
    Replay,
    Text,
)
from cupel_core.interfaces.gateway.auditing import Author, record_change
from cupel_core.interfaces.mcp.arguments import KEY, read_key, read_values
from cupel_core.interfaces.mcp.cuts import with_marked_maps
from cupel_core.interfaces.mcp.exceptions import LEFT_OUT_RESULTS, refusal
from cupel_core.interfaces.mcp.models import UNTRUSTED
from cupel_core.interfaces.mcp.outcomes import names_of, unwrapped
from cupel_core.interfaces.mcp.request import ToolRequest
from cupel_core.interfaces.mcp.results import fit_content
from cupel_core.interfaces.mcp.selection import Fields, select

_ENVELOPE_BYTES = 400
"""A list has this many bytes around its items: the notice and the cursor."""


class View(NamedTuple):
    fields: Fields
    max_bytes: int
    is_untrusted: bool

    @property
    def notice(self) -> dict[str, str]:
        return {"notice": UNTRUSTED} if self.is_untrusted else {}


def carry_out(operation: Operation, request: ToolRequest, arguments: Mapping[str, Any], view: View) -> dict[str, Any]:
    """Return the result of the operation, within its size. Changes are recorded, and refusals because of the role."""
    try:
        check_permission(operation, request)
        result, values = _carry_out(operation, request, arguments)
    except Exception as error:
        _record(operation, request, arguments, error)
        raise
    _record(operation, request, arguments, result)
    content = _content(result, view, values)
    for name in LEFT_OUT_RESULTS.get(operation.id, ()):
        content.pop(name, None)
    return content


def check_permission(operation: Operation, request: ToolRequest) -> None:
    if (reason := refusal(operation)) is not None:
        raise Forbidden(f"{operation.id} cannot be called through MCP: {reason}")
    role = request.caller.role
    if not operation.permits(role):
        raise Forbidden(f"{operation.id} requires the role {operation.minimum_role}; this token has {role}")


def _record(operation: Operation, request: ToolRequest, arguments: Mapping[str, Any], outcome: Any) -> None:
    if operation.changes_nothing:
        return
    made = outcome if isinstance(outcome, Exception) else names_of(outcome)
    record_change(operation, Author(request.id, request.caller, request.now), arguments, made)


def _carry_out(operation: Operation, request: ToolRequest, arguments: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    key = read_key(arguments) if operation.replay else None
    sent = {name: value for name, value in arguments.items() if not (operation.replay and name == KEY)}
    values = read_values(operation, sent)

    def call_function() -> Any:
        call = Call(request.caller, request.now, idempotency_key=key, may_wait=_may_wait(request))
        if not operation.changes_nothing:
            from cupel_core.interfaces.mcp.agreements import check_agreement  # Reading operations do not need it.

            check_agreement(operation, call, values)
        with _waiting(operation, request):
            return operation.function(call, **values)

    if key is None or operation.replay is Replay.STARTED:
        return call_function(), values
    from cupel_core.interfaces.mcp.repeats import call_once  # Only calls with a key need it.

    return call_once(operation, request, key, sent, call_function), values


def _may_wait(request: ToolRequest) -> Callable[[float], Any]:
    def enter(seconds: float) -> Any:
        from cupel_core.workspace.access.waiting import may_wait  # Few requests wait.

        return may_wait(request.caller, seconds)

    return enter


@contextmanager
def _waiting(operation: Operation, request: ToolRequest) -> Iterator[None]:
    if not operation.calls_others:
        yield
        return
    from cupel_core.workspace.access.waiting import waiting  # Few requests wait.

    with waiting(request.caller):
        yield


def _content(result: Any, view: View, values: Mapping[str, Any]) -> dict[str, Any]:
    match found := unwrapped(result):
        case None:
            return {"done": True}
        case Text(media_type, text):
            return fit_content({**view.notice, "mediaType": media_type, "text": text}, view.max_bytes, None)
        case Listed(source, render) if isinstance(source, Page) and not source.cursors:
            items = [select(_marked(render(each)), view.fields) for each in source.items]
            following = {"nextCursor": source.next_cursor} if source.next_cursor else {}
            # Items cut from the page could not be read later, as they have no cursors.
            return fit_content({**view.notice, "items": items, **following}, view.max_bytes, items)
        case Listed(_, render):
            return _list_content(found.entries(), values.get("limit"), render, view)
        case Ranged(entries, limit, render):
            content = _list_content(entries, limit, render, view)
            following = content.pop("nextCursor", None)
            return content | ({} if following is None else {"nextIndex": int(following)})
        case Rendered(json):
            found = orjson.loads(json)
    content = _marked(found)
    if not isinstance(content, dict):
        content = {"items": content}
    return fit_content({**view.notice, **select(content, view.fields)}, view.max_bytes, None)


def _marked(found: Any) -> Any:
    """Return the JSON of a response with its maps marked, because maps may lose keys when it is cut."""
    if isinstance(found, ResponseModel):
        return with_marked_maps(found, found.model_dump(mode="json", by_alias=True))
    return orjson.loads(orjson.dumps(found))


def _list_content(
    entries: Iterable[Entry[Any]], limit: int | None, render: Callable[[Any], Any], view: View
) -> dict[str, Any]:
    items: list[Any] = []
    content: dict[str, Any] = {**view.notice, "items": items}
    room = view.max_bytes - _ENVELOPE_BYTES
    for entry in entries:
        if entry.item is None or len(items) == limit:
            content["nextCursor"] = entry.cursor
            break
        item = select(_marked(render(entry.item)), view.fields)
        room -= 1 + len(orjson.dumps(item))
        if items and room < 0:
            content |= {"nextCursor": entry.cursor, "truncated": True}
            break
        items.append(item)
    return fit_content(content, view.max_bytes, items)
