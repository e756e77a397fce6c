from collections.abc import Mapping
from dataclasses import field
from typing import Any, Self

from cupel_core.base.deferred import dataclass
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.resources.personas import Persona


@dataclass(frozen=True)
class CaseView:
    """The case is as it was at the run's start. If the run's snapshot was deleted, the id is empty."""

    scenario_id: str = ""
    scenario_name: str | None = None
    variables: Mapping[str, Any] = field(default_factory=dict)
    dimensions: Mapping[str, float] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """The variables are not included."""
    persona_id: str | None = None
    persona_name: str | None = None

    @classmethod
    def of(cls, scenario: Scenario, persona: Persona | None) -> Self:
        variables = scenario.variables
        return cls(
            scenario_id=scenario.id,
            scenario_name=scenario.name,
            variables=variables,
            dimensions=scenario.dimensions,
            metadata={name: value for name, value in scenario.metadata.items() if value is not variables},
            persona_id=persona.id if persona else None,
            persona_name=persona.name if persona else None,
        )
