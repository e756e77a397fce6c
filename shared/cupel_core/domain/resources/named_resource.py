"""Defines resources that have a name and secret headers: personas and connectors."""

from datetime import datetime

from cupel_core.base.deferred import dataclass


@dataclass(frozen=True)
class NamedResource[T]:
    """Contains a resource with its times and the names of its headers, but not their secret values."""

    item: T
    header_names: tuple[str, ...]
    created_at: datetime
    updated_at: datetime
    revision: int = 1
