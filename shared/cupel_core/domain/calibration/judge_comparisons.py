"""Compares judges on the same labelled transcripts, and one judge with itself."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.calibration.drift import CanaryVerdicts, JudgeDrift, judge_drift
from cupel_core.domain.calibration.judge_agreement import JudgeAgreement, judge_agreement
from cupel_core.domain.calibration.judge_choice import JudgeChoice, JudgedLabel, choose_judge
from cupel_core.domain.calibration.labels import LabelledVerdict
from cupel_core.domain.runs.identifiers import transcript_id

OWN_SCORING = ""
"""Stands for the run's own scoring in place of the id of a rescore."""


class JudgeVerdicts(NamedTuple):
    """Verdicts of one judge by probe: those of a rescore, or the run's own."""

    rescore_id: str
    judge_model: str | None
    fingerprint: str | None
    """Identifies judge and rubric; None if it is not known."""
    verdicts: Mapping[int, bool | None]
    cost_usd: float | None = None
    """Cost of the verdicts; None if it is not known, and for the run's own, which were paid with the run."""


@dataclass(frozen=True)
class ComparedJudge:
    rescore_id: str | None
    """None for the run's own scoring."""
    judge_model: str | None
    agreement: JudgeAgreement
    cost_usd: float | None
    self_consistency: float | None
    """Share of transcripts with equal verdicts, compared with all other verdicts of the same judge and rubric; None
    without others."""


@dataclass(frozen=True)
class JudgeComparison:
    transcripts: int
    """Number of labelled transcripts that all judges have judged."""
    judges: tuple[ComparedJudge, ...]
    choice: JudgeChoice | None
    """The judge that agrees with most labels; None without a label."""


def judge_comparison(labelled: Mapping[int, LabelledVerdict], judges: Sequence[JudgeVerdicts]) -> JudgeComparison:
    """Compare the judges on the transcripts that have a label and a result of each of them."""
    common = {
        index: each
        for index, each in sorted(labelled.items())
        if each.label is not None and all(index in judge.verdicts for judge in judges)
    }
    rows = [
        JudgedLabel(
            each.scenario,
            bool(each.label),
            {judge.rescore_id: judge.verdicts[index] for judge in judges},
            each.weight,
        )
        for index, each in common.items()
    ]
    compared = tuple(
        ComparedJudge(
            judge.rescore_id or None,
            judge.judge_model,
            judge_agreement([each._replace(judge=judge.verdicts[index]) for index, each in common.items()]),
            judge.cost_usd,
            _consistency(judge, judges, common),
        )
        for judge in judges
    )
    return JudgeComparison(len(common), compared, choose_judge(rows) if rows else None)


def _consistency(
    judge: JudgeVerdicts, judges: Sequence[JudgeVerdicts], common: Mapping[int, LabelledVerdict]
) -> float | None:
    others = [
        each for each in judges if each is not judge and judge.fingerprint and each.fingerprint == judge.fingerprint
    ]
    if not others or not common:
        return None
    same = sum(judge.verdicts[index] == each.verdicts[index] for each in others for index in common)
    return same / (len(common) * len(others))


@dataclass(frozen=True)
class DriftFinding:
    judge_model: str | None
    drift: JudgeDrift
    undecided: int
    """Number of canaries without a verdict before or now; the test leaves them out."""
    to_pass: tuple[str, ...]
    """Probes that failed before and pass now."""
    to_fail: tuple[str, ...]
    """Probes that passed before and fail now."""


def drift_finding(run_id: str, before: Mapping[int, bool | None], now: JudgeVerdicts) -> DriftFinding:
    """Compare the verdicts of a judge on canaries with those of the same judge before."""
    canaries = dict(_decided(before, now.verdicts))
    flips = {transcript_id(run_id, index): each.now for index, each in canaries.items() if each.before != each.now}
    return DriftFinding(
        judge_model=now.judge_model,
        drift=judge_drift(canaries.values()),
        undecided=len(now.verdicts) - len(canaries),
        to_pass=tuple(probe for probe, passes in flips.items() if passes),
        to_fail=tuple(probe for probe, passes in flips.items() if not passes),
    )


def _decided(before: Mapping[int, bool | None], now: Mapping[int, bool | None]) -> Iterator[tuple[int, CanaryVerdicts]]:
    for index, verdict in sorted(now.items()):
        earlier = before.get(index)
        if earlier is not None and verdict is not None:
            yield index, CanaryVerdicts(earlier, verdict)
