"""Corrections of a probe by a user: a result that overrides the judges'.

A probe's status cannot be corrected, because the barrier counts it (docs/decisions.md).
"""

from dataclasses import asdict
from datetime import datetime

from cupel_core.base.errors import Conflict
from cupel_core.base.messages import RunRef
from cupel_core.base.preconditions import UNCONDITIONAL, Precondition, content_etag
from cupel_core.domain.runs.transcripts import Outcome, Transcript, TranscriptResult, readable_at
from cupel_core.runs.probes import locate_probe
from cupel_core.store import outcomes


def result_etag(outcome: Outcome | None) -> str:
    """Return the ETag of a probe. It covers the result, which is all that can be corrected."""
    result = outcome.result if isinstance(outcome, Transcript) else None
    return content_etag(result and asdict(result))


def correct_result(
    workspace: str,
    probe_id: str,
    result: TranscriptResult | None,
    now: datetime,
    precondition: Precondition = UNCONDITIONAL,
) -> None:
    """Override the result of a completed probe. None removes an earlier correction. Raise Conflict for any other
    probe."""
    run, index = locate_probe(workspace, probe_id)
    ref = RunRef(run.workspace, run.id)
    before = outcomes.get(ref, index)
    if not isinstance(before, Transcript):
        raise Conflict(f"the probe {probe_id} has not completed")
    precondition.check(result_etag(readable_at(before, now)))
    with precondition.guard_write():
        outcomes.set_correction(ref, index, result, before if precondition.is_set else None)
