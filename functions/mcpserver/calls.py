"""Calls tools."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import orjson

from cupel_core.base.errors import AppError, Forbidden
from cupel_core.contract.common import ResponseModel
from cupel_core.interfaces.gateway.auditing import Author, record_change
from cupel_core.interfaces.gateway.problems import from_unexpected
from cupel_core.interfaces.gateway.validation import parse
from cupel_core.store.clients import AWS_ERRORS
from mcpserver.problems import problem_of
from mcpserver.registry import McpTool, ToolEffect
from mcpserver.request import MAX_RESULT_BYTES, ToolRequest
from mcpserver.results import dump, fit


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
    return {"content": [_text(problem_of(error, request.id, tool))], "isError": True}


def _text(content: dict[str, Any]) -> dict[str, str]:
    return {"type": "text", "text": orjson.dumps(content).decode()}
