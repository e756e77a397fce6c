"""The accuracy of a judge in one column of a run, as result tables and comparisons show it."""

from collections.abc import Sequence

from cupel_core.base.deferred import dataclass
from cupel_core.domain.calibration.corrected_rates import CorrectedRate, Uncorrected, corrected_pass_rate
from cupel_core.domain.calibration.labelled_runs import LabelledRun
from cupel_core.domain.calibration.labels import LabelledVerdict, ScenarioVerdicts, confusion_counts


@dataclass(frozen=True)
class JudgeAccuracy:
    labels: int
    """Labelled transcripts of the column that the judge decided."""
    kappa: float | None
    """Agreement of judge and people beyond chance."""
    rate: CorrectedRate | None
    uncorrected: Uncorrected | None = None
    """The reason, if there is no corrected rate."""

    @property
    def corrected_pass_rate(self) -> CorrectedRate | Uncorrected | None:
        return self.rate or self.uncorrected


def accuracies_of(labelled: LabelledRun) -> dict[int, JudgeAccuracy]:
    """Return the accuracy by number of the run's column; columns without a label are left out."""
    return {
        column: _accuracy(own, labelled.scenario_verdicts[column]) for column, own in labelled.column_verdicts.items()
    }


def _accuracy(labels: Sequence[LabelledVerdict], verdicts: Sequence[ScenarioVerdicts]) -> JudgeAccuracy:
    decided = [each for each in labels if each.judge is not None and each.label is not None]
    kappa = confusion_counts(decided, is_weighted=True).kappa if decided else None
    corrected = corrected_pass_rate(labels, verdicts)
    if isinstance(corrected, CorrectedRate):
        return JudgeAccuracy(len(decided), kappa, corrected)
    return JudgeAccuracy(len(decided), kappa, None, corrected)
