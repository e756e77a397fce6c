"""The probes of an evaluation, and what they come to, in the words and the shapes of the API."""

from dataclasses import dataclass

from cupel.json_types import Json
from cupel.junit import case_name
from cupel_core.clock import to_iso
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.resources.personas import Persona
from cupel_core.domain.runs.run import ProbeStatus
from cupel_core.domain.runs.transcripts import Outcome, ProbeError, Result, Transcript
from cupel_core.domain.scoring.scoring import Scoring
from cupel_core.domain.turns.conversation import Spend, Verdict
from cupel_core.domain.turns.model_request import Message

_UNSET: Json = {"metric": None, "tag": None, "error": None, "parts": []}


@dataclass(frozen=True)
class Probe:
    """One conversation of one target: `index` is its place in the plan, as in a run."""

    index: int
    scenario: Scenario
    target: str
    persona: Persona | None
    repeat: int
    """From 0."""
    repeats: int
    total: int
    """Of the whole evaluation."""
    thread_id: str

    @property
    def name(self) -> str:
        """`Book a haircut (Ada) #2`."""
        return case_name(self.scenario.name, self.persona.name if self.persona else None, self.repeat, self.repeats)


@dataclass(frozen=True)
class ProbeResult:
    """Either a transcript or an error. An error is of the infrastructure and says nothing about the target."""

    probe: Probe
    outcome: Outcome

    @property
    def status(self) -> ProbeStatus:
        return ProbeStatus.COMPLETED if self.transcript else ProbeStatus.ERROR

    @property
    def transcript(self) -> Transcript | None:
        return self.outcome if isinstance(self.outcome, Transcript) else None

    @property
    def error(self) -> ProbeError | None:
        return self.outcome if isinstance(self.outcome, ProbeError) else None

    @property
    def scenario(self) -> str:
        return self.probe.scenario.name

    @property
    def target(self) -> str:
        return self.probe.target

    @property
    def persona(self) -> str | None:
        return self.probe.persona.name if self.probe.persona else None

    @property
    def repeat(self) -> int:
        return self.probe.repeat

    @property
    def messages(self) -> tuple[Message, ...]:
        return self.transcript.messages if self.transcript else ()

    @property
    def result(self) -> Result | None:
        """None where nothing was to be judged, and where it could not be."""
        return self.transcript.result if self.transcript else None

    @property
    def success(self) -> bool | None:
        return self.result.success if self.result else None

    @property
    def scoring(self) -> Scoring | None:
        return self.transcript.scoring if self.transcript else None

    @property
    def verdict(self) -> Verdict | None:
        return self.transcript.dialogue.verdict if self.transcript else None

    @property
    def spends(self) -> dict[str, Spend]:
        """What `target`, `judge` and `persona` have used, each apart."""
        if self.transcript is None:
            return {}
        dialogue = self.transcript.dialogue
        target = Spend(dialogue.turns, dialogue.usage, dialogue.cost_usd)
        return {"target": target, "judge": dialogue.judge, "persona": dialogue.persona}

    def to_json(self, run_id: str) -> Json:
        """A transcript or an errored probe as the API tells it, with the names of scenario and persona."""
        names = {"scenarioName": self.scenario, "personaName": self.persona, "repeat": self.repeat}
        head = {"id": f"{run_id}.{self.probe.index}", "runId": run_id, "status": str(self.status), **names}
        if self.transcript is not None:
            return head | transcript_json(self.transcript)
        return head | _error_json(self)


def transcript_json(kept: Transcript) -> Json:
    """In the fields of `GET /transcripts/{id}`."""
    dialogue, summary = kept.dialogue, kept.summary
    return {
        "probeIndex": kept.probe_index,
        "scenarioId": kept.scenario_id,
        "modelId": kept.model_id,
        "modelVersion": dialogue.model_version,
        "personaId": kept.persona_id,
        "finishReason": dialogue.finish_reason,
        "definitionSnapshot": None,
        "content": {"messages": [{"role": str(said.role), "content": said.content} for said in kept.messages]},
        "output": dict(dialogue.output) if dialogue.output else None,
        "turnCount": dialogue.turns,
        "tokenCount": dialogue.usage.total,
        "usage": {"inputTokens": dialogue.usage.input_tokens, "outputTokens": dialogue.usage.output_tokens},
        "judge": _spend_json(dialogue.judge),
        "persona": _spend_json(dialogue.persona),
        "durationMs": dialogue.duration_ms,
        "costUsd": dialogue.cost_usd,
        "decisionCode": summary.decision_code if summary else None,
        "decisionText": summary.decision_text if summary else None,
        "summarizedAt": to_iso(summary.summarized_at) if summary else None,
        "summaryError": summary.error if summary else None,
        "verdict": dialogue.verdict.to_json() if dialogue.verdict else None,
        "scoring": _scoring_json(kept.scoring) if kept.scoring else None,
        "result": _result_json(kept.result) if kept.result else None,
        "corrected": False,
        "createdAt": to_iso(kept.created_at),
        "lastAccessedAt": None,
        "contentExpiresAt": None,
    }


def _spend_json(spend: Spend) -> Json:
    usage = {"inputTokens": spend.usage.input_tokens, "outputTokens": spend.usage.output_tokens}
    return {"calls": spend.calls, "usage": usage, "costUsd": spend.cost_usd}


def _scoring_json(scoring: Scoring) -> Json:
    """The verdict stands beside it. What is not set is told too, as the API does."""
    return {
        "success": scoring.success,
        "score": scoring.score,
        "reason": scoring.reason,
        "results": [_UNSET | result.to_json() for result in scoring.results],
        "tags": list(scoring.tags),
        "metrics": dict(scoring.metrics),
        "evaluatorNote": scoring.evaluator_note,
    }


def _result_json(result: Result) -> Json:
    return {"success": result.success, "score": result.score, "reason": result.reason}


def _error_json(errored: ProbeResult) -> Json:
    probe, error = errored.probe, errored.error
    return {
        "index": probe.index,
        "scenarioId": probe.scenario.id,
        "modelId": probe.target,
        "personaId": probe.persona.id if probe.persona else None,
        "threadId": probe.thread_id,
        "error": error
        and {
            "code": str(error.code),
            "message": error.message,
            "attempts": error.attempts,
            "createdAt": to_iso(error.created_at),
        },
    }
