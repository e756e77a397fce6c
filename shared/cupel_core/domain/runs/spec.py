"""Requests to start runs: by the API, a schedule, an eval or the playground."""

from collections.abc import Mapping
from dataclasses import asdict, field, replace
from typing import Any, Self

from cupel_core.deferred import dataclass
from cupel_core.domain.runs.labels import LabelChanges
from cupel_core.domain.runs.pace import Pace, Stagger
from cupel_core.domain.runs.run import Priority
from cupel_core.domain.runs.targets import Target
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.domain.turns.model_parameters import ParameterFields

_ADDED = frozenset(
    {
        "definition_version",
        "rerun_of",
        "disabled_graders",
        "labels",
        "params",
        "max_attempts",
        "retry_delay_seconds",
        "call_timeout_seconds",
        "evaluators",
        "report",
        "trial",
        "scale",
        "max_budget_usd",
        "allow_unpriced",
        "confirmed_usd",
        "profile_id",
        "profile_version",
        "max_concurrency",
        "stagger_ms",
        "summarizer_model",
        "judge_max_output_tokens",
    }
)


@dataclass(frozen=True)
class RunSpec:
    """A requested run."""

    definition_id: str
    targets: tuple[Target, ...]
    sample_percentage: int = 100
    sample_seed: int | None = None
    """Drawn and recorded in the run if None."""
    priority: Priority = Priority.NORMAL
    experiment_id: str | None = None
    schedule_id: str | None = None
    repeats: int = 1
    params: ParameterFields = field(default_factory=dict)
    """Take precedence over the eval's, which take precedence over the definition's; null removes one."""
    max_attempts: int | None = None
    retry_delay_seconds: float | None = None
    call_timeout_seconds: float | None = None
    max_turns: int | None = None
    max_concurrency: int | None = None
    stagger_ms: Stagger | None = None
    grader_config: GraderConfig = field(default_factory=GraderConfig)
    """Takes precedence over the eval's, which takes precedence over the workspace's."""
    scenario_ids: tuple[str, ...] = ()
    """Only these, in the definition's order; all if empty."""
    persona_ids: tuple[str, ...] | None = None
    """Replace each scenario's own personas."""
    eval_id: str | None = None
    playground: bool = False
    definition_version: int | None = None
    """The latest when the run starts if None."""
    disabled_graders: tuple[str, ...] = ()
    """Fields of GraderConfig that are None for this run even if the eval or the workspace sets them."""
    rerun_of: str | None = None
    """The run whose definition version, scenarios and personas it has, exactly as they were."""
    labels: LabelChanges = field(default_factory=LabelChanges)
    """A rerun has those of the run that it repeats, except for these."""
    evaluators: Mapping[str, str] = field(default_factory=dict)
    """The statuses of a batch's default evaluators by name; empty for other runs."""
    report: bool = False
    """Whether a report is written when it completes."""
    trial: bool = False
    """Whether the revised prompt of that report is tried."""
    scale: bool = False
    """Whether it was started as a batch."""
    max_budget_usd: float | None = None
    """What may be spent; no limit if None."""
    allow_unpriced: bool = False
    """Whether a run with a budget may call models whose price is unknown."""
    confirmed_usd: float | None = None
    """The greatest expected cost that the caller has agreed to, although it exceeds the budget."""
    profile_id: str | None = None
    profile_version: int | None = None
    """The newest when the run starts if None."""

    @property
    def pace(self) -> Pace:
        return Pace(self.max_concurrency, self.stagger_ms)

    def to_json(self) -> dict[str, Any]:
        """As stored with an idempotency key and in a schedule, where `grader_config` is called `evaluation`.

        Fields that the first version did not have are left out if they are unset, so that stored texts stay equal.
        """
        own = asdict(replace(self, targets=())) | {"labels": self.labels.to_json(), **_params_json(self.params)}
        data = _without_unset_additions(own)
        data["evaluation"] = _without_unset_additions(data.pop("grader_config"))
        data["models"] = [target.to_json() for target in self.targets]
        del data["targets"]
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        persona_ids = data["persona_ids"]
        renamed = ("evaluation", "models", "temperature")
        fields = {name: value for name, value in data.items() if name not in renamed}
        return cls(
            **{
                **fields,
                "targets": tuple(map(Target.from_json, data["models"])),
                "params": _params(data),
                "priority": Priority(data["priority"]),
                "grader_config": GraderConfig(**data["evaluation"]),
                "scenario_ids": tuple(data["scenario_ids"]),
                "disabled_graders": tuple(data.get("disabled_graders", ())),
                "persona_ids": None if persona_ids is None else tuple(persona_ids),
                "labels": LabelChanges.from_json(data.get("labels", {})),
                "stagger_ms": _stagger(data),
            }
        )


@dataclass(frozen=True)
class EvalRunOptions:
    """Options of a run of an eval or of a playground scenario."""

    priority: Priority = Priority.NORMAL
    repeats: int = 1
    experiment_id: str | None = None
    params: ParameterFields = field(default_factory=dict)
    max_attempts: int | None = None
    retry_delay_seconds: float | None = None
    call_timeout_seconds: float | None = None
    max_turns: int | None = None
    max_concurrency: int | None = None
    stagger_ms: Stagger | None = None
    grader_config: GraderConfig = field(default_factory=GraderConfig)
    disabled_graders: tuple[str, ...] = ()
    labels: LabelChanges = field(default_factory=LabelChanges)
    max_budget_usd: float | None = None
    allow_unpriced: bool = False
    confirmed_usd: float | None = None
    profile_id: str | None = None
    profile_version: int | None = None
    report: bool = False


@dataclass(frozen=True)
class EvalRunSpec:
    """A requested run of an eval as it is when the run starts."""

    eval_id: str
    options: EvalRunOptions = field(default_factory=EvalRunOptions)

    def to_json(self) -> dict[str, Any]:
        own = {"labels": self.options.labels.to_json(), **_params_json(self.options.params)}
        options = asdict(self.options) | own
        options["grader_config"] = _without_unset_additions(options["grader_config"])
        return {"eval_id": self.eval_id, "eval_options": _without_unset_additions(options)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        options = data["eval_options"]
        graders = GraderConfig(**options["grader_config"])
        changed = {
            **{name: value for name, value in options.items() if name != "temperature"},
            "params": _params(options),
            "priority": Priority(options["priority"]),
            "grader_config": graders,
            "disabled_graders": tuple(options.get("disabled_graders", ())),
            "labels": LabelChanges.from_json(options.get("labels", {})),
            "stagger_ms": _stagger(options),
        }
        return cls(data["eval_id"], EvalRunOptions(**changed))


@dataclass(frozen=True)
class PlaygroundSpec:
    """A playground run: one scenario and one target (connector or model), without a persona unless one is named."""

    scenario_id: str
    target: Target
    persona_id: str | None = None
    definition_id: str | None = None


def _params_json(params: ParameterFields) -> dict[str, Any]:
    """The temperature has its own field, as in the first version."""
    others = {name: value for name, value in params.items() if name != "temperature"}
    is_removed = "temperature" in params and params["temperature"] is None
    return {"temperature": params.get("temperature"), "params": params if is_removed else others}


def _params(data: Mapping[str, Any]) -> dict[str, Any]:
    temperature = data.get("temperature")
    return {**({} if temperature is None else {"temperature": temperature}), **data.get("params", {})}


def _stagger(data: Mapping[str, Any]) -> Stagger | None:
    gaps = data.get("stagger_ms")
    return (gaps[0], gaps[1]) if gaps else None


def _without_unset_additions(data: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in data.items() if name not in _ADDED or value not in (None, False, (), {})}
