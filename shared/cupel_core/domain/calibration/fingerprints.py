"""Identifies a judge and its rubric. The errors that labels show belong to a fingerprint, and to no other.

The version that a provider reports for the judge model is not part of it, because results do not store that. Canaries
(`drift.py`) find a model that changed under the same name.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.labelling.labels import DECISION, MAX_CRITERION_LENGTH, RESULT
from cupel_core.domain.scoring.grader_config import GRADING_VERSION, GraderConfig
from cupel_core.domain.scoring.scoring import CRITERIA

_DIGEST_LENGTH = 32


class FingerprintPart(StrEnum):
    """The values name the parts in messages."""

    GRADERS = "the models and settings of the graders"
    CHECKS = "the checks of the definition"
    SCENARIOS = "the criteria and checks of the scenarios"
    DECISION = "the decision rule"
    GRADING = "the version of Cupel's grading"
    INSTRUCTIONS = "the instructions for labellers"


class ScenarioRubric(NamedTuple):
    """The criteria and checks of a scenario, in JSON."""

    criteria: Mapping[str, Any]
    assertions: Sequence[Mapping[str, Any]]

    @classmethod
    def of_json(cls, scenario: Mapping[str, Any]) -> "ScenarioRubric":
        criteria = {name: scenario[name] for name in _CRITERIA_FIELDS if scenario.get(name) is not None}
        return cls(criteria, scenario.get("assertions") or ())

    @classmethod
    def of(cls, scenario: Scenario) -> "ScenarioRubric":
        return cls.of_json(scenario.to_json())


_CRITERIA_FIELDS = ("successCriteria", "failureCriteria", "failureCriteriaMode")


@dataclass(frozen=True)
class RubricFingerprint:
    parts: Mapping[FingerprintPart, str]
    """Digest of each part."""

    @property
    def digest(self) -> str:
        return _digest([self.parts[part] for part in FingerprintPart])

    def differences(self, other: "RubricFingerprint") -> list[FingerprintPart]:
        return [part for part in FingerprintPart if self.parts[part] != other.parts[part]]


def rubric_fingerprint(
    criterion: str,
    graders: GraderConfig,
    content: Content,
    scenarios: Iterable[ScenarioRubric],
    instructions: Iterable[str | None],
    grading_version: int = GRADING_VERSION,
) -> RubricFingerprint:
    """Return the fingerprint of what decides a criterion.

    For the name of a check, only checks of that name count. Scenarios count as a set of different rubrics, so that the
    number and the order of scenarios do not matter. `instructions` are those of the label sets of the criterion.
    """
    rubrics = {_canonical(_relevant(criterion, each)) for each in scenarios}
    is_decision = criterion == DECISION
    decision = content.to_json().get("decision") if is_decision else None
    return RubricFingerprint(
        {
            FingerprintPart.GRADERS: _digest(
                [
                    graders.judge_model,
                    graders.judge_max_output_tokens,
                    *([] if is_decision else [graders.embedding_model, graders.evaluator_url]),
                ]
            ),
            FingerprintPart.CHECKS: _digest(_named(criterion, [each.to_json() for each in content.assertions])),
            FingerprintPart.SCENARIOS: _digest(sorted(rubrics)),
            FingerprintPart.DECISION: _digest(decision),
            FingerprintPart.GRADING: _digest(grading_version),
            FingerprintPart.INSTRUCTIONS: _digest(sorted({each for each in instructions if each})),
        }
    )


def _relevant(criterion: str, rubric: ScenarioRubric) -> list[Any]:
    criteria = rubric.criteria if criterion in (RESULT, CRITERIA) else {}
    return [dict(criteria), _named(criterion, rubric.assertions)]


def _named(criterion: str, assertions: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the checks that decide the criterion. Equal names are numbered in statistics: `tone`, `tone #2`."""
    if criterion == RESULT:
        return list(assertions)
    names = {criterion, criterion.rpartition(" #")[0]}
    return [each for each in assertions if (each.get("metric") or each["type"])[:MAX_CRITERION_LENGTH] in names]


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _digest(value: Any) -> str:
    return hashlib.sha256(_canonical(value).encode()).hexdigest()[:_DIGEST_LENGTH]
