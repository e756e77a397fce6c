"""Determines what a turn stores: the answer, rewritten texts, annotations, artifacts, and the turn's report."""

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from cupel_core.base.deferred import dataclass, replace
from cupel_core.domain.chats.turns import AbortReason
from cupel_core.domain.codec import encode
from cupel_core.domain.pipeline.artifacts import ArtifactPersistence
from cupel_core.domain.pipeline.operations import EffectType, Hook, ProfileOperation
from cupel_core.domain.pipeline.planning import PipelinePlan
from cupel_core.domain.pipeline.prompt import rewritten_text
from cupel_core.domain.pipeline.records import operation_record
from cupel_core.domain.pipeline.results import StepStatus
from cupel_core.domain.pipeline.turns import Artifacts, OpenTurn, StoredArtifact, committed_artifacts


@dataclass(frozen=True)
class TurnCommit:
    user: str | None
    answer: str | None
    annotations: tuple[str, ...]
    artifacts: Mapping[str, StoredArtifact]


def commit_of(plan: PipelinePlan, turn: OpenTurn, artifacts: Artifacts) -> TurnCommit:
    """Collect the effects of operations that are done; of several rewrites, the last in commit order counts."""
    before, after = plan.steps[Hook.BEFORE], plan.steps[Hook.AFTER]
    user = rewritten_text(after, turn.after, EffectType.REWRITE_USER)
    return TurnCommit(
        user if user is not None else rewritten_text(before, turn.before, EffectType.REWRITE_USER),
        rewritten_text(after, turn.after, EffectType.REWRITE_ASSISTANT),
        tuple(_annotations(after, turn)),
        committed_artifacts(plan, turn, artifacts),
    )


def artifact_summary(plan: PipelinePlan, turn: OpenTurn, commit: TurnCommit) -> dict[str, Any]:
    """Summarize the artifacts that a turn has written: versions of persisted ones, and sizes of the others."""
    done = [
        (step.artifact, result.value)
        for hook, steps in plan.steps.items()
        for step in steps
        if (result := turn.results(hook).get(step.id)) is not None and result.is_done
    ]
    persisted, run_only = dict[str, int](), dict[str, bytes]()
    for artifact, value in done:
        if artifact.persistence is ArtifactPersistence.PERSISTED:
            persisted[artifact.tag] = commit.artifacts[artifact.tag].version
        else:
            run_only[artifact.tag] = printed_bytes(value)
    return {
        "persisted": [{"tag": tag, "version": version} for tag, version in persisted.items()],
        "runOnly": [
            {"tag": tag, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
            for tag, content in run_only.items()
        ],
    }


def printed_bytes(value: Any) -> bytes:
    return value.encode() if isinstance(value, str) else json.dumps(value, ensure_ascii=False).encode()


def _annotations(steps: Collection[ProfileOperation], turn: OpenTurn) -> Iterator[str]:
    for step in steps:
        result = turn.after.get(step.id)
        if result is not None and result.is_done:
            for effect, payload in zip(step.effects, result.payloads, strict=True):
                if effect.type is EffectType.ANNOTATE_ASSISTANT and payload.error is None and payload.text.strip():
                    yield payload.text


def operation_records(
    plan: PipelinePlan, turn: OpenTurn, started: Collection[tuple[Hook, str]], reason: AbortReason | None
) -> list[dict[str, Any]]:
    """Return a record for every planned operation. One without a result was running when the turn was stopped, or had
    not begun."""
    records = []
    for hook, steps in plan.steps.items():
        for step in steps:
            result = turn.results(hook).get(step.id)
            if result is not None:
                records.append({**operation_fields(hook, step), **operation_record(hook, step, result)})
            else:
                was_running = (hook, step.id) in started
                paid = turn.answers.get(step.id) if was_running else None
                call = {"spend": encode(replace(paid.spend, models={})), **paid.call} if paid else {}
                records.append({**operation_fields(hook, step), **_stopped(was_running, reason), **call})
    return records


def operation_fields(hook: Hook, step: ProfileOperation) -> dict[str, Any]:
    return {
        "operationId": step.id,
        "name": step.name,
        "kind": step.kind,
        "hook": hook,
        "tag": step.artifact.tag,
        "required": step.required,
        "order": step.order,
        "dependsOn": list(step.depends_on),
    }


def _stopped(was_running: bool, reason: AbortReason | None) -> dict[str, Any]:
    if not was_running:
        return {"status": StepStatus.SKIPPED, "skippedReason": "aborted"}
    if reason is AbortReason.DEADLINE:
        return {"status": StepStatus.ERROR, "error": {"code": "timeout", "message": "the turn's deadline has passed"}}
    return {"status": "aborted"}
