"""The messages a webhook receives: `{type, timestamp, data}`. They never contain the text of a conversation."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

from cupel_core.base.clock import to_iso
from cupel_core.base.messages import RunRef
from cupel_core.domain.runs.identifiers import transcript_id
from cupel_core.domain.runs.run import ProbeStatus, Run, RunEvent
from cupel_core.domain.runs.transcripts import Outcome, ProbeError


class Payload(NamedTuple):
    """A message. `id` is the same in every attempt, so that receivers can ignore duplicates."""

    id: str
    type: str
    created_at: datetime
    body: Mapping[str, object]


def of_event(ref: RunRef, event: RunEvent) -> Payload:
    """Return the message about a run's event. `seq` numbers the events of a run from 1."""
    data = {**event.data, "workspace": ref.workspace, "runId": ref.run_id, "seq": event.seq}
    body = {"type": event.type, "timestamp": to_iso(event.ts), "data": data}
    return Payload(f"{ref.run_id}.{event.seq}", event.type, event.ts, body)


def of_probes(run: Run, call_id: str, created_at: datetime, outcomes: Iterable[Outcome]) -> Payload:
    """Return the message about probes of the run that have an outcome."""
    data = {
        "workspace": run.workspace,
        "runId": run.id,
        "probes": [_probe(run, outcome) for outcome in outcomes],
    }
    body = {"type": "probes.finished", "timestamp": to_iso(created_at), "data": data}
    return Payload(call_id, "probes.finished", created_at, body)


def _probe(run: Run, outcome: Outcome) -> dict[str, object]:
    column = run.plan.column_of(outcome.probe_index)
    common = {
        "id": transcript_id(run.id, outcome.probe_index),
        "index": outcome.probe_index,
        "model": outcome.model_id,
        "targetId": column.target.id,
        "promptId": column.prompt_id,
        "scenarioId": outcome.scenario_id,
        "personaId": outcome.persona_id,
        "retryRound": outcome.retry_round,
        "createdAt": to_iso(outcome.created_at),
    }
    if isinstance(outcome, ProbeError):
        return {**common, "status": ProbeStatus.ERROR, "errorCode": outcome.code}
    result = outcome.result
    return {
        **common,
        "status": ProbeStatus.COMPLETED,
        "durationMs": outcome.conversation.duration_ms,
        "result": result and {"success": result.success, "score": result.score},
        "decisionCode": outcome.summary and outcome.summary.decision_code,
    }
