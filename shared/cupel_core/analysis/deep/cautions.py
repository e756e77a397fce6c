"""What a reader of a deep analysis should know before relying on its figures."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from cupel_core.analysis.deep.answer_sums import AnswerSums, CompleteMatrix
from cupel_core.analysis.deep.design import ScoredScenarios
from cupel_core.analysis.deep.interactions import MAX_DIMENSIONS
from cupel_core.domain.analysis.deep import DeepCaution, DeepCautionCode, Design
from cupel_core.domain.text.figures import format_percent

HIGH_IMPUTED = 0.10
SCENARIOS_PER_DIMENSION = 10
_MAX_NAMED = 5


class DeepCautionInput(NamedTuple):
    answers: AnswerSums
    complete: CompleteMatrix
    scored: ScoredScenarios
    design: Design | None
    missing_probes: int


def cautions(given: DeepCautionInput) -> tuple[DeepCaution, ...]:
    return (*_outcomes(given), *_targets(given), *_dimensions(given))


def _outcomes(given: DeepCautionInput) -> Iterator[DeepCaution]:
    if given.missing_probes:
        yield DeepCaution(DeepCautionCode.PARTIAL, f"{given.missing_probes:,} probes of the run have no outcome")
    if given.complete.imputed_share > HIGH_IMPUTED:
        yield DeepCaution(
            DeepCautionCode.IMPUTED,
            f"{format_percent(given.complete.imputed_share)} of the values that components and outliers rest on are "
            "estimated, because targets have no answer to these scenarios",
        )


def _targets(given: DeepCautionInput) -> Iterator[DeepCaution]:
    excluded = np.setdiff1d(np.arange(len(given.answers.counts)), given.complete.columns)
    if len(excluded) and len(given.complete.columns):
        yield DeepCaution(
            DeepCautionCode.EXCLUDED_TARGETS,
            "targets without an answer to what the others have answered are not compared",
            tuple(excluded.tolist()),
        )


def _dimensions(given: DeepCautionInput) -> Iterator[DeepCaution]:
    scored = given.scored
    if scored.partial:
        yield DeepCaution(
            DeepCautionCode.PARTIAL_DIMENSIONS,
            f"too few scenarios have a score in {_enumerate(scored.partial)} for effects of it",
        )
    collinear = [each.dimension for each in given.design.inflation if each.is_collinear] if given.design else []
    if collinear:
        yield DeepCaution(
            DeepCautionCode.COLLINEAR,
            f"the scenarios hardly vary {_enumerate(collinear)} independently of the other dimensions: their effects "
            "cannot be told apart",
        )
    if scored.names and len(scored.rows) < SCENARIOS_PER_DIMENSION * len(scored.names):
        yield DeepCaution(
            DeepCautionCode.FEW_SCENARIOS,
            f"{len(scored.rows)} scenarios are few for {len(scored.names)} dimensions: p-values of effects are too low",
        )
    if len(scored.names) > MAX_DIMENSIONS:
        yield DeepCaution(
            DeepCautionCode.MANY_DIMENSIONS,
            f"interactions are tested between the {MAX_DIMENSIONS} dimensions with the largest slopes",
        )


def _enumerate(names: "tuple[str, ...] | list[str]") -> str:
    more = f" and {len(names) - _MAX_NAMED} more" if len(names) > _MAX_NAMED else ""
    return ", ".join(names[:_MAX_NAMED]) + more
