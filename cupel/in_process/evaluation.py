"""What an evaluation found."""

from dataclasses import dataclass
from functools import cached_property

from cupel.gates import success_rate
from cupel.in_process.probes import ProbeResult
from cupel.json_types import Json
from cupel.results import ModelResults, tabulate, to_json
from cupel_core.domain.runs.run import RunStatus
from cupel_core.domain.scoring.grader_config import Evaluation as Configuration


@dataclass(frozen=True)
class Evaluation:
    """`results` are in the order of the plan: by target, scenario, persona and repeat."""

    id: str
    name: str
    targets: tuple[str, ...]
    results: tuple[ProbeResult, ...]
    seed: int
    sample_percentage: int
    repeats: int
    configuration: Configuration
    temperature: float | None = None
    max_turns: int | None = None

    @property
    def completed(self) -> tuple[ProbeResult, ...]:
        return tuple(result for result in self.results if result.transcript)

    @property
    def errors(self) -> tuple[ProbeResult, ...]:
        return tuple(result for result in self.results if result.error)

    @property
    def status(self) -> RunStatus:
        """As of a run: it failed when no probe completed."""
        return RunStatus.COMPLETED if self.completed else RunStatus.FAILED

    @property
    def success_rate(self) -> float | None:
        """Of the judged probes; None when there are none. Errors count for nobody."""
        return success_rate(self.models)

    @cached_property
    def models(self) -> list[ModelResults]:
        """Statistics by target, as `cupel show` has them."""
        transcripts = (result.to_json(self.id) for result in self.completed)
        errored = (result.to_json(self.id) for result in self.errors)
        return tabulate(self.targets, len(self.results), transcripts, errored)

    def to_json(self) -> Json:
        """`{run, results, probes}`: the first two as `cupel show --json` has them, then every probe."""
        return {
            "run": self.run_json(),
            "results": to_json(self.models),
            "successRate": self.success_rate,
            "probes": [result.to_json(self.id) for result in self.results],
        }

    def run_json(self) -> Json:
        config = {
            "models": list(self.targets),
            "samplePercentage": self.sample_percentage,
            "sampleSeed": self.seed,
            "repeats": self.repeats,
            "temperature": self.temperature,
            "maxTurns": self.max_turns,
            **self.configuration.to_json(),
        }
        progress = {"total": len(self.results), "completed": len(self.completed), "failed": len(self.errors)}
        return {
            "id": self.id,
            "name": self.name,
            "status": str(self.status),
            "config": config,
            "progress": progress,
        }
