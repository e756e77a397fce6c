"""What people call a run: a name, tags and metadata. They have no effect on it and may change at any time."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Self

from cupel_core.base.deferred import dataclass

MetadataValue = str | int | float | bool


def metadata_entry(key: str, value: MetadataValue) -> str:
    """`build=812`: how runs are found by an entry; the number 812.0, the number 812 and the text are the same."""
    if isinstance(value, bool):
        return f"{key}={str(value).lower()}"
    return f"{key}={int(value) if isinstance(value, float) and value.is_integer() else value}"


@dataclass(frozen=True)
class RunLabels:
    name: str | None = None
    tags: tuple[str, ...] = ()
    """Sorted, without duplicates."""
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)

    def metadata_entries(self) -> frozenset[str]:
        return frozenset(metadata_entry(key, value) for key, value in self.metadata.items())

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "tags": list(self.tags), "metadata": dict(self.metadata)}


@dataclass(frozen=True)
class LabelChanges:
    """Labels to set; None keeps what there is, and an empty name removes the name."""

    name: str | None = None
    tags: tuple[str, ...] | None = None
    metadata: Mapping[str, MetadataValue] | None = None

    def apply_to(self, labels: RunLabels) -> RunLabels:
        return RunLabels(
            name=labels.name if self.name is None else self.name or None,
            tags=labels.tags if self.tags is None else tuple(sorted(set(self.tags))),
            metadata=labels.metadata if self.metadata is None else dict(self.metadata),
        )

    def to_json(self) -> dict[str, Any]:
        """Without what is kept."""
        tags = None if self.tags is None else list(self.tags)
        metadata = None if self.metadata is None else dict(self.metadata)
        fields = {"name": self.name, "tags": tags, "metadata": metadata}
        return {name: value for name, value in fields.items() if value is not None}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        tags = data.get("tags")
        return cls(data.get("name"), None if tags is None else tuple(tags), data.get("metadata"))
