"""Lists the tools of a caller, and calls them."""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import orjson

from cupel_core.contract.common import ResponseModel
from cupel_core.domain.access import AccessRole
from cupel_core.errors import AppError, FieldError, Forbidden, Invalid
from cupel_core.gateway.auditing import Author, record_change
from cupel_core.gateway.problems import document, from_unexpected
from cupel_core.gateway.validation import parse
from cupel_core.store.clients import AWS_ERRORS
from mcpserver.models import arguments_schema, result_schema
from mcpserver.registry import McpTool, ToolEffect, ToolGroup, list_all_tools
from mcpserver.request import MAX_RESULT_BYTES, ToolRequest
from mcpserver.results import dump, fit

_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def list_tools(request: ToolRequest) -> list[dict[str, Any]]:
    return _described(request.caller.role, request.groups)


@cache
def _described(role: AccessRole, groups: frozenset[ToolGroup]) -> list[dict[str, Any]]:
    return [_describe(each) for each in list_all_tools() if each.group in groups and each.operation.permits(role)]


@cache
def _describe(tool: McpTool) -> dict[str, Any]:
    """As `tools/list` has it."""
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": arguments_schema(tool.arguments),
        "outputSchema": result_schema(tool.result),
        "annotations": {"title": tool.title, **tool.effect.annotations},
    }


def call_tool(tool: McpTool, request: ToolRequest, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The result as JSON and as text, or what is wrong, which the model may correct."""
    max_bytes = min(tool.max_bytes, MAX_RESULT_BYTES)
    try:
        result = _carry_out(tool, replace(request, max_result_bytes=max_bytes), arguments)
        content = fit(result, max_bytes)
    except AppError as error:
        return _failed(tool, error, request)
    except AWS_ERRORS as error:
        return _failed(tool, from_unexpected(error), request)
    return {"content": [_text(content)], "structuredContent": content, "isError": False}


def _carry_out(tool: McpTool, request: ToolRequest, arguments: Mapping[str, Any]) -> Any:
    """The tool's result. Changes are recorded, and refusals of changes because of the role."""
    try:
        _check_permission(tool, request)
        result = tool.function(request, parse(tool.arguments, arguments, ""))
    except Exception as error:
        _audit(tool, request, arguments, error)
        raise
    _audit(tool, request, arguments, result)
    return result


def _check_permission(tool: McpTool, request: ToolRequest) -> None:
    if tool.group not in request.groups:
        raise Forbidden(f"{tool.name} is not among the tools that the address selects with `?tools=`")
    role = request.caller.role
    if not tool.operation.permits(role):
        raise Forbidden(f"{tool.name} requires the role {tool.operation.minimum_role}; this token has {role}")


def _audit(tool: McpTool, request: ToolRequest, arguments: Mapping[str, Any], outcome: Any) -> None:
    if tool.effect is ToolEffect.READ:
        return
    made = dump(outcome) if isinstance(outcome, ResponseModel) else outcome
    record_change(tool.operation, Author(request.id, request.caller, request.now), arguments, made)


def _failed(tool: McpTool, error: AppError, request: ToolRequest) -> dict[str, Any]:
    if isinstance(error, Invalid):
        error = Invalid(error.detail, tuple(_of_argument(tool, each) for each in error.errors))
    return {"content": [_text(document(error, request.id))], "isError": True}


def _of_argument(tool: McpTool, error: FieldError) -> FieldError:
    """Capabilities name fields as REST does; arguments are in snake case."""
    first, *rest = error.field.split(".")
    name = _WORD.sub("_", first).lower()
    return FieldError(".".join([name, *rest]), error.message) if name in tool.arguments.model_fields else error


def _text(content: dict[str, Any]) -> dict[str, str]:
    return {"type": "text", "text": orjson.dumps(content).decode()}
