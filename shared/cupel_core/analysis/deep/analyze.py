from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from cupel_core.analysis.deep import components, design, effects, interactions, outliers
from cupel_core.analysis.deep.answer_sums import AnswerSums, CompleteMatrix
from cupel_core.analysis.deep.design import ScoredScenarios
from cupel_core.analysis.deep.effects import ColumnFit
from cupel_core.analysis.deep.interactions import MAX_DIMENSIONS
from cupel_core.domain.analysis.agreement import leave_one_out
from cupel_core.domain.analysis.deep import (
    Components,
    DeepAnalysis,
    DeepCaution,
    DeepCautionCode,
    DeepPart,
    Design,
    Effects,
    Interactions,
    OutlierScenarios,
    OutlierTargets,
    UnavailablePart,
    VarianceShares,
)
from cupel_core.domain.analysis.matrix import CellMatrix
from cupel_core.domain.text.figures import format_percent

HIGH_IMPUTED = 0.10
SCENARIOS_PER_DIMENSION = 10
_MAX_NAMED = 5


class DeepInput(NamedTuple):
    matrix: CellMatrix
    seed: int
    missing_probes: int = 0


def analyze(given: DeepInput, note_stage: Callable[[str], None]) -> DeepAnalysis:
    """Compute every part for which the run has enough targets, scenarios and dimensions. Equal inputs give equal
    figures."""
    parts = _Parts(given)
    note_stage("components")
    found_components = parts.components()
    note_stage("outliers")
    outlier_targets, outlier_scenarios = parts.outlier_targets(), parts.outlier_scenarios()
    note_stage("effects")
    found_design = parts.design()
    return DeepAnalysis(
        metric=given.matrix.metric,
        scenarios=tuple(given.matrix.scenarios),
        components=found_components,
        outlier_targets=outlier_targets,
        outlier_scenarios=outlier_scenarios,
        design=found_design,
        effects=parts.effects(),
        interactions=parts.interactions(),
        variance=parts.variance(),
        unavailable=tuple(parts.unavailable),
        cautions=cautions(
            DeepCautionInput(parts.answers, parts.complete, parts.scored, found_design, given.missing_probes)
        ),
    )


class _Parts:
    def __init__(self, given: DeepInput) -> None:
        self.unavailable: list[UnavailablePart] = []
        self.answers = AnswerSums.of(given.matrix)
        self.complete = CompleteMatrix.of(self.answers)
        self.scored = ScoredScenarios.of(self.answers)
        self._given = given
        self._estimable = self._estimable_dimensions()
        self._fits: list[ColumnFit] = []

    def components(self) -> Components | None:
        if self._is_unavailable(DeepPart.COMPONENTS, components.why_unavailable(self.complete)):
            return None
        scores, dimensions = self.answers.scores, self.answers.dimensions
        return components.components(self.complete, scores, dimensions, self._generator(DeepPart.COMPONENTS))

    def outlier_targets(self) -> OutlierTargets | None:
        if self._is_unavailable(DeepPart.OUTLIER_TARGETS, outliers.why_targets_unavailable(self.complete)):
            return None
        matrix = self._given.matrix
        without = leave_one_out(matrix.columns, matrix.metric)
        return outliers.outlier_targets(self.complete, without, self._generator(DeepPart.OUTLIER_TARGETS))

    def outlier_scenarios(self) -> OutlierScenarios | None:
        if self._is_unavailable(DeepPart.OUTLIER_SCENARIOS, outliers.why_scenarios_unavailable(self.complete)):
            return None
        return outliers.outlier_scenarios(self.complete, self._generator(DeepPart.OUTLIER_SCENARIOS))

    def design(self) -> Design | None:
        if self._is_unavailable(DeepPart.DESIGN, design.why_unavailable(self.scored)):
            return None
        return design.design(self.scored)

    def effects(self) -> Effects | None:
        reason = effects.why_unavailable(self._estimable)
        if reason is None:
            self._fits = effects.column_fits(self.answers, self._estimable)
            reason = None if self._fits else "no target has answered enough scenarios"
        if self._is_unavailable(DeepPart.EFFECTS, reason):
            return None
        return effects.effects(self._fits, self._estimable)

    def interactions(self) -> Interactions | None:
        reason = interactions.why_unavailable(self._estimable)
        if reason is None and not self._fits:
            reason = "no target has answered enough scenarios"
        if self._is_unavailable(DeepPart.INTERACTIONS, reason):
            return None
        return interactions.interactions(self._fits, self.answers, self._estimable)

    def variance(self) -> VarianceShares | None:
        found = components.variance_shares(self.answers)
        if isinstance(found, str):
            self._is_unavailable(DeepPart.VARIANCE, found)
            return None
        return found

    def _is_unavailable(self, part: DeepPart, reason: str | None) -> bool:
        if reason is not None:
            self.unavailable.append(UnavailablePart(part, reason))
        return reason is not None

    def _generator(self, part: DeepPart) -> np.random.Generator:
        """Return a generator for one part, so that no part depends on what another draws."""
        return np.random.default_rng([self._given.seed, list(DeepPart).index(part)])

    def _estimable_dimensions(self) -> ScoredScenarios:
        scored = self.scored
        return scored.chosen(design.independent(scored.standardized)) if scored.names else scored


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
