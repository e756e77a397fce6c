"""The calibration of a judge: its agreement with people, and pass rates corrected for its errors."""

from typing import NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.calibration.code_agreement import CodeAgreement
from cupel_core.domain.calibration.code_means import CorrectedMean
from cupel_core.domain.calibration.corrected_rates import CorrectedRate, SkipBounds, Uncorrected
from cupel_core.domain.calibration.judge_agreement import JudgeAgreement
from cupel_core.domain.calibration.labellers import LabellerAgreement
from cupel_core.domain.runs.plan import Column, Plan


class Disagreement(NamedTuple):
    """A transcript on which the judge and the people disagree."""

    probe_id: str
    verdict: str
    label: str


@dataclass(frozen=True)
class ColumnCalibration:
    """Figures of the judge on the transcripts of one target and prompt."""

    column: Column
    agreement: JudgeAgreement
    corrected: CorrectedRate | Uncorrected
    skips: SkipBounds | None
    """None if no transcript was skipped."""


@dataclass(frozen=True)
class ColumnCodes:
    """Figures of the judge's codes of the transcripts of one target and prompt."""

    column: Column
    agreement: CodeAgreement
    corrected: CorrectedMean | Uncorrected


@dataclass(frozen=True)
class Calibration:
    run_id: str
    plan: Plan
    criterion: str
    rescore_id: str | None
    judge_model: str | None
    """The model that judged; None if no model did."""
    calibration_run: str | None
    """The run whose labels show the errors; None for this one."""
    columns: tuple[ColumnCalibration, ...]
    """Figures of passes and failures."""
    codes: tuple[ColumnCodes, ...]
    """Figures of codes, if the criterion has these."""
    people: LabellerAgreement
    disagreements: tuple[Disagreement, ...]
    unblind: int
    """Labels that were made with a visible verdict, which count nowhere."""
    conflicts: tuple[str, ...]
    """Probes on whose labels people disagree evenly; a further person decides them."""
    ignored: int
    """Labelled transcripts that no label set drew, where others were drawn at random; they count nowhere."""
    is_drawn: bool
    """True if the labels are of transcripts that a label set drew at random."""
