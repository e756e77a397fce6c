"""A request: who sends it, and what has been read for it."""

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
    """It has the runs that were read, by id."""
    changes: int = 0
    """It counts the mutations that were begun so far."""
    cut_lists: list[list[str | int]] = field(default_factory=list)
    """It has the paths of lists in the response that have further items."""
    is_read_only: bool = False
    """If true, mutations are refused."""
    refused_fields: Mapping[str, str] = field(default_factory=dict)
    """It has the reasons for which fields, named as `FileDetail.downloadUrl`, may not be selected."""

    @property
    def workspace(self) -> str:
        return self.caller.workspace

    @cached_property
    def load(self) -> "Loaders":
        from cupel_core.interfaces.graphql.loaders import Loaders

        return Loaders(self.workspace, self.runs, self.now)

    def begin_change(self) -> None:
        """Count a mutation, and forget what has been read: it may be changed."""
        self.changes += 1
        self.__dict__.pop("load", None)
