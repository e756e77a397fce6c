"""Corrections of a probe by a user: a result that overrides the judges', and deletion of its content.

A probe's status cannot be corrected: it is what the barrier counts (docs/decisions.md).
"""

from cupel_core.domain.runs.transcripts import Transcript, TranscriptResult
from cupel_core.errors import Conflict
from cupel_core.messages import RunRef
from cupel_core.runs.probes import locate_probe
from cupel_core.store import outcomes, rescore_results, rescores


def correct_result(workspace: str, probe_id: str, result: TranscriptResult | None) -> None:
    """Override the result of a completed probe; None removes an earlier correction. Conflict for any other probe."""
    ref, index, _ = _completed_probe(workspace, probe_id)
    outcomes.set_correction(ref, index, result)


def delete_content(workspace: str, probe_id: str) -> None:
    """Delete the messages of a completed probe and what judges wrote about them; counts, costs and the result stay.

    Repeating it changes nothing. Conflict for a probe that has not completed.
    """
    ref, index, transcript = _completed_probe(workspace, probe_id)
    outcomes.delete_content(ref, index, transcript.result)
    for rescore in rescores.list_all_of_run(ref):
        rescore_results.delete_content(ref, rescore.id, index)


def _completed_probe(workspace: str, probe_id: str) -> tuple[RunRef, int, Transcript]:
    run, index = locate_probe(workspace, probe_id)
    ref = RunRef(run.workspace, run.id)
    outcome = outcomes.get(ref, index)
    if not isinstance(outcome, Transcript):
        raise Conflict(f"the probe {probe_id} has not completed")
    return ref, index, outcome
