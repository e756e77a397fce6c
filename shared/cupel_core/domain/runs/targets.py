"""Targets: what a run's probes talk to."""

from dataclasses import field

from cupel_core.base.deferred import dataclass
from cupel_core.domain.conversations.model_parameters import ParameterFields
from cupel_core.domain.resources.connectors import PROVIDER, connector_of_target


@dataclass(frozen=True)
class Target:
    """A model or a connector, with a label and parameters. A run may have one model under several labels."""

    model: str
    """`provider/name`, or `connector/<id>`."""
    label: str | None = None
    params: ParameterFields = field(default_factory=dict, hash=False)
    """They take precedence over the run's."""
    max_attempts: int | None = None
    """Of one call; the run's number if None."""
    call_timeout_seconds: float | None = None
    agent_name: str | None = field(default=None, compare=False)
    """The name of the connector, as of the run's start; None for a model, and in requests."""

    @property
    def id(self) -> str:
        """Unique in its run, and the same in every run with a target of this name."""
        return self.label or self.model

    @property
    def shown_label(self) -> str | None:
        """What people call it instead of its model: its label, else the name of its agent. None if it has neither."""
        return self.label or (f"{PROVIDER}/{self.agent_name}" if self.agent_name else None)

    @property
    def provider(self) -> str:
        return self.model.partition("/")[0]

    @property
    def called_model(self) -> str | None:
        """It is None for an agent, which is called through its connector."""
        return None if self.connector_id else self.model

    @property
    def connector_id(self) -> str | None:
        return connector_of_target(self.model)


def plain_targets(*models: str) -> tuple[Target, ...]:
    """Targets without labels and parameters."""
    return tuple(map(Target, models))
