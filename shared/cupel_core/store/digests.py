"""What figures are computed from: of each scored transcript its result, metrics and tags, without what was said."""

from collections.abc import Iterator
from typing import Any

from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.scoring.scores import Scored
from cupel_core.messages import RunRef
from cupel_core.store import keys, rescore_results
from cupel_core.store.outcome_items import OutcomeItem

_READ = ["sk", "completed", "body", "correction"]


def of_run(ref: RunRef, plan: Plan, indexes: range) -> Iterator[Scored]:
    """Of the transcripts themselves, ascending; a person's word comes before a judge's."""
    for block in keys.blocks(indexes):
        between = OutcomeItem.sk.between(keys.probe(block.start), keys.probe(block.stop - 1))
        for item in OutcomeItem.query(keys.probes(ref, block.start), between, attributes_to_get=_READ):
            if item.completed:
                corrected = item.correction or {}
                yield _scored(item.index, plan, item.body, item.body.get("scored", {}) | corrected)


def of_rescoring(ref: RunRef, plan: Plan, scoring_id: str, indexes: range) -> Iterator[Scored]:
    for index, body in rescore_results.bodies(ref, scoring_id, indexes):
        yield _scored(index, plan, body, body)


def _scored(index: int, plan: Plan, body: dict[str, Any], digest: dict[str, Any]) -> Scored:
    return Scored(
        probe_index=index,
        case=plan.probe(index).case,
        model_id=body["modelId"],
        scenario_id=body["scenarioId"],
        success=digest.get("success"),
        score=digest.get("score"),
        metrics=digest.get("metrics") or {},
        tags=digest.get("tags") or (),
    )
