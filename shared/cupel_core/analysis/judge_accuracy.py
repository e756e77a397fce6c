"""The accuracy of a run's judge, which is computed once for the same labels and outcomes."""

import hashlib
from collections.abc import Mapping

import orjson

from cupel_core.analysis.calibration import calibrate
from cupel_core.analysis.tabulate import CountedInputs, counted_inputs
from cupel_core.domain.calibration.judge_accuracy import JudgeAccuracy, accuracies_of
from cupel_core.domain.codec import encode
from cupel_core.domain.labelling.labels import RESULT
from cupel_core.domain.runs.run import Run
from cupel_core.store import judge_accuracies, label_sets, labels, rescores
from cupel_core.store.judge_verdicts import MAX_PROBES

_FORMAT = 1
"""Stored accuracies of another format are computed again."""


def judge_accuracy(run: Run, rescore_id: str | None = None) -> Mapping[int, JudgeAccuracy]:
    """Return the accuracy of the judge of results, by number of the column.

    Columns without labels are left out, and so are all columns of a run or rescore that goes on, of a run that is too
    large for a calibration, and of a rescore that has graded labelled transcripts only.
    """
    inputs = counted_inputs(run, rescore_id)
    if rescore_id is not None and rescores.get(inputs.ref, rescore_id).is_partial:
        return {}
    key = accuracy_key(inputs)
    if key is None:
        return {}
    stored = judge_accuracies.find(inputs.ref, key)
    if stored is None:
        stored = accuracies_of(calibrate(run.workspace, run.id, RESULT, rescore_id))
        judge_accuracies.save(inputs.ref, key, stored)
    return stored


def accuracy_key(inputs: CountedInputs) -> str | None:
    """Return a name that is another one after any change of the outcomes, the labels or the label sets. It is None if
    there is no accuracy."""
    ref = inputs.ref
    if not inputs.is_final or inputs.run.plan.total > MAX_PROBES or not labels.may_exist(ref):
        return None
    given = [encode(label) for label in labels.list_of_run(ref) if label.criterion == RESULT]
    if not given:
        return None
    sets = [each.id for each in label_sets.list_of_run(ref)]
    return hashlib.sha256(orjson.dumps([_FORMAT, inputs.revision, given, sets])).hexdigest()[:32]
