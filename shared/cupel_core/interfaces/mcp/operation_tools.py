from collections.abc import Mapping
from typing import Any

from cupel_core.contract.operation import AsTool, Operation, ToolGroup
from cupel_core.domain.access import AccessRole
from cupel_core.interfaces.mcp.arguments import argument_names
from cupel_core.interfaces.mcp.calls import View, carry_out
from cupel_core.interfaces.mcp.request import ToolRequest
from cupel_core.interfaces.mcp.selection import fields_of

_BYTES_PER_KB = 1_000


class OperationTool:
    def __init__(self, operation: Operation, declared: AsTool) -> None:
        self.operation = operation
        self.declared = declared
        self.group: ToolGroup = declared.group
        self.is_default = declared.is_default
        self.max_bytes = declared.max_kb * _BYTES_PER_KB

    @property
    def name(self) -> str:
        return self.operation.tool_name

    @property
    def title(self) -> str:
        return self.name.replace("_", " ").capitalize()

    @property
    def description(self) -> str:
        texts = (f"{self.operation.summary}.", self.operation.description or "", self.declared.advice)
        return " ".join(each.replace("\n", " ") for each in texts if each)

    @property
    def changes_nothing(self) -> bool:
        return self.operation.changes_nothing

    def permits(self, role: AccessRole) -> bool:
        return self.operation.permits(role)

    @property
    def annotations(self) -> dict[str, bool]:
        method = self.operation.method
        loses = method in ("DELETE", "PUT", "PATCH") or self.declared.destroys
        return {
            "readOnlyHint": self.changes_nothing,
            "destructiveHint": loses and not self.changes_nothing,
            "idempotentHint": self.changes_nothing or self.is_idempotent,
            "openWorldHint": self.declared.calls_models,
        }

    @property
    def is_idempotent(self) -> bool:
        method = self.operation.method
        return method in ("DELETE", "PUT") or (method == "POST" and self.operation.replay is None)

    @property
    def argument_names(self) -> list[str]:
        return argument_names(self.operation)

    @property
    def input_schema(self) -> dict[str, Any]:
        from cupel_core.interfaces.mcp.schemas import short_arguments  # Only the generated list needs it.

        return short_arguments(self.operation)

    @property
    def output_schema(self) -> dict[str, Any]:
        from cupel_core.interfaces.mcp.schemas import result_schema

        view = self.view
        return result_schema(self.operation, view.fields, is_untrusted=view.is_untrusted)

    @property
    def view(self) -> View:
        fields = fields_of(self.declared.result.split())
        return View(fields, self.max_bytes, self.declared.has_untrusted_texts)

    def run(self, request: ToolRequest, arguments: Mapping[str, Any], max_bytes: int | None = None) -> dict[str, Any]:
        view = self.view if max_bytes is None else self.view._replace(max_bytes=max_bytes)
        return carry_out(self.operation, request, arguments, view)
