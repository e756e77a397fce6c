"""A resource that has a name and secret headers: a persona or a connector."""

from datetime import datetime

from cupel_core.base.deferred import dataclass


@dataclass(frozen=True)
class NamedResource[T]:
    """A resource with its times and the names of its headers, but not their secret values."""

    item: T
    header_names: tuple[str, ...]
    created_at: datetime
    updated_at: datetime
    revision: int = 1
