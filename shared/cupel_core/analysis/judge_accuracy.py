"""The accuracy of a run's judge, which is computed once for the same labels and outcomes."""

import hashlib
from collections.abc import Mapping

import orjson

from cupel_core.analysis.tabulate import CountedInputs
from cupel_core.domain.calibration.judge_accuracy import JudgeAccuracy, accuracies_of
from cupel_core.domain.codec import encode
from cupel_core.domain.labelling.labels import RESULT
from cupel_core.runs.labelling.labelled_runs import GivenLabels, load_labelled, read_given
from cupel_core.store import judge_accuracies, labels, rescores
from cupel_core.store.judge_verdicts import MAX_PROBES

_FORMAT = 2
"""Stored accuracies of another format are computed again."""


def judge_accuracy(inputs: CountedInputs) -> Mapping[int, JudgeAccuracy]:
    """Return the accuracy of the judge of results, by number of the column.

    Columns without labels are left out, and so are all columns of a run or rescore that goes on, of a run that is too
    large for a calibration, and of a rescore that has graded labelled transcripts only.
    """
    ref, rescore_id = inputs.ref, inputs.rescore_id
    given = _read_labels(inputs)
    if given is None or (rescore_id is not None and rescores.get(ref, rescore_id).is_partial):
        return {}
    key = _key(inputs, given)
    stored = judge_accuracies.find(ref, key)
    if stored is None:
        stored = accuracies_of(load_labelled(inputs.run, RESULT, rescore_id, given))
        judge_accuracies.save(ref, key, stored)
    return stored


def accuracy_key(inputs: CountedInputs) -> str | None:
    """Return a name that is another one after any change of the outcomes, the labels or the label sets. It is None if
    there is no accuracy."""
    given = _read_labels(inputs)
    return None if given is None else _key(inputs, given)


def _read_labels(inputs: CountedInputs) -> GivenLabels | None:
    if not inputs.is_final or inputs.run.plan.total > MAX_PROBES or not labels.may_exist(inputs.ref):
        return None
    given = read_given(inputs.ref, RESULT)
    return given if given.labels else None


def _key(inputs: CountedInputs, given: GivenLabels) -> str:
    parts = [_FORMAT, inputs.revision, list(map(encode, given.labels)), [each.id for each in given.sets]]
    return hashlib.sha256(orjson.dumps(parts)).hexdigest()[:32]
