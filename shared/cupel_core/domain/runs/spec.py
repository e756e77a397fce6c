"""Requests to start runs: by the API, a schedule, an eval or the playground."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Self

from cupel_core.base.deferred import dataclass
from cupel_core.domain.codec import decode
from cupel_core.domain.runs.settings import RunSettings, values_of
from cupel_core.domain.runs.targets import Target


@dataclass(frozen=True)
class RunSpec(RunSettings):
    """A requested run."""

    definition_id: str
    targets: tuple[Target, ...]
    sample_percentage: int = 100
    sample_seed: int | None = None
    """Drawn and recorded in the run if None."""
    schedule_id: str | None = None
    scenario_ids: tuple[str, ...] = ()
    """Only these, in the definition's order; all if empty."""
    persona_ids: tuple[str, ...] | None = None
    """Replace each scenario's own personas."""
    eval_id: str | None = None
    playground: bool = False
    definition_version: int | None = None
    """The latest when the run starts if None."""
    rerun_of: str | None = None
    """The run whose definition version, scenarios and personas it has, exactly as they were."""
    evaluators: Mapping[str, str] = field(default_factory=dict)
    """The statuses of a scale run's default evaluators by name; empty for other runs."""
    trial: bool = False
    """Whether the revised prompt of that report is tried."""
    scale: bool = False
    """Whether it was started as a scale run."""


@dataclass(frozen=True)
class EvalRunSpec(RunSettings):
    """A requested run of an eval as it is when the run starts."""

    eval_id: str

    @classmethod
    def of(cls, eval_id: str, settings: RunSettings) -> Self:
        return cls(eval_id, **values_of(RunSettings, settings))


type StartSpec = RunSpec | EvalRunSpec


def start_spec(data: Mapping[str, Any]) -> StartSpec:
    """Return the specification of which `encode` made this JSON."""
    return decode(RunSpec, data) if "definitionId" in data else decode(EvalRunSpec, data)


@dataclass(frozen=True)
class PlaygroundSpec:
    """A playground run: one scenario and one target (connector or model), without a persona unless one is named."""

    scenario_id: str
    target: Target
    persona_id: str | None = None
    definition_id: str | None = None
