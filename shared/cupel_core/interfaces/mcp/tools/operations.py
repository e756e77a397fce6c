from typing import Annotated, Any

from pydantic import Field

from cupel_core.base.errors import FieldError, Forbidden, Invalid, NotFound
from cupel_core.contract.operation import Operation, ToolGroup, operation_id
from cupel_core.domain.text.near_names import unknown_field_message
from cupel_core.interfaces.mcp.calls import View, carry_out
from cupel_core.interfaces.mcp.exceptions import check_result_fields, refusal
from cupel_core.interfaces.mcp.models import Arguments, ResultModel, ToolResult, UntrustedResult
from cupel_core.interfaces.mcp.registry import ToolEffect, tool
from cupel_core.interfaces.mcp.request import ToolRequest
from cupel_core.interfaces.mcp.search import search
from cupel_core.interfaces.mcp.selection import check_paths, fields_of
from cupel_core.interfaces.routes import ROUTES, load

_MAX_KB = 28
"""The longest description of an operation has 24 KB."""
_DESCRIBED_DEPTH = 2
_MAX_RESULT_BYTES = 16_000
_MAX_NAME_LENGTH = 100


class SearchOperations(Arguments):
    query: Annotated[str, Field(strict=True, min_length=1, max_length=300, description="Words, such as `compare runs`")]
    limit: Annotated[int, Field(strict=True, ge=1, le=100)] = 10


class OperationBrief(ResultModel):
    id: str
    method: str
    path: str
    summary: str
    role: Annotated[str | None, Field(description="The lowest role that may call it")] = None


class FoundOperations(ToolResult):
    items: Annotated[list[OperationBrief], Field(description="The best first")]


@tool(
    None,
    title="Search operations",
    description="Finds operations of the API by words. call_operation describes and calls one.",
    max_kb=6,
    is_default=True,
)
def search_operations(request: ToolRequest, arguments: SearchOperations) -> FoundOperations:
    names = OperationBrief.model_fields
    found = search(arguments.query, arguments.limit)
    return FoundOperations(items=[OperationBrief(**{name: each[name] for name in names}) for each in found])


class CallOperation(Arguments):
    operation: Annotated[
        str, Field(strict=True, min_length=1, max_length=_MAX_NAME_LENGTH, description="Id, such as `listSchedules`")
    ]
    arguments: Annotated[
        dict[str, Any] | None,
        Field(max_length=100, description="By name; without them, the operation is described, not called"),
    ] = None
    fields: Annotated[
        list[Annotated[str, Field(strict=True, min_length=1, max_length=200)]] | None,
        Field(max_length=100, description="Only these fields of the result, such as `progress.completed`"),
    ] = None
    describe: Annotated[bool, Field(strict=True, description="Describe it, whatever the arguments")] = False


class CalledOperation(UntrustedResult):
    operation: str
    summary: Annotated[str | None, Field(description="Present in a description")] = None
    arguments: Annotated[dict[str, Any] | None, Field(description="The JSON schema of the arguments")] = None
    fields: Annotated[list[str] | None, Field(description="The fields of the result, or of each item")] = None
    result: Annotated[dict[str, Any] | None, Field(description="What the operation returned")] = None


@tool(
    None,
    title="Call an operation",
    description=(
        "Calls any operation of the API with the role of this token. Without `arguments` it returns the schema of the"
        " arguments and the fields of the result; read it before the first call. `{}` calls without arguments."
    ),
    max_kb=_MAX_KB,
    effect=ToolEffect.DESTROY,
    is_idempotent=False,
    calls_models=True,
    is_default=True,
)
def call_operation(request: ToolRequest, arguments: CallOperation) -> CalledOperation:
    found = _find(arguments.operation)
    if arguments.arguments is None or arguments.describe:
        return _describe(found)
    if arguments.fields is not None:
        paths = check_paths(arguments.fields)
        check_result_fields(found, paths)
        if paths:
            _check_known(found, paths)
    else:
        paths = found.tool.result.split() if found.tool else []
    _check_selection(found, request)
    view = View(fields_of(paths), _MAX_RESULT_BYTES, is_untrusted=False)
    return CalledOperation(operation=found.id, result=carry_out(found, request, arguments.arguments, view))


def _check_known(operation: Operation, paths: list[str]) -> None:
    """Raise Invalid for a path that the results of an operation never have, as it would select nothing."""
    from cupel_core.interfaces.mcp.schemas import field_paths  # pydantic makes schemas slowly.

    known = [each.partition(": ")[0] for each in field_paths(operation)]
    unknown = [path for path in paths if not any(_is_on_path(path, each) for each in known)]
    if unknown and known:
        names = list(dict.fromkeys(each.partition(".")[0] for each in known))
        raise Invalid.fields(FieldError("fields", f"{each}: {unknown_field_message(each, names)}") for each in unknown)


def _is_on_path(path: str, known: str) -> bool:
    """Return whether a path is that of a known field, surrounds it, or is within it, such as a map's key."""
    return path == known or known.startswith(f"{path}.") or path.startswith(f"{known}.")


def _check_selection(operation: Operation, request: ToolRequest) -> None:
    """Raise Forbidden for a change by a tool of another group than the address selects, or by none of the tools."""
    if request.groups is None or request.groups >= frozenset(ToolGroup) or operation.changes_nothing:
        return
    if operation.tool is None or operation.tool.group not in request.groups:
        raise Forbidden(f"{operation.id} changes something, and is not among the tools that `?tools=` selects")


def _find(name: str) -> Operation:
    route = ROUTES.get(name) or ROUTES.get(operation_id(name))
    if route is None:
        raise NotFound("there is no operation with this id; search_operations finds them")
    if (reason := refusal(route)) is not None:
        raise Forbidden(f"{route.id} cannot be called through MCP: {reason}")
    return load(route)


def _describe(operation: Operation) -> CalledOperation:
    from cupel_core.interfaces.mcp.schemas import field_paths, full_arguments  # pydantic makes schemas slowly.

    text = f"{operation.summary}. {operation.description or ''}".strip()
    schema = full_arguments(operation)
    return CalledOperation(
        operation=operation.id, summary=text, arguments=schema, fields=field_paths(operation, _DESCRIBED_DEPTH)
    )
