"""The phases of a scoring's execution: begin → score (by slices of leaves) → complete, or fail. Each may come again."""

from dataclasses import dataclass
from datetime import datetime

from cupel_core.domain.leaf_ranges import LeafRange, leaf_ranges
from cupel_core.domain.rescoring import RescoringStatus
from cupel_core.domain.runs import Failure
from cupel_core.messages import RunRef
from cupel_core.store import rescorings, runs


@dataclass(frozen=True)
class Begun:
    status: RescoringStatus
    slices: tuple[LeafRange, ...] = ()


def begin(ref: RunRef, scoring_id: str) -> Begun:
    """NotFound when its run was deleted."""
    runs.get(ref)
    rescoring = rescorings.begin(ref, scoring_id)
    if rescoring.status is not RescoringStatus.RUNNING:
        return Begun(rescoring.status)
    return Begun(rescoring.status, leaf_ranges(rescoring.probes))


def complete(ref: RunRef, scoring_id: str, now: datetime) -> RescoringStatus:
    rescoring = rescorings.get(ref, scoring_id)
    if rescoring.status.is_over:
        return rescoring.status
    counted = rescorings.tally(rescoring)
    return rescorings.end(rescoring.ended(RescoringStatus.COMPLETED, now, counted)).status


def fail(ref: RunRef, scoring_id: str, where: str, why: str, now: datetime) -> RescoringStatus:
    """The workflow gave up; what was scored until then can be read."""
    rescoring = rescorings.get(ref, scoring_id)
    if rescoring.status.is_over:
        return rescoring.status
    counted = rescorings.tally(rescoring)
    return rescorings.end(rescoring.ended(RescoringStatus.FAILED, now, counted, Failure(where, why))).status
