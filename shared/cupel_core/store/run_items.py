"""Runs as items."""

from dataclasses import asdict, astuple
from datetime import datetime
from typing import Any

from pynamodb.attributes import JSONAttribute, NumberAttribute, UnicodeAttribute, UnicodeSetAttribute

from cupel_core.base.clock import from_iso, to_iso
from cupel_core.base.messages import RunRef
from cupel_core.domain.budgets.periods import BudgetScope
from cupel_core.domain.budgets.run_budget import RunBudget
from cupel_core.domain.estimates.intervals import EstimateInterval
from cupel_core.domain.resources.webhooks import CallbackScope
from cupel_core.domain.runs.labels import RunLabels
from cupel_core.domain.runs.pace import Pace
from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.runs.run import (
    PauseCause,
    PauseReason,
    PeriodPause,
    Priority,
    ProfileRef,
    Progress,
    RetryScope,
    Run,
    RunFailure,
    RunStatus,
    StartedBy,
    StarterType,
)
from cupel_core.domain.runs.run_spend import Cost, RunSpend
from cupel_core.domain.runs.targets import Target
from cupel_core.domain.scoring.default_evaluators import statuses_from_json
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.store import keys
from cupel_core.store.table import CreationIndex, Item


class RunItem(Item):
    creation_index = CreationIndex()
    gsi1pk = UnicodeAttribute()
    gsi1sk = UnicodeAttribute()
    definition_id = UnicodeAttribute(attr_name="definitionId")
    experiment_id = UnicodeAttribute(attr_name="experimentId", null=True)
    schedule_id = UnicodeAttribute(attr_name="scheduleId", null=True)
    eval_id = UnicodeAttribute(attr_name="evalId", null=True)
    status = UnicodeAttribute()
    folded_name = UnicodeAttribute(attr_name="foldedName", null=True)
    tags = UnicodeSetAttribute(null=True)
    metadata_entries = UnicodeSetAttribute(attr_name="metadataEntries", null=True)
    """As texts `key=value`, to filter by; the metadata itself is in the body."""
    fencing_token = NumberAttribute(attr_name="fencingToken")
    event_seq = NumberAttribute(attr_name="eventSeq")
    deleted_at = UnicodeAttribute(attr_name="deletedAt", null=True)
    body = JSONAttribute()
    """Everything that no condition and no filter needs."""


def from_item(item: RunItem) -> Run:
    body: dict[str, Any] = item.body
    plan = body["plan"]
    failure, settled = body.get("failure"), body.get("settled")
    return Run(
        workspace=body["workspace"],
        id=body["id"],
        definition_id=item.definition_id,
        definition_version=body["definitionVersion"],
        plan=Plan(
            targets=tuple(map(Target.from_json, plan["targets"])),
            segments=tuple(plan["segments"]),
            repeats=plan["repeats"],
            prompt_ids=tuple(plan["prompt_ids"]),
            prompt_labels=plan["prompt_labels"],
        ),
        sample_percentage=body["samplePercentage"],
        sample_seed=body["sampleSeed"],
        snapshot_key=body["snapshotKey"],
        created_at=from_iso(body["createdAt"]),
        updated_at=from_iso(body["updatedAt"]),
        priority=Priority(body["priority"]),
        status=RunStatus(item.status),
        fencing_token=int(item.fencing_token),
        retry_round=body["retryRound"],
        conversation_round=body["conversationRound"],
        retry=RetryScope(**body["retry"]) if body.get("retry") else None,
        event_seq=int(item.event_seq),
        experiment_id=item.experiment_id,
        schedule_id=item.schedule_id,
        eval_id=item.eval_id,
        execution_id=body.get("executionId"),
        playground=body.get("playground", False),
        grader_config=GraderConfig.from_json(body["graderConfig"]),
        params=body["params"],
        max_attempts=body.get("maxAttempts"),
        retry_delay_seconds=body.get("retryDelaySeconds"),
        call_timeout_seconds=body.get("callTimeoutSeconds"),
        max_turns=body.get("maxTurns"),
        pace=_pace(body),
        profile=ProfileRef(*body["profile"]) if body.get("profile") else None,
        pause_reason=PauseReason(body["pauseReason"]) if body.get("pauseReason") else None,
        pause_cause=PauseCause(**body["pauseCause"]) if body.get("pauseCause") else None,
        period_pause=_period_pause(body.get("periodPause")),
        failure=RunFailure(**failure) if failure else None,
        started_at=_moment(body.get("startedAt")),
        completed_at=_moment(body.get("completedAt")),
        deleted_at=_moment(item.deleted_at),
        settled=Progress(**settled) if settled else None,
        spend=_run_spend(body.get("spend")),
        definition_name=body["definitionName"],
        scenario_count=body["scenarioCount"],
        scenario_total=body["scenarioTotal"],
        started_by=_started_by(body["startedBy"]),
        rerun_of=body.get("rerunOf"),
        revised_prompt=body.get("revisedPrompt"),
        labels=RunLabels(body.get("name"), tuple(sorted(item.tags or ())), body.get("metadata") or {}),
        evaluators=statuses_from_json(body.get("evaluators") or {}),
        report=body.get("report", False),
        trial=body.get("trial", False),
        scale=body.get("scale", False),
        callbacks=CallbackScope(body["callbacks"]) if body.get("callbacks") else None,
        budget=RunBudget.from_json(body["budget"]) if body.get("budget") else None,
        estimated_usd=EstimateInterval(*body["estimatedUsd"]) if body.get("estimatedUsd") else None,
    )


def _pace(body: dict[str, Any]) -> Pace:
    stagger = body.get("staggerMs")
    return Pace(body.get("maxConcurrency"), (stagger[0], stagger[1]) if stagger else None)


def _period_pause(stored: dict[str, Any] | None) -> PeriodPause | None:
    return PeriodPause(BudgetScope(stored["scope"]), stored["needed_nano_usd"]) if stored else None


def _plan_json(plan: Plan) -> dict[str, Any]:
    return {
        "targets": [target.to_json() for target in plan.targets],
        "segments": list(plan.segments),
        "repeats": plan.repeats,
        "prompt_ids": list(plan.prompt_ids),
        "prompt_labels": dict(plan.prompt_labels),
    }


def to_item(run: Run) -> RunItem:
    ref = RunRef(run.workspace, run.id)
    body = {
        "workspace": run.workspace,
        "id": run.id,
        "definitionVersion": run.definition_version,
        "plan": _plan_json(run.plan),
        "samplePercentage": run.sample_percentage,
        "sampleSeed": run.sample_seed,
        "snapshotKey": run.snapshot_key,
        "createdAt": to_iso(run.created_at),
        "updatedAt": to_iso(run.updated_at),
        "priority": run.priority,
        "params": dict(run.params),
        "maxAttempts": run.max_attempts,
        "retryDelaySeconds": run.retry_delay_seconds,
        "callTimeoutSeconds": run.call_timeout_seconds,
        "maxTurns": run.max_turns,
        "maxConcurrency": run.pace.max_concurrency,
        "staggerMs": run.pace.stagger_ms and list(run.pace.stagger_ms),
        "profile": run.profile and list(run.profile),
        "pauseReason": run.pause_reason,
        "pauseCause": run.pause_cause and asdict(run.pause_cause),
        "periodPause": run.period_pause and asdict(run.period_pause),
        "failure": run.failure and asdict(run.failure),
        "startedAt": run.started_at and to_iso(run.started_at),
        "completedAt": run.completed_at and to_iso(run.completed_at),
        "settled": run.settled and asdict(run.settled),
        "spend": run.spend and _spend_json(run.spend),
        "retryRound": run.retry_round,
        "conversationRound": run.conversation_round,
        "retry": run.retry and asdict(run.retry),
        "executionId": run.execution_id,
        "playground": run.playground or None,
        "graderConfig": run.grader_config.to_json(),
        "definitionName": run.definition_name,
        "scenarioCount": run.scenario_count,
        "scenarioTotal": run.scenario_total,
        "startedBy": asdict(run.started_by),
        "rerunOf": run.rerun_of,
        "revisedPrompt": run.revised_prompt,
        "name": run.labels.name,
        "metadata": dict(run.labels.metadata) or None,
        "evaluators": dict(run.evaluators) or None,
        "report": run.report or None,
        "trial": run.trial or None,
        "scale": run.scale or None,
        "callbacks": run.callbacks,
        "budget": run.budget and asdict(run.budget),
        "estimatedUsd": run.estimated_usd and list(astuple(run.estimated_usd)),
    }
    return RunItem(
        keys.run(ref),
        "run",
        gsi1pk=f"{run.workspace}#runs",
        gsi1sk=f"{to_iso(run.created_at)}#{run.id}",
        definition_id=run.definition_id,
        experiment_id=run.experiment_id,
        schedule_id=run.schedule_id,
        eval_id=run.eval_id,
        status=run.status,
        folded_name=run.labels.name and run.labels.name.casefold(),
        tags=set(run.labels.tags) or None,
        metadata_entries=set(run.labels.metadata_entries()) or None,
        fencing_token=run.fencing_token,
        event_seq=run.event_seq,
        deleted_at=run.deleted_at and to_iso(run.deleted_at),
        body={name: value for name, value in body.items() if value is not None},
    )


def _run_spend(stored: dict[str, Any] | None) -> RunSpend | None:
    if not stored:
        return None
    by_column = {int(column): Cost(**cost) for column, cost in stored["by_column"].items()}
    return RunSpend(Cost(**stored["recorded"]), Cost(**stored["lost"]), by_column)


def _spend_json(spend: RunSpend) -> dict[str, Any]:
    by_column = {str(column): asdict(cost) for column, cost in spend.by_column.items()}
    return {"recorded": asdict(spend.recorded), "lost": asdict(spend.lost), "by_column": by_column}


def _started_by(stored: dict[str, Any]) -> StartedBy:
    return StartedBy(StarterType(stored["type"]), stored["id"], stored["name"])


def _moment(text: str | None) -> datetime | None:
    return from_iso(text) if text else None
