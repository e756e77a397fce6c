"""Something that a workspace keeps under a name, as its owner is shown it."""

from dataclasses import dataclass
from datetime import datetime

from shared.store.resources import Resource


@dataclass(frozen=True)
class Kept[T]:
    """Of the headers only the names are told."""

    item: T
    header_names: tuple[str, ...]
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, resource: Resource, item: T) -> "Kept[T]":
        return cls(item, tuple(resource.body.get("headerNames") or ()), resource.created_at, resource.updated_at)
