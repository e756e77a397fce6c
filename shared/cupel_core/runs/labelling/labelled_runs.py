"""Labelled runs, read from the table."""

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from cupel_core.base.errors import Invalid
from cupel_core.base.messages import RunRef
from cupel_core.domain.calibration.labelled_runs import LabelledRun
from cupel_core.domain.labelling.label_sets import LabelSet
from cupel_core.domain.labelling.labels import Label
from cupel_core.domain.runs.run import Run
from cupel_core.domain.scoring.rescores import LabelledSelection
from cupel_core.store import judge_verdicts, label_sets, labels
from cupel_core.store.judge_verdicts import MAX_PROBES


def labelled_probes(run: Run, selection: LabelledSelection) -> tuple[int, ...]:
    """Return the probes whose transcripts people have decided on without seeing the judge's verdict, ascending."""
    labelled = load_labelled(run, selection.criterion)
    found = sorted(index for index, each in labelled.verdicts.items() if each.label is not None)
    if selection.number is None or selection.number >= len(found):
        return tuple(found)
    return tuple(sorted(Random(selection.seed).sample(found, selection.number)))  # noqa: S311 - reproducible, not secret


class GivenLabels(NamedTuple):
    labels: Sequence[Label]
    sets: Sequence[LabelSet]


def read_given(ref: RunRef, criterion: str) -> GivenLabels:
    """Read the labels of a criterion without comments, and its label sets."""
    found = (label for label in labels.list_of_run(ref) if label.value is not None)
    given = [label for label in found if label.criterion == criterion]
    return GivenLabels(given, [each for each in label_sets.list_of_run(ref) if each.criterion == criterion])


def load_labelled(
    run: Run, criterion: str, rescore_id: str | None = None, given: GivenLabels | None = None
) -> LabelledRun:
    """Read the labels and verdicts of a run on a criterion. Raise Invalid for a run that is too large."""
    ref = RunRef(run.workspace, run.id)
    if run.plan.total > MAX_PROBES:
        raise Invalid(f"a calibration reads all verdicts of a run of at most {MAX_PROBES:,} probes: {run.plan.total:,}")
    found = judge_verdicts.list_of_run(ref, criterion, range(run.plan.total), rescore_id)
    judged = {each.probe_index: each for each in found}
    given = given or read_given(ref, criterion)
    indexes = {label.probe_index for label in given.labels}
    verdicts = {
        other: {each.probe_index: each.verdict for each in judge_verdicts.list_of_run(ref, criterion, indexes, other)}
        for other in {each.rescore_id for each in given.sets} - {rescore_id}
        if len(given.sets) > 1
    }
    return LabelledRun(run.id, run.plan, criterion, judged, given.labels, given.sets, verdicts)
