"""What has to hold of a run at rest, read from its items."""

from cupel_core.domain.runs.barrier import FANOUT, Node
from cupel_core.domain.runs.run import Run, RunStatus
from cupel_core.domain.runs.transcripts import Transcript
from cupel_core.messages import RunRef
from cupel_core.store import barrier, events, outcomes


def violations(run: Run) -> list[str]:
    """Empty for a run that is COMPLETED, with one outcome of every probe and the barrier in agreement."""
    found = []
    ref, total = RunRef(run.workspace, run.id), run.plan.total
    if run.status is not RunStatus.COMPLETED:
        found.append(f"the run is {run.status}")
    recorded = list(outcomes.in_range(ref, range(total)))
    if [each.probe_index for each in recorded] != list(range(total)):
        found.append(f"{len(recorded)} of {total} probes have an outcome")
    completed = {each.probe_index for each in recorded if isinstance(each, Transcript)}
    if len(completed) != total:
        found.append(f"{total - len(completed)} probes are errored")
    if run.eval_id and not all(
        each.result and each.result.success for each in recorded if isinstance(each, Transcript)
    ):
        found.append("a conversation was not judged as its judge is")
    if any(each.summary is None for each in recorded if isinstance(each, Transcript)):
        found.append("a transcript has no summary")
    counted = {
        number * FANOUT + offset
        for parent in range(-(-total // FANOUT**2))
        for number, item in barrier.leaves(ref, Node(1, parent)).items()
        for offset in item.leaf.completed
    }
    if counted != completed:
        found.append(f"the barrier counts {len(counted)}, {len(completed)} are there")
    if (run.settled.completed, run.settled.failed) != (total, 0) if run.settled else True:
        found.append(f"the run tells {run.settled}")
    told = list(events.after(ref, 0))
    if [event.seq for event in told] != list(range(1, len(told) + 1)) or len(told) != run.event_seq:
        found.append(f"the events are {[event.seq for event in told]}, the run has told {run.event_seq}")
    return found
