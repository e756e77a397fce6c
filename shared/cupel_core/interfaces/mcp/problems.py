"""Writes problems with the names of tools and arguments, which a model can correct, and bounds them."""

import re
from functools import cache
from typing import Any

from cupel_core.base.errors import AppError, ConfirmationRequired, FieldError, Invalid
from cupel_core.contract.routes import Route
from cupel_core.domain.budgets.confirmation import confirmable_usd
from cupel_core.domain.budgets.money import limit_text
from cupel_core.domain.text.beginnings import beginning
from cupel_core.interfaces.gateway.problems import document
from cupel_core.interfaces.mcp.listing import read_tools
from cupel_core.interfaces.mcp.registry import AnyTool
from cupel_core.interfaces.routes import ROUTES

_MAX_TEXT_LENGTH = 300
_MAX_DETAIL_LENGTH = 600
"""The detail may be longer than a message: it explains a cost with its budget, and ends with what to send."""
_MAX_ERRORS = 10
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_CAMEL = re.compile(r"\b[a-z]+(?:[A-Z][a-z0-9]*)+\b")
_REQUEST = re.compile(r"\b(GET|POST|PUT|PATCH|DELETE) (/v1(?:/[\w.-]+)+)")
_PROVIDER = re.compile(r"PUT /v1/providers/([\w.-]+)")
"""The request that sets a missing key or an address, which the tool for providers does not set."""
_KEY = "Idempotency-Key"
_BODIES = ("config", "content")
"""The fields of these parts of bodies are arguments, or are in an argument of another name."""


def problem_of(error: AppError, request_id: str, tool: AnyTool | None = None) -> dict[str, Any]:
    """Return the refusal of a tool, or of a resource if there is no tool."""
    problem = document(error, request_id)
    problem.pop("estimate", None)
    if tool is not None:
        problem |= _in_words_of(tool, error, problem["detail"])
    problem["detail"] = beginning(problem["detail"], _MAX_DETAIL_LENGTH)
    if errors := problem.get("errors"):
        problem["errors"] = [
            {name: beginning(text, _MAX_TEXT_LENGTH) for name, text in each.items()} for each in errors[:_MAX_ERRORS]
        ]
        if len(errors) > _MAX_ERRORS:
            problem["moreErrors"] = len(errors) - _MAX_ERRORS
    return problem


def _in_words_of(tool: AnyTool, error: AppError, detail: str) -> dict[str, Any]:
    if isinstance(error, ConfirmationRequired):
        usd = confirmable_usd(error.estimate.total_usd)
        question = f"ask the user whether {limit_text(usd)} is acceptable, then send confirmed_usd of at least {usd}"
        return {"detail": f"{error.reason}; {question}", "expectedUsd": usd}
    errors = tuple(FieldError(_argument(tool, each.field), _words(tool, each.message)) for each in error.errors)
    if isinstance(error, Invalid) and errors:
        detail = Invalid.fields(errors[:_MAX_ERRORS]).detail
    shown = {"errors": [{"field": each.field, "message": each.message} for each in errors]} if errors else {}
    return {"detail": _words(tool, detail), **shown}


def _argument(tool: AnyTool, field: str) -> str:
    if field == _KEY:
        return "idempotency_key"
    parts = field.split(".")
    for parents in (parts, parts[1:] if parts[0] in _BODIES else []):
        for number in range(1, len(parents) + 1):
            name = _snake("_".join(parents[:number]))
            if name in tool.argument_names:
                return ".".join([name, *parents[number:]])
    if parts[0] == "content" and "changes" in tool.argument_names:
        return ".".join(["changes", *parts[1:]])
    return field


def _words(tool: AnyTool, text: str) -> str:
    text = _PROVIDER.sub(r"`cupel providers set \1`", text[: 10 * _MAX_TEXT_LENGTH])
    text = _REQUEST.sub(lambda found: _tool_of(found[1], found[2]) or found[0], text)
    fields = tool.argument_names
    text = _CAMEL.sub(lambda found: _snake(found[0]) if _snake(found[0]) in fields else found[0], text)
    return text.replace(_KEY, "idempotency_key")


def _snake(name: str) -> str:
    return _WORD.sub("_", name).lower()


def _tool_of(method: str, path: str) -> str | None:
    return next((name for pattern, name in _patterns() if pattern.fullmatch(f"{method} {path}")), None)


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple(
        (_pattern(ROUTES[each["operation"]]), each["tool"]["name"]) for each in read_tools() if each["operation"]
    )


def _pattern(route: Route) -> re.Pattern[str]:
    path = re.sub(r"\{\w+\}", "[^/]+", route.path)
    return re.compile(f"{route.method} {path}")
