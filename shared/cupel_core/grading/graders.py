"""Who judges a run: the models that judge, simulate users and embed texts, and an evaluator outside."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from cupel_core.domain.scoring.grader_config import Evaluation
from cupel_core.errors import Invalid
from cupel_core.grading.grader import Grader


@dataclass(frozen=True)
class Panel:
    """What an evaluation is configured with, and the way to each model of it.

    `grader` leads a model (`provider/name`) to how it is called; it raises Invalid for one that cannot be.
    """

    evaluation: Evaluation
    grader: Callable[[str], Grader]
    evaluator_headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    allow_private: bool = False
    """Whether addresses of the inside may be asked (webhooks, evaluators)."""

    def judge(self, model: str | None = None) -> Grader:
        """The one that is named, else the run's; Invalid when there is none."""
        return self._grader(model or self.evaluation.judge_model, "judgeModel")

    def speaker(self) -> Grader:
        """The model behind the simulated user."""
        return self._grader(self.evaluation.persona_model or self.evaluation.judge_model, "personaModel")

    def embedder(self, model: str | None = None) -> Grader:
        return self._grader(model or self.evaluation.embedding_model, "embeddingModel")

    def _grader(self, model: str | None, missing: str) -> Grader:
        if model is None:
            raise Invalid.field(missing, "is not configured: set it in the run, the eval or the workspace's settings")
        return self.grader(model)
