from collections.abc import Mapping
from dataclasses import field
from typing import Annotated

from cupel_core.base.deferred import dataclass
from cupel_core.domain.codec import WRITTEN

MetadataValue = str | int | float | bool


def metadata_entry(key: str, value: MetadataValue) -> str:
    """Return an entry such as `build=812`, by which runs are found; the number 812.0, the number 812 and the text are
    equal."""
    if isinstance(value, bool):
        return f"{key}={str(value).lower()}"
    return f"{key}={int(value) if isinstance(value, float) and value.is_integer() else value}"


@dataclass(frozen=True)
class RunLabels:
    name: Annotated[str | None, WRITTEN] = None
    tags: Annotated[tuple[str, ...], WRITTEN] = ()
    """The tags are sorted and distinct."""
    metadata: Annotated[Mapping[str, MetadataValue], WRITTEN] = field(default_factory=dict)

    def metadata_entries(self) -> frozenset[str]:
        return frozenset(metadata_entry(key, value) for key, value in self.metadata.items())


@dataclass(frozen=True)
class LabelChanges:
    """Lists labels to set; None leaves a value unchanged, and an empty name removes the name."""

    name: str | None = None
    tags: tuple[str, ...] | None = None
    metadata: Mapping[str, MetadataValue] | None = None

    def apply_to(self, labels: RunLabels) -> RunLabels:
        return RunLabels(
            name=labels.name if self.name is None else self.name or None,
            tags=labels.tags if self.tags is None else tuple(sorted(set(self.tags))),
            metadata=labels.metadata if self.metadata is None else dict(self.metadata),
        )
