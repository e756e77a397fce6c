from dataclasses import field

from cupel_core.base.deferred import dataclass
from cupel_core.domain.conversations.model_parameters import ParameterFields
from cupel_core.domain.resources.connectors import PROVIDER, connector_of_target


@dataclass(frozen=True)
class Target:
    """Contains a model or a connector, with a label and parameters. A run may have one model under several labels."""

    model: str
    """`provider/name`, or `connector/<id>`."""
    label: str | None = None
    params: ParameterFields = field(default_factory=dict, hash=False)
    """Parameters that take precedence over the run's."""
    max_attempts: int | None = None
    """Limits the attempts of one call; None stands for the run's number."""
    call_timeout_seconds: float | None = None
    agent_name: str | None = field(default=None, compare=False)
    """The name of the connector at the run's start; None for a model, and in requests."""

    @property
    def id(self) -> str:
        """Return an id that is unique in the run, and the same in every run with a target of this name."""
        return self.label or self.model

    @property
    def shown_label(self) -> str | None:
        """Return the label, else the name of the agent, which people see instead of the model; None if it has
        neither."""
        return self.label or (f"{PROVIDER}/{self.agent_name}" if self.agent_name else None)

    @property
    def provider(self) -> str:
        return self.model.partition("/")[0]

    @property
    def called_model(self) -> str | None:
        """None for an agent, which is called through its connector."""
        return None if self.connector_id else self.model

    @property
    def connector_id(self) -> str | None:
        return connector_of_target(self.model)


def plain_targets(*models: str) -> tuple[Target, ...]:
    return tuple(map(Target, models))
