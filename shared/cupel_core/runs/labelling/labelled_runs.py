"""Labelled runs, read from the table."""

from random import Random

from cupel_core.base.errors import Invalid
from cupel_core.base.messages import RunRef
from cupel_core.domain.calibration.code_calibrations import people_codes
from cupel_core.domain.calibration.labelled_runs import LabelledRun
from cupel_core.domain.labelling.labels import DECISION
from cupel_core.domain.runs.run import Run
from cupel_core.domain.scoring.rescores import LabelledSelection
from cupel_core.store import judge_verdicts, label_sets, labels
from cupel_core.store.judge_verdicts import MAX_PROBES


def labelled_probes(run: Run, selection: LabelledSelection) -> tuple[int, ...]:
    """Return the probes whose transcripts people have decided on without seeing the judge's verdict, ascending."""
    labelled = load_labelled(run, selection.criterion)
    if selection.criterion == DECISION:
        found = sorted(index for index in labelled.weights if people_codes(labelled, index))
    else:
        found = sorted(index for index, each in labelled.verdicts.items() if each.label is not None)
    if selection.number is None or selection.number >= len(found):
        return tuple(found)
    return tuple(sorted(Random(selection.seed).sample(found, selection.number)))  # noqa: S311 - reproducible, not secret


def load_labelled(run: Run, criterion: str, rescore_id: str | None = None) -> LabelledRun:
    """Read the labels and verdicts of a run on a criterion. Raise Invalid for a run that is too large."""
    ref = RunRef(run.workspace, run.id)
    if run.plan.total > MAX_PROBES:
        raise Invalid(f"a calibration reads all verdicts of a run of at most {MAX_PROBES:,} probes: {run.plan.total:,}")
    found = judge_verdicts.list_of_run(ref, criterion, range(run.plan.total), rescore_id)
    judged = {each.probe_index: each for each in found}
    return LabelledRun(run.id, run.plan, criterion, judged, labels.list_of_run(ref), label_sets.list_of_run(ref))
