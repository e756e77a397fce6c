from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, get_type_hints

from cupel_core.base.errors import Forbidden
from cupel_core.contract.operation import ToolGroup
from cupel_core.contract.routes import Route
from cupel_core.interfaces.gateway.auditing import Author, record_change
from cupel_core.interfaces.gateway.validation import parse
from cupel_core.interfaces.mcp.listing import find_listed
from cupel_core.interfaces.mcp.operation_tools import OperationTool
from cupel_core.interfaces.mcp.results import fit
from cupel_core.interfaces.routes import ROUTES, load, load_all

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cupel_core.domain.access import AccessRole
    from cupel_core.interfaces.mcp.models import Arguments, ToolResult
    from cupel_core.interfaces.mcp.request import ToolRequest

MODULES: dict[str, tuple[str, ...]] = {
    "scenarios": ("search_scenarios",),
    "probes": ("get_run_results",),
    "transcripts": ("get_transcript_summary", "get_transcript"),
    "analysis": ("get_run_summary", "get_statistical_summary"),
    "analysis_details": ("get_dimension_analysis", "get_contested_scenarios", "get_latency_stats"),
    "deep_analysis": ("get_deep_analysis",),
    "model_profiles": ("get_model_profile",),
    "comparisons": ("get_comparison", "aggregate_results"),
    "models": ("list_models",),
    "graphql_queries": ("graphql_query",),
    "operations": ("search_operations", "call_operation"),
    "authoring": ("validate_definition", "generate_scenarios_preview"),
    "analysis_requests": ("analyze_run", "compare_runs"),
    "queues": ("pause_queue",),
}
"""Maps modules below `tools` to their tools, in the order in which they are listed. A module is loaded with the
first call of one of its tools: a cold start answers a single request."""
_MODULE_OF = {name: module for module, names in MODULES.items() for name in names}
_BYTES_PER_KB = 1_000


class ToolEffect(StrEnum):
    READ = "read"
    UPDATE = "update"
    """A repeated call changes nothing more, and nothing is lost."""
    DESTROY = "destroy"


class McpTool:
    """Represents a function that takes the request and validated arguments and returns a model."""

    def __init__(
        self,
        function: Callable[..., Any],
        operation: Route | None,
        title: str,
        description: str,
        max_kb: int,
        group: ToolGroup,
        effect: ToolEffect,
        *,
        is_idempotent: bool,
        calls_models: bool,
        is_default: bool,
    ) -> None:
        self.function = function
        self.operation = operation
        """The operation that decides which roles may call the tool, and that the audit log names. None for a tool
        that every role may call, because that tool checks the role and records the change for each operation that
        it calls."""
        self.title = title
        self.description = description
        self.max_bytes = max_kb * _BYTES_PER_KB
        self.group = group
        self.effect = effect
        self.is_idempotent = is_idempotent
        self.calls_models = calls_models
        self.is_default = is_default

    @property
    def annotations(self) -> dict[str, bool]:
        return {
            "readOnlyHint": self.effect is ToolEffect.READ,
            "destructiveHint": self.effect is ToolEffect.DESTROY,
            "idempotentHint": self.is_idempotent,
            "openWorldHint": self.calls_models,
        }

    @property
    def name(self) -> str:
        return self.function.__name__

    @cached_property
    def _types(self) -> dict[str, Any]:
        return get_type_hints(self.function)

    @property
    def arguments(self) -> type[Arguments]:
        model: type[Arguments] = self._types["arguments"]
        return model

    @property
    def result(self) -> type[ToolResult]:
        model: type[ToolResult] = self._types["return"]
        return model

    @property
    def changes_nothing(self) -> bool:
        return self.effect is ToolEffect.READ

    def permits(self, role: AccessRole) -> bool:
        return self.operation is None or self.operation.permits(role)

    @property
    def argument_names(self) -> list[str]:
        return list(self.arguments.model_fields)

    @property
    def input_schema(self) -> dict[str, Any]:
        from cupel_core.interfaces.mcp.models import arguments_schema  # Only the generated list needs it.

        return arguments_schema(self.arguments)

    @property
    def output_schema(self) -> dict[str, Any]:
        from cupel_core.interfaces.mcp.models import result_schema

        return result_schema(self.result)

    def run(self, request: ToolRequest, arguments: Mapping[str, Any], max_bytes: int | None = None) -> dict[str, Any]:
        """Return the tool's result, within its size. Changes are recorded, and refusals because of the role."""
        request = replace(request, max_result_bytes=max_bytes or self.max_bytes)
        try:
            self._check_permission(request)
            result = self.function(request, parse(self.arguments, arguments, ""))
        except Exception as error:
            self._record(request, arguments, error)
            raise
        content = fit(result, request.max_result_bytes)
        self._record(request, arguments, content)
        return content

    def _check_permission(self, request: ToolRequest) -> None:
        role = request.caller.role
        if self.operation is not None and not self.operation.permits(role):
            raise Forbidden(f"{self.name} requires the role {self.operation.minimum_role}; this token has {role}")

    def _record(self, request: ToolRequest, arguments: Mapping[str, Any], outcome: Any) -> None:
        if self.operation is not None and not self.changes_nothing:
            record_change(self.operation, Author(request.id, request.caller, request.now), arguments, outcome)


type AnyTool = McpTool | OperationTool

_tools: dict[str, McpTool] = {}


def tool[F: Callable[..., Any]](
    operation_id: str | None,
    *,
    title: str,
    description: str,
    max_kb: int,
    group: ToolGroup = ToolGroup.READ,
    effect: ToolEffect = ToolEffect.READ,
    is_idempotent: bool = True,
    calls_models: bool = False,
    is_default: bool = False,
) -> Callable[[F], F]:
    """Register the decorated function as a tool of its name. Raises KeyError for an undeclared operation.

    `operation_id`: None for a tool that every role may call, because it checks the role for each operation it calls.
    `is_idempotent`: whether a repeated call changes nothing more.
    `calls_models`: whether it reaches model providers, or makes workers do so.
    `is_default`: whether it is listed unless the address selects groups.
    """
    operation = None if operation_id is None else ROUTES[operation_id]

    def register(function: F) -> F:
        declared = McpTool(
            function,
            operation,
            title,
            description,
            max_kb,
            group,
            effect,
            is_idempotent=is_idempotent,
            calls_models=calls_models,
            is_default=is_default,
        )
        _tools[declared.name] = declared
        return function

    return register


def find_tool(name: str) -> AnyTool | None:
    if name in _MODULE_OF:
        return _written_tool(name)
    listed = find_listed(name)
    return _operation_tool(ROUTES[listed["operation"]]) if listed else None


def _written_tool(name: str) -> McpTool:
    import_module(f"cupel_core.interfaces.mcp.tools.{_MODULE_OF[name]}")
    return _tools[name]


def _operation_tool(route: Route) -> OperationTool | None:
    operation = load(route)
    return OperationTool(operation, operation.tool) if operation.tool else None


def list_all_tools() -> list[AnyTool]:
    derived = [OperationTool(each, each.tool) for each in load_all() if each.tool]
    return [*map(_written_tool, _MODULE_OF), *derived]
