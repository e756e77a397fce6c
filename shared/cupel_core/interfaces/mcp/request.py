"""Defines a request: its caller, the visible tools, and the size limit of the called tool's result."""

from datetime import datetime

from cupel_core.base.deferred import dataclass
from cupel_core.contract.operation import ToolGroup
from cupel_core.domain.access import Caller

MAX_RESULT_BYTES = 40_000
"""Clients move longer results to files, or cut them."""


@dataclass(frozen=True)
class ToolRequest:
    id: str
    caller: Caller
    now: datetime
    groups: frozenset[ToolGroup] | None = None
    """The address selects these groups; without a selection, the list has the default tools."""
    with_output_schemas: bool = False
    max_result_bytes: int = MAX_RESULT_BYTES

    @property
    def workspace(self) -> str:
        return self.caller.workspace
