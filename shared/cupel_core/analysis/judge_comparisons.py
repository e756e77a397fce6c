"""Compares judges on the labels of a run, and finds out whether its judge has changed."""

from collections.abc import Mapping, Sequence

from cupel_core.base.errors import Conflict, Invalid
from cupel_core.base.messages import RunRef
from cupel_core.domain.calibration.fingerprints import RubricFingerprint
from cupel_core.domain.calibration.judge_comparisons import (
    OWN_SCORING,
    DriftFinding,
    JudgeComparison,
    JudgeVerdicts,
    drift_finding,
    judge_comparison,
)
from cupel_core.domain.calibration.labelled_runs import LabelledRun, passed
from cupel_core.domain.codec import decode
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.labelling.labels import DECISION
from cupel_core.domain.runs.run import Run
from cupel_core.domain.scoring.rescores import Rescore, RescoreStatus
from cupel_core.runs.labelling.fingerprints import find_fingerprint
from cupel_core.runs.labelling.labelled_runs import load_labelled
from cupel_core.store import judge_verdicts, rescore_results, rescores, runs


def compare_judges(workspace: str, run_id: str, criterion: str, rescore_ids: Sequence[str]) -> JudgeComparison:
    """Compare the run's own judge with those of completed rescores. Raise Conflict for one that is not completed, and
    Invalid for the criterion `decision`, which rescores do not judge."""
    ref = RunRef(workspace, run_id)
    run = runs.get(ref)
    completed = [_completed(ref, each) for each in dict.fromkeys(rescore_ids)]
    _check_criterion(criterion)
    labelled = load_labelled(run, criterion)
    own = JudgeVerdicts(
        OWN_SCORING,
        run.grader_config.judge_model,
        _digest(find_fingerprint(run, criterion)),
        {index: each.judge for index, each in labelled.verdicts.items()},
    )
    indexes = sorted(labelled.verdicts)
    others = (
        _verdicts_of(run, criterion, each, indexes, find_fingerprint(run, criterion, each.id)) for each in completed
    )
    judges = [own, *others]
    return judge_comparison(labelled.verdicts, judges)


def find_drift(workspace: str, run_id: str, rescore_id: str, criterion: str) -> DriftFinding:
    """Compare the verdicts of a rescore with the run's own. Raise Conflict unless it is completed, has the same judge
    and rubric, and has judged again."""
    ref = RunRef(workspace, run_id)
    run, rescore = runs.get(ref), _completed(ref, rescore_id)
    _check_criterion(criterion)
    if not rescore.config.judges_again:
        raise Conflict(f"the rescore {rescore.id} may have used earlier verdicts: start one with judgeAgain")
    before, now = find_fingerprint(run, criterion), find_fingerprint(run, criterion, rescore.id)
    if before is None or now is None:
        raise Conflict("the run's snapshot was deleted, so nobody knows whether judge and rubric are the same")
    if differences := before.differences(now):
        raise Conflict(f"the calibration does not hold for the rescore: {', '.join(differences)} differ")
    labelled = load_labelled(run, criterion)
    verdicts = _verdicts_of(run, criterion, rescore, rescore.chosen(range(rescore.probe_count)), now)
    return drift_finding(run.id, _own_verdicts(labelled), verdicts)


def _own_verdicts(labelled: LabelledRun) -> Mapping[int, bool | None]:
    return {index: passed(each.verdict) for index, each in labelled.judged.items()}


def _check_criterion(criterion: str) -> None:
    if criterion == DECISION:
        raise Invalid.field("criterion", "must be `result` or the name of a check: rescores judge no codes")


def _completed(ref: RunRef, rescore_id: str) -> Rescore:
    rescore = rescores.get(ref, rescore_id)
    if rescore.status is not RescoreStatus.COMPLETED:
        raise Conflict(f"the rescore {rescore.id} is {rescore.status}: only completed ones are compared")
    return rescore


def _verdicts_of(
    run: Run, criterion: str, rescore: Rescore, indexes: Sequence[int], fingerprint: RubricFingerprint | None
) -> JudgeVerdicts:
    ref = RunRef(run.workspace, run.id)
    found = judge_verdicts.list_of_run(ref, criterion, indexes, rescore.id)
    bodies = rescore_results.list_bodies(ref, rescore.id, range(rescore.probe_count))
    spent = sum((decode(Spend, body["judge"]) for _, body in bodies if "judge" in body), Spend())
    return JudgeVerdicts(
        rescore.id,
        rescore.config.grader_config(run.grader_config).judge_model,
        _digest(fingerprint),
        {each.probe_index: passed(each.verdict) for each in found},
        spent.cost_usd,
    )


def _digest(fingerprint: RubricFingerprint | None) -> str | None:
    return fingerprint.digest if fingerprint else None
