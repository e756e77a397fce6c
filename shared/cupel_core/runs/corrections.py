"""A person's word on a probe: a result instead of the judges', and the end of what was said.

A probe's status is not changed by hand: it is what the barrier counts (docs/decisions.md).
"""

from cupel_core.domain.runs.transcripts import Result, Transcript
from cupel_core.errors import Conflict
from cupel_core.messages import RunRef
from cupel_core.runs.probes import probe_of
from cupel_core.store import outcomes, rescore_results, rescores


def correct(workspace: str, probe_id: str, result: Result | None) -> None:
    """None takes an earlier correction back. Conflict for a probe that has not completed."""
    ref, index, _ = _completed(workspace, probe_id)
    outcomes.correct(ref, index, result)


def delete_content(workspace: str, probe_id: str) -> None:
    """What judges said of it goes with it; counts, costs and the result stay. Also when it was deleted before."""
    ref, index, transcript = _completed(workspace, probe_id)
    outcomes.forget_content(ref, index, transcript.result)
    for scoring in rescores.every(ref):
        rescore_results.forget_content(ref, scoring.id, index)


def _completed(workspace: str, probe_id: str) -> tuple[RunRef, int, Transcript]:
    run, index = probe_of(workspace, probe_id)
    ref = RunRef(run.workspace, run.id)
    found = outcomes.get(ref, index)
    if not isinstance(found, Transcript):
        raise Conflict(f"the probe {probe_id} has not completed")
    return ref, index, found
