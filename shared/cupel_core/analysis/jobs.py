"""Carries out jobs, one message each.

The job and what it computes are written before the message is sent. A worker takes the lease, computes, stores the
result and then ends the job, so a crash at any point repeats work and loses nothing. An error is redelivered; after
MAX_ATTEMPTS the job has failed, and the message stays in the dead letter queue.
"""

from collections.abc import Callable, Mapping
from datetime import timedelta
from enum import StrEnum
from typing import NamedTuple

from cupel_core.analysis import compare, deep_analysis
from cupel_core.clock import utc_now
from cupel_core.domain.analysis.jobs import MAX_ATTEMPTS, Job, JobKind
from cupel_core.domain.runs.run import RunFailure
from cupel_core.errors import ClientError
from cupel_core.messages import JobRequest
from cupel_core.store import jobs

_MARGIN = timedelta(seconds=30)
"""A lease outlives the invocation, so that another worker never starts before this one has been stopped."""


class Computation(NamedTuple):
    """How a kind of jobs is carried out."""

    compute: Callable[[Job, Callable[[str], None]], None]
    """Takes the job and a function that notes the stage."""
    fail: Callable[[Job, RunFailure], None]
    stages: tuple[str, ...]
    """In their order."""


class JobOutcome(StrEnum):
    """How a message was dealt with."""

    NOTHING = "nothing"
    """The job is over, or another worker has its lease."""
    COMPLETED = "completed"
    FAILED = "failed"


type Computations = Mapping[JobKind, Computation]

COMPUTATIONS: Computations = {
    JobKind.COMPARISON: Computation(compare.compute, compare.fail, compare.STAGES),
    JobKind.DEEP_ANALYSIS: Computation(deep_analysis.compute, deep_analysis.fail, deep_analysis.STAGES),
}
"""Those of this capability; a worker of the queue adds those of others."""


def run_job(request: JobRequest, seconds_left: float, computations: Computations = COMPUTATIONS) -> JobOutcome:
    """Carry out a job. What cannot be computed fails it; any other error is raised, for the message to be redelivered.

    Raises NotFound for an unknown job.
    """
    now = utc_now()
    until = now + timedelta(seconds=seconds_left) + _MARGIN
    job = jobs.claim(request, now, until)
    if job is None:
        return JobOutcome.NOTHING
    computation = computations[job.kind]
    if job.attempts > MAX_ATTEMPTS:
        return _fail(job, computation, "internal", "the job was interrupted too often")
    stages = [job]

    def note_stage(stage: str) -> None:
        stages.append(stages[-1].at(stage, computation.stages.index(stage), len(computation.stages), utc_now()))
        jobs.note_progress(stages[-1], until)

    try:
        computation.compute(job, note_stage)
    except ClientError as error:
        return _fail(stages[-1], computation, stages[-1].stage or "start", error.detail)
    except Exception:
        _give_back(stages[-1], computation)
        raise
    jobs.end(stages[-1].finished(utc_now()))
    return JobOutcome.COMPLETED


def _give_back(job: Job, computation: Computation) -> None:
    """After an internal error: fail a job without further attempts, and leave any other to the next delivery."""
    if job.attempts >= MAX_ATTEMPTS:
        _fail(job, computation, job.stage or "start", "an internal error, five times in a row")
    else:
        jobs.release(job)


def _fail(job: Job, computation: Computation, where: str, why: str) -> JobOutcome:
    failure = RunFailure(where, why)
    computation.fail(job, failure)
    jobs.end(job.finished(utc_now(), failure))
    return JobOutcome.FAILED
