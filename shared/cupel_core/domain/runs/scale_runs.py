import json
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from cupel_core.base.deferred import dataclass, replace
from cupel_core.domain.runs.settings import RunSettings, values_of
from cupel_core.domain.runs.spec import RunSpec
from cupel_core.domain.runs.targets import Target
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.domain.scoring.default_evaluators import DefaultEvaluators, EvaluatorChoice, EvaluatorName
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.domain.text.beginnings import beginning

FOLDER = "scale"
_MAX_NAME_LENGTH = 80


@dataclass(frozen=True)
class ScaleRun:
    """Requests `count` conversations of each target. At least one of `opening` and `goal` is set."""

    targets: tuple[Target, ...]
    count: int
    system: str | None = None
    opening: str | None = None
    """The user's first message; without it, the simulated user begins."""
    goal: str | None = None
    persona_ids: tuple[str, ...] = ()
    settings: RunSettings = RunSettings()
    """The repeats follow from `count`."""
    choices: Mapping[EvaluatorName, EvaluatorChoice] = field(default_factory=dict)
    format_checks: tuple[Assertion, ...] = ()
    trial: bool = False
    is_of_connector: bool = False

    @property
    def repeats(self) -> int:
        """Return the conversations of a target with each persona. Raises ValueError if the personas cannot share them
        evenly."""
        share, rest = divmod(self.count, max(1, len(self.persona_ids)))
        if rest or not share:
            raise ValueError(self._nearest_counts(share * len(self.persona_ids)))
        return share

    def _nearest_counts(self, below: int) -> str:
        nearest = [str(each) for each in (below, below + len(self.persona_ids)) if each]
        return f"must be a multiple of the {len(self.persona_ids)} personas: {' or '.join(nearest)}"

    def evaluators(self, defaults: GraderConfig) -> DefaultEvaluators:
        judge = self.settings.graders(defaults).judge_model
        return DefaultEvaluators(self.goal, self.format_checks, self.choices, judge)

    def content(self, evaluators: DefaultEvaluators) -> dict[str, Any]:
        assertions = [assertion.to_json() for assertion in evaluators.assertions()]
        fields = {"system": self.system, "assertions": assertions}
        return {name: value for name, value in fields.items() if value}

    def scenario(self, evaluators: DefaultEvaluators) -> dict[str, Any]:
        """Return the only scenario as JSON. The goal is used by the simulated user and by the judge."""
        fields = {
            "name": self.name,
            "prompt": self.opening,
            "instructions": self.goal,
            "successCriteria": evaluators.criteria,
        }
        return {name: value for name, value in fields.items() if value is not None}

    @property
    def name(self) -> str:
        text = " ".join((self.goal or self.opening or "").split())
        printable = "".join(character for character in text if character.isprintable())
        return beginning(printable, _MAX_NAME_LENGTH) or FOLDER

    def spec(self, definition_id: str, evaluators: DefaultEvaluators) -> RunSpec:
        """Return the specification of the run. It names version 1, because only the first version is sure to have the
        content."""
        settings = replace(self.settings.with_judge(evaluators.criteria_judge), repeats=self.repeats)
        return RunSpec(
            definition_id=definition_id,
            definition_version=1,
            targets=self.targets,
            persona_ids=self.persona_ids or None,
            evaluators={str(name): str(status) for name, status in evaluators.statuses().items()},
            trial=self.trial,
            scale=True,
            **values_of(RunSettings, settings),
        )


def content_text(content: Mapping[str, Any], scenario: Mapping[str, Any], number: int) -> bytes:
    """Return the text from which the definition's id is computed: the same content has the same definition. `number`
    counts the definitions of the same content that were deleted."""
    return json.dumps([content, scenario, number], sort_keys=True, ensure_ascii=True).encode()
