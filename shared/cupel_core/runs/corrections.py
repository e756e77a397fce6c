"""Corrections of a probe by a user: a result that overrides the judges'.

A probe's status cannot be corrected: it is what the barrier counts (docs/decisions.md).
"""

from cupel_core.domain.runs.transcripts import Transcript, TranscriptResult
from cupel_core.errors import Conflict
from cupel_core.messages import RunRef
from cupel_core.runs.probes import locate_probe
from cupel_core.store import outcomes


def correct_result(workspace: str, probe_id: str, result: TranscriptResult | None) -> None:
    """Override the result of a completed probe; None removes an earlier correction. Conflict for any other probe."""
    run, index = locate_probe(workspace, probe_id)
    ref = RunRef(run.workspace, run.id)
    if not isinstance(outcomes.get(ref, index), Transcript):
        raise Conflict(f"the probe {probe_id} has not completed")
    outcomes.set_correction(ref, index, result)
