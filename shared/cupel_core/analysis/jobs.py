"""Carries out jobs, one message each.

The job and its inputs are written before the message is sent. A worker takes the lease, computes, stores the result and
then ends the job, so a crash at any point repeats work and loses nothing. An error is redelivered; after MAX_ATTEMPTS
the job has failed, and the message stays in the dead letter queue.

1. One transaction writes the inputs of the computation, its links, the job and its entry in the sweeper's list. Ids
   follow from the inputs, so asking again after a crash creates the same.
2. The message is sent. If it is lost, the sweeper sends it after two minutes.
3. A worker takes the lease and counts the attempt. If it dies, the lease ends 30 s after its invocation, and a
   redelivered message, or the sweeper's, starts the job again. Writes to the job require its attempt number, so a
   worker whose lease was taken records nothing more.
4. Missing count files and the figures are written to the bucket. A repetition writes the same bytes.
5. The result is marked as completed. A later worker only repeats the following steps.
6. The event of the run is written. Its repetition shows it twice to a reader.
7. One transaction ends the job and deletes its entry in the list. A redelivered message finds that the job is over.

An impossible computation, such as a comparison with a deleted run, fails the job at once.
"""

from collections.abc import Callable, Mapping
from datetime import timedelta
from enum import StrEnum
from typing import NamedTuple

from cupel_core.analysis import comparisons, deep_analysis
from cupel_core.base.clock import utc_now
from cupel_core.base.errors import ClientError
from cupel_core.base.messages import JobRequest
from cupel_core.domain.analysis.jobs import MAX_ATTEMPTS, Job, JobKind
from cupel_core.domain.runs.run import RunFailure
from cupel_core.store import jobs

_MARGIN = timedelta(seconds=30)
"""A lease outlives the invocation, so that another worker never starts before this one has been stopped."""


class Computation(NamedTuple):
    compute: Callable[[Job, Callable[[str], None]], None]
    """A function that gets the job and another function, which records the stage."""
    fail: Callable[[Job, RunFailure], None]
    stages: tuple[str, ...]


class JobOutcome(StrEnum):
    NOTHING = "nothing"
    """The job is over, or another worker has its lease."""
    COMPLETED = "completed"
    FAILED = "failed"


type Computations = Mapping[JobKind, Computation]

COMPUTATIONS: Computations = {
    JobKind.COMPARISON: Computation(comparisons.compute, comparisons.fail, comparisons.STAGES),
    JobKind.DEEP_ANALYSIS: Computation(deep_analysis.compute, deep_analysis.fail, deep_analysis.STAGES),
}
"""A worker of the queue adds the computations of other capabilities."""


def run_job(request: JobRequest, seconds_left: float, computations: Computations = COMPUTATIONS) -> JobOutcome:
    """Carry out a job.

    An impossible computation fails the job; any other error is raised, so that the message is redelivered. Raises
    NotFound for an unknown job.
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
    """Fail a job without further attempts after an internal error, or leave it to the next delivery."""
    if job.attempts >= MAX_ATTEMPTS:
        _fail(job, computation, job.stage or "start", "an internal error, five times in a row")
    else:
        jobs.release(job)


def _fail(job: Job, computation: Computation, where: str, why: str) -> JobOutcome:
    failure = RunFailure(where, why)
    computation.fail(job, failure)
    jobs.end(job.finished(utc_now(), failure))
    return JobOutcome.FAILED
