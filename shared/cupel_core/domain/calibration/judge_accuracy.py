"""The accuracy of a judge in one column of a run, as result tables and comparisons show it."""

from cupel_core.base.deferred import dataclass
from cupel_core.domain.calibration.calibrations import Calibration
from cupel_core.domain.calibration.corrected_rates import CorrectedRate, Uncorrected
from cupel_core.domain.calibration.judge_agreement import JudgeAgreement


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


def accuracies_of(calibration: Calibration) -> dict[int, JudgeAccuracy]:
    """Return the accuracy by number of the run's column; columns without a label are left out."""
    columns = calibration.plan.columns
    return {columns.index(each.column): _accuracy(each.agreement, each.corrected) for each in calibration.columns}


def _accuracy(agreement: JudgeAgreement, corrected: CorrectedRate | Uncorrected) -> JudgeAccuracy:
    if isinstance(corrected, CorrectedRate):
        return JudgeAccuracy(agreement.labels, agreement.kappa, corrected)
    return JudgeAccuracy(agreement.labels, agreement.kappa, None, corrected)
