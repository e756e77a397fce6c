"""Declarations of tools: one decorated function each, in a module below `tools`."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, get_type_hints

from cupel_core.contract.operation import Route
from cupel_core.interfaces.routes import ROUTES

if TYPE_CHECKING:
    from cupel_core.interfaces.mcp.models import Arguments, ToolResult

MODULES: dict[str, tuple[str, ...]] = {
    "definitions": ("list_definitions", "get_definition", "search_scenarios"),
    "runs": ("list_runs", "get_run"),
    "probes": ("get_run_results",),
    "transcripts": ("get_transcript_summary", "get_transcript"),
    "analysis": ("get_run_summary", "get_statistical_summary"),
    "analysis_details": ("get_dimension_analysis", "get_contested_scenarios", "get_latency_stats"),
    "deep_analysis": ("get_deep_analysis",),
    "model_profiles": ("get_model_profile",),
    "reports": ("get_report", "create_report"),
    "chats": ("list_chats", "get_chat"),
    "comparisons": (
        "list_comparisons",
        "get_comparison",
        "list_experiments",
        "get_experiment",
        "get_job",
        "aggregate_results",
    ),
    "workspace": (
        "list_providers",
        "list_models",
        "list_connectors",
        "get_queue_status",
        "get_settings",
        "list_profiles",
    ),
    "graphql_queries": ("graphql_query",),
    "authoring": (
        "validate_definition",
        "generate_scenarios_preview",
        "create_definition",
        "fork_definition",
        "update_definition",
        "delete_definition",
        "generate_scenarios",
    ),
    "run_control": (
        "estimate_run",
        "estimate_retry",
        "estimate_expansion",
        "start_run",
        "pause_run",
        "resume_run",
        "cancel_run",
        "retry_run",
        "expand_run",
        "set_run_budget",
        "delete_run",
    ),
    "scale_runs": ("start_scale_run",),
    "rescores": ("get_rescore", "rescore_run", "set_rescore_budget"),
    "analysis_requests": (
        "analyze_run",
        "compare_runs",
    ),
    "experiment_changes": (
        "create_experiment",
        "update_experiment",
        "add_run_to_experiment",
        "remove_run_from_experiment",
    ),
    "administration": (
        "update_provider",
        "update_settings",
        "pause_queue",
        "resume_queue",
        "redrive_dead_letters",
    ),
}
"""The tools of each module below `tools`, in the order in which they are listed. A module is loaded with the first call
of one of its tools: a cold start answers a single request."""
_MODULE_OF = {name: module for module, names in MODULES.items() for name in names}
_BYTES_PER_KB = 1_000


class ToolGroup(StrEnum):
    """What `?tools=` selects."""

    READ = "read"
    AUTHORING = "authoring"
    RUNS = "runs"
    ANALYSIS = "analysis"
    ADMIN = "admin"


class ToolEffect(StrEnum):
    READ = "read"
    CREATE = "create"
    """Something new with each call, unless the tool is idempotent; loses nothing."""
    UPDATE = "update"
    """The same again changes nothing more, and nothing is lost."""
    OVERWRITE = "overwrite"
    """What was there before is lost."""
    DESTROY = "destroy"
    """Cannot be undone."""


class McpTool:
    """A function of the request and its arguments, which are validated before, that returns a model."""

    def __init__(
        self,
        function: Callable[..., Any],
        operation: Route,
        title: str,
        description: str,
        max_kb: int,
        group: ToolGroup,
        effect: ToolEffect,
        *,
        is_idempotent: bool,
        calls_models: bool,
    ) -> None:
        self.function = function
        self.operation = operation
        """Of the API: decides the roles that may call the tool, and is what the audit log names."""
        self.title = title
        self.description = description
        self.max_bytes = max_kb * _BYTES_PER_KB
        self.group = group
        self.effect = effect
        self.is_idempotent = is_idempotent
        self.calls_models = calls_models

    @property
    def annotations(self) -> dict[str, bool]:
        return {
            "readOnlyHint": self.effect is ToolEffect.READ,
            "destructiveHint": self.effect in (ToolEffect.OVERWRITE, ToolEffect.DESTROY),
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


_tools: dict[str, McpTool] = {}
"""Those whose modules are loaded."""


def tool[F: Callable[..., Any]](
    operation_id: str,
    *,
    title: str,
    description: str,
    max_kb: int,
    group: ToolGroup = ToolGroup.READ,
    effect: ToolEffect = ToolEffect.READ,
    is_idempotent: bool | None = None,
    calls_models: bool = False,
) -> Callable[[F], F]:
    """Registers the decorated function as a tool of its name. KeyError for an undeclared operation.

    `is_idempotent`: whether a repeated call changes nothing more; without it, of all effects but CREATE.
    `calls_models`: whether it reaches model providers, or makes workers do so.
    """
    operation = ROUTES[operation_id]
    repeatable = effect is not ToolEffect.CREATE if is_idempotent is None else is_idempotent

    def register(function: F) -> F:
        declared = McpTool(
            function,
            operation,
            title,
            description,
            max_kb,
            group,
            effect,
            is_idempotent=repeatable,
            calls_models=calls_models,
        )
        _tools[declared.name] = declared
        return function

    return register


def find_tool(name: str) -> McpTool | None:
    """None if there is no tool of this name."""
    if name not in _MODULE_OF:
        return None
    import_module(f"cupel_core.interfaces.mcp.tools.{_MODULE_OF[name]}")
    return _tools[name]


def list_all_tools() -> list[McpTool]:
    for module in MODULES:
        import_module(f"cupel_core.interfaces.mcp.tools.{module}")
    return [_tools[name] for name in _MODULE_OF]
