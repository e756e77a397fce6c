"""Results, metrics and tags of scored transcripts, without their messages: the input of a run's statistics."""

from collections.abc import Iterator
from typing import Any

from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.scoring.scores import ScoredResult
from cupel_core.messages import RunRef
from cupel_core.store import outcomes, rescore_results


def list_run_digests(ref: RunRef, plan: Plan, indexes: range) -> Iterator[ScoredResult]:
    """The results that the run's transcripts carry, by ascending index; a user's correction overrides a judge."""
    for item in outcomes.list_stored(ref, indexes):
        if item.completed:
            corrected = item.correction or {}
            yield _scored(item.index, plan, item.body, item.body.get("scored", {}) | corrected)


def list_rescore_digests(ref: RunRef, plan: Plan, rescore_id: str, indexes: range) -> Iterator[ScoredResult]:
    for index, body in rescore_results.list_bodies(ref, rescore_id, indexes):
        yield _scored(index, plan, body, body)


def _scored(index: int, plan: Plan, body: dict[str, Any], digest: dict[str, Any]) -> ScoredResult:
    probe = plan.probe(index)
    return ScoredResult(
        probe_index=index,
        case=probe.case,
        column=probe.column,
        scenario_id=body["scenarioId"],
        success=digest.get("success"),
        score=digest.get("score"),
        metrics=digest.get("metrics") or {},
        tags=digest.get("tags") or (),
    )
