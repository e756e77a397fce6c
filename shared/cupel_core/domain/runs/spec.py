"""Defines requests to start runs. Each kind says what is run, and has the settings that every run can have.

`runs/start_requests.py` makes a `RunSpec` of each other kind.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Self

from cupel_core.base.deferred import dataclass, replace
from cupel_core.domain.codec import decode
from cupel_core.domain.runs.settings import RunSettings, names_of, values_of
from cupel_core.domain.runs.targets import Target


@dataclass(frozen=True)
class RunSpec(RunSettings):
    definition_id: str
    targets: tuple[Target, ...]
    sample_percentage: int = 100
    sample_seed: int | None = None
    """If None, a seed is drawn and recorded in the run."""
    schedule_id: str | None = None
    scenario_ids: tuple[str, ...] = ()
    """The scenarios to run, in the definition's order; all if empty."""
    persona_ids: tuple[str, ...] | None = None
    """Personas that replace each scenario's own."""
    eval_id: str | None = None
    playground: bool = False
    definition_version: int | None = None
    """None stands for the latest version when the run starts."""
    rerun_of: str | None = None
    """The run has the definition version, scenarios and personas of this run, exactly as they were."""
    evaluators: Mapping[str, str] = field(default_factory=dict)
    """The status of each default evaluator of a scale run, by name; empty for other runs."""
    trial: bool = False
    """The run tries the revised prompt of a report."""
    scale: bool = False


@dataclass(frozen=True)
class EvalRunSpec(RunSettings):
    eval_id: str

    @classmethod
    def of(cls, eval_id: str, settings: RunSettings) -> Self:
        return cls(eval_id, **values_of(RunSettings, settings))


type StartSpec = RunSpec | EvalRunSpec
"""A schedule can start these."""


def start_spec(data: Mapping[str, Any]) -> StartSpec:
    return decode(RunSpec, data) if "definitionId" in data else decode(EvalRunSpec, data)


@dataclass(frozen=True)
class PlaygroundRunSpec(RunSettings):
    """Requests a playground run of one scenario and one target, without a persona unless one is named."""

    scenario_id: str
    target: Target
    persona_id: str | None = None
    definition_id: str | None = None
    """The definition of the scenario; only needed if a fork shares the scenario."""


@dataclass(frozen=True)
class RerunSpec(RunSettings):
    """Requests a run that repeats another one. Its parameters are added to those of the other run."""

    run_id: str
    targets: tuple[Target, ...] = ()
    """The rerun has the run's targets if there are none."""
    replaced: tuple[str, ...] = ()
    """Settings and fields of GraderConfig that replace those of the run."""

    def apply_to(self, spec: RunSpec) -> RunSpec:
        """Return the specification of the rerun from that of a run with the same configuration."""
        given = {name: getattr(self, name) for name in names_of(RunSettings) if name in self.replaced}
        graders = {name: value for name, value in vars(self.grader_config).items() if name in self.replaced}
        if "evaluator_url" in graders:
            graders["evaluator_headers_version"] = None
        return replace(
            spec,
            **given,
            targets=self.targets or spec.targets,
            params={**spec.params, **self.params},
            grader_config=replace(spec.grader_config, **graders),
            labels=self.labels,
        )


type RequestedRun = StartSpec | PlaygroundRunSpec | RerunSpec
