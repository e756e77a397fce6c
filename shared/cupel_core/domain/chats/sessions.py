from datetime import datetime

from cupel_core.base.deferred import dataclass
from cupel_core.domain.pipeline.artifacts import ArtifactUsage
from cupel_core.domain.pipeline.turns import Artifacts


@dataclass(frozen=True)
class ProfileSession:
    id: str
    profile_id: str
    profile_session_id: str
    """The profile chooses this id; another id starts all sessions of the profile anew."""
    artifacts: Artifacts

    @property
    def tags(self) -> tuple[str, ...]:
        return tuple(self.artifacts)

    @property
    def shown_artifacts(self) -> Artifacts:
        """Return the artifacts without those that only operations use."""
        return {tag: each for tag, each in self.artifacts.items() if each.writer["usage"] != ArtifactUsage.INTERNAL}

    @property
    def created_at(self) -> datetime | None:
        times = [artifact.first_at for artifact in self.artifacts.values()]
        return datetime.fromisoformat(min(times)) if times else None
