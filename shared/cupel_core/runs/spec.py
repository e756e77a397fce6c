"""What a run is to be: asked for by a person, a schedule or a program, and kept with a key or a schedule."""

from dataclasses import asdict, dataclass, field
from typing import Self

import orjson

from cupel_core.domain.runs.run import Priority
from cupel_core.domain.scoring.grader_config import Evaluation


@dataclass(frozen=True)
class RunSpec:
    """What a person, a schedule or a program asks for."""

    definition_id: str
    models: tuple[str, ...]
    sample_percentage: int = 100
    sample_seed: int | None = None
    """Drawn, and recorded in the run, when not given."""
    priority: Priority = Priority.NORMAL
    experiment_id: str | None = None
    schedule_id: str | None = None
    repeats: int = 1
    temperature: float | None = None
    max_turns: int | None = None
    evaluation: Evaluation = field(default_factory=Evaluation)
    """Over that of the eval, and that over the workspace's."""
    scenario_ids: tuple[str, ...] = ()
    """These alone, in the definition's order; all when there are none."""
    persona_ids: tuple[str, ...] | None = None
    """Instead of each scenario's own."""
    eval_id: str | None = None
    playground: bool = False

    def to_text(self) -> str:
        return orjson.dumps(asdict(self), option=orjson.OPT_SORT_KEYS).decode()

    @classmethod
    def from_text(cls, text: str) -> Self:
        told = orjson.loads(text)
        chosen = told["persona_ids"]
        return cls(
            **told
            | {
                "models": tuple(told["models"]),
                "priority": Priority(told["priority"]),
                "evaluation": Evaluation(**told["evaluation"]),
                "scenario_ids": tuple(told["scenario_ids"]),
                "persona_ids": None if chosen is None else tuple(chosen),
            }
        )
