"""Implements the tasks of the finishing execution that count a run's outcomes and analyze it once all are summarized.

They also carry out the requested analysis of a large run that has ended. Each task may be repeated.
"""

from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from cupel_core.analysis.basic import analyze_run
from cupel_core.analysis.basic import record_failure as record_analysis_failure
from cupel_core.analysis.tabulate import LEAVES_PER_FILE, CountedInputs, counted_inputs, file_ranges, find_or_tabulate
from cupel_core.base.messages import RunRef
from cupel_core.domain.runs.barrier import FANOUT
from cupel_core.domain.runs.leaf_ranges import LeafRange
from cupel_core.domain.runs.run import TERMINAL, RunStatus
from cupel_core.store import runs


class AnalysisFailure(NamedTuple):
    where: str
    why: str


def file_slices(total: int) -> tuple[LeafRange, ...]:
    """Return the leaves that separate tasks count; none for a run of up to 10,000 probes, which one task analyzes."""
    return file_ranges(total) if total > LEAVES_PER_FILE * FANOUT else ()


def tabulate_slice(ref: RunRef, fencing_token: int, leaves: LeafRange) -> None:
    inputs = _inputs(ref, fencing_token)
    if inputs is not None:
        find_or_tabulate(inputs, leaves)


def analyze(ref: RunRef, fencing_token: int, now: datetime) -> str:
    inputs = _inputs(ref, fencing_token)
    return "NONE" if inputs is None else analyze_run(inputs, now).status


def record_failure(ref: RunRef, fencing_token: int, failure: AnalysisFailure, now: datetime) -> None:
    inputs = _inputs(ref, fencing_token)
    if inputs is not None:
        record_analysis_failure(inputs, failure.where, failure.why, now)


def _inputs(ref: RunRef, fencing_token: int) -> CountedInputs | None:
    """Return the inputs, or None for a run that was deleted or has moved on.

    The outcomes are final, as nothing is left to summarize.
    """
    run = runs.find(ref)
    if run is None or run.fencing_token != fencing_token:
        return None
    if run.status is not RunStatus.SUMMARIZING and run.status not in TERMINAL:
        return None
    return replace(counted_inputs(run), is_final=True)
