from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from cupel_core.base.deferred import dataclass
from cupel_core.domain.access import Caller

if TYPE_CHECKING:
    from cupel_core.domain.runs.run import Run
    from cupel_core.interfaces.graphql.loaders import Loaders


@dataclass
class Request:
    id: str
    caller: Caller
    now: datetime
    idempotency_key: str | None = None
    runs: "dict[str, Run]" = field(default_factory=dict)
    changes: int = 0
    cut_lists: list[list[str | int]] = field(default_factory=list)
    is_read_only: bool = False
    refused_fields: Mapping[str, str] = field(default_factory=dict)
    """Maps fields, named as `FileDetail.downloadUrl`, to the reason why they may not be selected."""

    @property
    def workspace(self) -> str:
        return self.caller.workspace

    @cached_property
    def load(self) -> "Loaders":
        from cupel_core.interfaces.graphql.loaders import Loaders

        return Loaders(self.workspace, self.runs, self.now)

    def begin_change(self) -> None:
        """Count a mutation, and forget what has been read, because the mutation may change it."""
        self.changes += 1
        self.__dict__.pop("load", None)
