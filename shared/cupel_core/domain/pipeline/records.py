from collections.abc import Mapping
from typing import Any

from cupel_core.base.deferred import replace
from cupel_core.domain.codec import encode
from cupel_core.domain.pipeline.operations import Hook, ProfileOperation, Trigger
from cupel_core.domain.pipeline.planning import PipelinePlan
from cupel_core.domain.pipeline.results import StepResult
from cupel_core.domain.pipeline.turns import OpenTurn, commit_rows


def turn_record(
    plan: PipelinePlan, turn: OpenTurn, number: int, version: int, originals: Mapping[str, str]
) -> dict[str, Any]:
    """Return the record; `originals` are the texts that were rewritten, as `originalUser` and `originalAnswer`."""
    return {
        "number": number,
        "trigger": Trigger.GENERATE,
        "profileVersion": version,
        "operations": [
            operation_record(hook, step, turn.results(hook)[step.id])
            for hook, steps in plan.steps.items()
            for step in steps
            if step.id in turn.results(hook)
        ],
        "promptHash": turn.prompt_hash,
        "commits": commit_report(plan, turn),
        **originals,
    }


def commit_report(plan: PipelinePlan, turn: OpenTurn) -> list[dict[str, Any]]:
    return [
        {
            "hook": row.hook,
            "operationId": row.operation_id,
            "effectIndex": row.effect_index,
            "effectType": row.effect_type,
            "status": row.status,
            **({"error": row.error} if row.error else {}),
        }
        for row in commit_rows(plan, turn)
    ]


def operation_record(hook: Hook, step: ProfileOperation, result: StepResult) -> dict[str, Any]:
    """Return the record without empty fields, because most operations are done and only have a value."""
    optional = {
        "value": result.value,
        "skippedReason": result.skip_reason,
        "skippedDetails": dict(result.details) or None,
        "error": result.error and result.error._asdict(),
        "spend": encode(replace(result.spend, models={})) if result.spend.has_calls else None,
        "startedAt": result.started_at or None,
        "inputs": result.call.get("inputs"),
        "outputs": result.call.get("outputs") or None,
    }
    return {
        "operationId": step.id,
        "name": step.name,
        "kind": step.kind,
        "hook": hook,
        "tag": step.artifact.tag,
        "status": result.status,
        "durationMs": result.duration_ms,
        **{name: value for name, value in optional.items() if value is not None},
    }
