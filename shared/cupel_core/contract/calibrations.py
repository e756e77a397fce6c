"""Calibrations: how far a judge agrees with the labels of people, and pass rates that are corrected for its errors."""

from typing import Annotated

from pydantic import ConfigDict, Field

from cupel_core.contract.columns import ColumnFields
from cupel_core.contract.common import ResponseModel, read_from
from cupel_core.contract.fields import Interval95
from cupel_core.domain.calibration.calibrations import Calibration, ColumnCodes
from cupel_core.domain.calibration.code_means import CorrectedMean
from cupel_core.domain.calibration.corrected_rates import CorrectionMethod, Uncorrected, UncorrectedReason
from cupel_core.domain.calibration.fingerprints import RubricFingerprint


class LabelledShareResponse(ResponseModel):
    """A share among labels, weighted by the inverse of the probabilities with which they were drawn."""

    share: float
    """The share. Example: 0.9"""
    labels: int
    """Labels that it is a share of. Example: 40"""
    effective_labels: float
    """Independent labels with equal weights that would say as much. Example: 33.2"""
    scenarios: int
    """Scenarios with such a label. Example: 40"""
    interval: Annotated[Interval95, read_from("interval_95")]


class ConfusionCountsResponse(ResponseModel):
    """Numbers of labels by what judge and people say."""

    both_passed: int
    """Passes that the judge lets pass. Example: 44"""
    only_judge_passed: int
    """Failures that the judge lets pass. Example: 3"""
    only_label_passed: int
    """Passes that the judge fails. Example: 5"""
    both_failed: int
    """Failures that the judge fails. Example: 8"""


class JudgeAgreementResponse(ResponseModel):
    """Agreement of the judge with the labels."""

    labels: int
    """Labels that are pass or fail, on transcripts that the judge decided. Example: 60"""
    scenarios: int
    """Scenarios with such a label. Example: 60"""
    skipped: int
    """Transcripts that people skipped. Example: 2"""
    undecided: int
    """Labelled transcripts that the judge could not decide. Example: 0"""
    counts: ConfusionCountsResponse
    """Numbers without weights."""
    agreement: LabelledShareResponse | None
    """Share of equal verdicts."""
    kappa: float | None
    """Cohen's; null if judge and people always say the same one thing. Example: 0.71"""
    kappa_interval: Annotated[list[float] | None, Field(serialization_alias="kappaInterval95")]
    """95% interval, by a bootstrap over scenarios. Example: [0.5, 0.86]"""
    ac1: float | None
    """Gwet's; a judge that always says the same has a high one. Example: 0.8"""
    judge_pass_rate: float | None
    """Pass rate of the labelled transcripts by the judge. Example: 0.78"""
    label_pass_rate: float | None
    """Their pass rate by the labels. Example: 0.82"""
    constant_accuracy: float | None
    """Agreement that a judge which always says the same would reach. Example: 0.82"""
    sensitivity: LabelledShareResponse | None
    """Share of the labelled passes that the judge lets pass."""
    specificity: LabelledShareResponse | None
    """Share of the labelled failures that the judge fails."""
    pass_predictive_value: LabelledShareResponse | None
    """Share of the judge's passes whose label is pass."""
    fail_predictive_value: LabelledShareResponse | None
    """Share of the judge's failures whose label is fail."""


class CorrectedRateResponse(ResponseModel):
    """A pass rate that is corrected for the judge's errors; see docs/judges.md."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)

    method: CorrectionMethod | None = None
    """Method of the correction; null if it could not be corrected. Example: POST_STRATIFIED"""
    reason: UncorrectedReason | None = None
    """Reason why it could not be corrected; null if it was. Example: TOO_FEW_LABELS"""
    message: str | None = None
    """The reason in words. Example: at least 20 scenarios need a label"""
    labels_needed: Annotated[int | None, read_from("needed")] = None
    """Labels that the method needs; null if the rate was corrected. Example: 20"""
    rate: float | None = None
    """The corrected pass rate. Example: 0.81"""
    interval: Interval95 = None
    interval_of_these: Annotated[list[float] | None, Field(serialization_alias="intervalOfThese95")] = None
    """95% interval for exactly these transcripts. Example: [0.74, 0.87]"""
    lower_bound: float | None = None
    """One-sided lower bound of the rate; its confidence is 0.95, or that of the request. Example: 0.75"""
    judge_rate: float | None = None
    """Pass rate by the judge, each scenario once. Example: 0.9"""
    labels_only: LabelledShareResponse | None = None
    """Pass rate by the labels alone."""


class JudgeAccuracyResponse(ResponseModel):
    """Agreement of the judge with the labels of people."""

    labels: int
    """Labelled transcripts that the judge decided. Example: 60"""
    kappa: float | None
    """Agreement beyond chance, from -1 to 1. Example: 0.71"""


class SkipBoundsResponse(ResponseModel):
    """Bounds for what the skipped transcripts would have been labelled."""

    skipped: int
    """Skipped transcripts. Example: 2"""
    skip_rate: float
    """Their share of the transcripts that were drawn. Example: 0.03"""
    skips_as_failures: CorrectedRateResponse
    """The corrected rate if all of them fail."""
    skips_as_passes: CorrectedRateResponse
    """The corrected rate if all of them pass."""


class ColumnCalibrationResponse(ColumnFields):
    agreement: JudgeAgreementResponse
    """Agreement of the judge with the labels of its transcripts."""
    corrected: CorrectedRateResponse
    """Its corrected pass rate."""
    skips: SkipBoundsResponse | None
    """Null if no transcript was skipped."""


class ColumnCodesResponse(ColumnFields):
    """Codes and their corrected mean (PPI++)."""

    transcripts: Annotated[int, read_from("agreement.transcripts")]
    """Transcripts with codes of judge and people. Example: 60"""
    skipped: Annotated[int, read_from("agreement.skipped")]
    """Transcripts that people skipped. Example: 2"""
    undecided: Annotated[int, read_from("agreement.undecided")]
    """Labelled transcripts that the judge could not decide. Example: 0"""
    agreement: Annotated[LabelledShareResponse | None, read_from("agreement.agreement")]
    """Share of people's codes that are the judge's."""
    kappa: Annotated[float | None, read_from("agreement.kappa")]
    """Cohen's, with quadratic weights. Example: 0.8"""
    reason: UncorrectedReason | None
    """Reason why it could not be corrected; null if it was. Example: TOO_FEW_LABELS"""
    message: str | None
    """The reason in words. Example: at least 30 scenarios need a label"""
    labels_needed: int | None
    """Labels that the method needs; null if the rate was corrected. Example: 20"""
    mean: float | None
    """The corrected mean. Example: 3.9"""
    interval95: Annotated[list[float] | None, Field(description="95% interval; see docs/statistics.md")]
    judge_mean: float | None
    """Mean by the judge. Example: 4.3"""
    labels_only_mean: float | None
    """Mean by the labels alone. Example: 3.8"""
    labels_only_interval95: list[float] | None
    """Its 95% interval. Example: [3.5, 4.1]"""

    @classmethod
    def of(cls, found: ColumnCodes) -> "ColumnCodesResponse":
        mean = found.corrected if isinstance(found.corrected, CorrectedMean) else None
        missing = found.corrected if isinstance(found.corrected, Uncorrected) else None
        return cls.from_value(
            found,
            **ColumnFields.fields_of_column(found.column),
            reason=missing and missing.reason,
            message=missing and missing.message,
            labels_needed=missing and missing.needed,
            mean=mean and mean.mean,
            interval95=mean and list(mean.interval),
            judge_mean=mean and mean.judge_mean,
            labels_only_mean=mean and mean.labels_only_mean,
            labels_only_interval95=mean and list(mean.labels_only_interval),
        )


class LabellerPairResponse(ResponseModel):
    """Two people who labelled the same transcripts."""

    first: str
    """Name of the first. Example: ana"""
    second: str
    """Name of the second. Example: ben"""
    transcripts: int
    """Transcripts that both have labelled. Example: 12"""
    agreement: float
    """Share of equal labels. Example: 0.92"""
    kappa: float | None
    """Cohen's. Example: 0.8"""
    kappa_interval: Annotated[list[float] | None, Field(serialization_alias="kappaInterval95")]
    """95% interval, by a bootstrap over scenarios. Example: [0.4, 1.0]"""


class LabellerAgreementResponse(ResponseModel):
    """Agreement among people: no judge can be expected to agree with them more than they do with each other."""

    transcripts: int
    """Transcripts that several people have labelled. Example: 12"""
    ceiling: LabelledShareResponse | None
    """Share of pairs of labels that agree; null if nothing was labelled twice."""
    pairs: list[LabellerPairResponse]
    """Agreement of each two people."""


class DisagreementResponse(ResponseModel):
    """A transcript on which judge and people disagree."""

    probe_id: str
    """Id of the probe. Example: run_01k1f0aa-7"""
    verdict: str
    """`pass`, `fail` or the code of the judge. Example: pass"""
    label: str
    """Label by the people; the mean of their codes. Example: fail"""


class CalibrationResponse(ResponseModel):
    run_id: str
    criterion: str
    """`result`, `decision` or the name of a check. Example: result"""
    rescore_id: str | None
    """Rescore whose verdicts are measured; null for the run's own. Example: rsc_01"""
    judge_model: str | None
    """Model that judged; null if none did. Example: openai/gpt-6.1-terra"""
    fingerprint: str | None
    """Digest of judge, rubric and instructions; null if the snapshot is gone. Example: 5f0c"""
    calibration_run: str | None
    """Run whose labels show the errors; null for this one. Example: run_01"""
    columns: list[ColumnCalibrationResponse]
    """Figures by target, then by prompt."""
    codes: list[ColumnCodesResponse]
    """The same for codes, if the criterion is `decision`."""
    people: LabellerAgreementResponse
    """Agreement among the labellers."""
    disagreements: list[DisagreementResponse]
    """The first 100 transcripts on which judge and people disagree."""
    unblind: int
    """Labels that were made with a visible verdict and count nowhere. Example: 0"""
    conflicts: list[str]
    """Probes on whose labels people disagree evenly; a further person decides them. Example: ["run_01k1f0aa-9"]"""
    ignored: int
    """Labelled transcripts that no label set drew, where others were drawn; they count nowhere. Example: 0"""
    is_drawn: bool
    """True if the labels are of transcripts that a label set drew at random; if not, they may not stand for the others.

    Example: true
    """

    @classmethod
    def of(cls, found: Calibration, fingerprint: RubricFingerprint | None) -> "CalibrationResponse":
        columns = [
            ColumnCalibrationResponse.from_value(each, **ColumnFields.fields_of_column(each.column))
            for each in found.columns
        ]
        codes = [ColumnCodesResponse.of(each) for each in found.codes]
        digest = fingerprint.digest if fingerprint else None
        return cls.from_value(found, columns=columns, codes=codes, fingerprint=digest)
