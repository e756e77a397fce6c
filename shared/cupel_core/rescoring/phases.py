"""The phases of a scoring's execution: begin → score (by slices of leaves) → complete, or fail. Each may come again."""

from dataclasses import dataclass
from datetime import datetime

from cupel_core.domain.runs.leaf_ranges import LeafRange, leaf_ranges
from cupel_core.domain.runs.run import Failure
from cupel_core.domain.scoring.rescores import RescoringStatus
from cupel_core.messages import RunRef
from cupel_core.store import rescores, runs


@dataclass(frozen=True)
class Begun:
    status: RescoringStatus
    slices: tuple[LeafRange, ...] = ()


def begin(ref: RunRef, scoring_id: str) -> Begun:
    """NotFound when its run was deleted."""
    runs.get(ref)
    rescoring = rescores.begin(ref, scoring_id)
    if rescoring.status is not RescoringStatus.RUNNING:
        return Begun(rescoring.status)
    return Begun(rescoring.status, leaf_ranges(rescoring.probes))


def complete(ref: RunRef, scoring_id: str, now: datetime) -> RescoringStatus:
    rescoring = rescores.get(ref, scoring_id)
    if rescoring.status.is_over:
        return rescoring.status
    counted = rescores.tally(rescoring)
    return rescores.end(rescoring.ended(RescoringStatus.COMPLETED, now, counted)).status


def fail(ref: RunRef, scoring_id: str, where: str, why: str, now: datetime) -> RescoringStatus:
    """The workflow gave up; what was scored until then can be read."""
    rescoring = rescores.get(ref, scoring_id)
    if rescoring.status.is_over:
        return rescoring.status
    counted = rescores.tally(rescoring)
    return rescores.end(rescoring.ended(RescoringStatus.FAILED, now, counted, Failure(where, why))).status
