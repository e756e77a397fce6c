"""Comparisons of judges on labelled transcripts, and signs that a judge has changed."""

from typing import Annotated

from cupel_core.contract.calibrations import JudgeAgreementResponse, LabelledShareResponse
from cupel_core.contract.common import ResponseModel, read_from
from cupel_core.domain.calibration.judge_comparisons import JudgeComparison


class ComparedJudgeResponse(ResponseModel):
    rescore_id: str | None
    """Rescore whose verdicts are measured; null for the run's own. Example: rsc_01"""
    judge_model: str | None
    """Model that judged; null if none did. Example: openai/gpt-6.1-terra"""
    agreement: JudgeAgreementResponse
    """Agreement with the labels, over all targets."""
    cost_usd: float | None
    """Cost of the rescore; null if unknown. Example: 0.12"""
    self_consistency: float | None
    """Share of equal verdicts if it judged twice; otherwise null. Example: 0.95"""


class JudgeComparisonResponse(ResponseModel):
    transcripts: int
    """Labelled transcripts that all have judged. Example: 60"""
    judges: list[ComparedJudgeResponse]
    """The run's own judge first."""
    best_rescore_id: str | None
    """Rescore of the best judge; null for the run's own. Example: rsc_01"""
    cross_fit_accuracy: LabelledShareResponse | None
    """Agreement of a judge that is chosen on other labels; that of the best one is too high."""

    @classmethod
    def of(cls, found: JudgeComparison) -> "JudgeComparisonResponse":
        choice = found.choice
        return cls.from_value(
            found,
            best_rescore_id=(choice.judge or None) if choice else None,
            cross_fit_accuracy=LabelledShareResponse.from_value(choice.cross_fit_accuracy) if choice else None,
        )


class JudgeDriftResponse(ResponseModel):
    judge_model: str | None
    """Model that judged; null if none did. Example: openai/gpt-6.1-terra"""
    canaries: Annotated[int, read_from("drift.canaries")]
    """Transcripts with both verdicts. Example: 10"""
    undecided: int
    """Transcripts without one of them. Example: 0"""
    to_pass: list[str]
    """Probes that failed before and pass now. Example: ["run_01k1f0aa-7"]"""
    to_fail: list[str]
    """Probes that passed before and fail now. Example: []"""
    p: Annotated[float, read_from("drift.p")]
    """Mid-p of a sign test. Example: 0.5"""
    is_stale: Annotated[bool, read_from("drift.is_stale")]
    """True if p is below 0.05. Example: false"""
