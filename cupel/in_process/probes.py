from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cupel.json_types import Json
from cupel.junit_xml import case_name
from cupel_core.contract.columns import ColumnFields
from cupel_core.contract.common import ResponseModel
from cupel_core.contract.run_probes import CaseFields, ProbeErrorResponse
from cupel_core.contract.transcripts import TranscriptResponse
from cupel_core.domain.conversations.conversation import Verdict
from cupel_core.domain.conversations.model_request import Message
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.resources.personas import Persona
from cupel_core.domain.runs.case_view import CaseView
from cupel_core.domain.runs.identifiers import transcript_id
from cupel_core.domain.runs.plan import Column
from cupel_core.domain.runs.run import ProbeStatus
from cupel_core.domain.runs.transcripts import Outcome, ProbeError, Transcript, TranscriptResult
from cupel_core.domain.runs.views import TranscriptView
from cupel_core.domain.scoring.scoring import Scoring


@dataclass(frozen=True)
class Probe:
    """Represents one conversation of one target. `index` is its position in the plan, as in a run."""

    index: int
    scenario: Scenario
    column: Column
    persona: Persona | None
    repeat: int
    """Counts from 0."""
    repeats: int
    total: int
    thread_id: str

    @property
    def target(self) -> str:
        """Return its label, else its model or `connector/<name>`."""
        return self.column.target.id

    @property
    def prompt(self) -> str | None:
        """Return the id of the definition's prompt; None if it has none."""
        return self.column.prompt_id

    @property
    def case(self) -> CaseView:
        return CaseView.of(self.scenario, self.persona)

    @property
    def name(self) -> str:
        """Return a name such as `Book a haircut (Ada) #2`."""
        return case_name(self.scenario.name, self.persona.name if self.persona else None, self.repeat, self.repeats)


@dataclass(frozen=True)
class ProbeResult:
    """Holds either a transcript or an error. Errors are infrastructure failures, not failures of the target."""

    probe: Probe
    outcome: Outcome

    def __repr__(self) -> str:
        """Return a text without the conversation, which may fill pages."""
        result = {True: ", passed", False: ", failed", None: ""}[self.success]
        code = f", {self.error.code}" if self.error else ""
        return f"<ProbeResult {self.probe.name!r} of {self.target}: {self.status}{result}{code}>"

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
    def prompt(self) -> str | None:
        return self.probe.prompt

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
    def result(self) -> TranscriptResult | None:
        """Return the result; None if nothing was judged, or the result could not be computed."""
        return self.transcript.result if self.transcript else None

    @property
    def success(self) -> bool | None:
        return self.result.success if self.result else None

    @property
    def scoring(self) -> Scoring | None:
        return self.transcript.scoring if self.transcript else None

    @property
    def verdict(self) -> Verdict | None:
        return self.transcript.conversation.verdict if self.transcript else None

    @property
    def turns(self) -> tuple[Mapping[str, Any], ...]:
        """Return with an operation profile the record of each turn: its operations, effects, and rewritten texts."""
        pipeline = self.transcript.conversation.pipeline if self.transcript else None
        return pipeline.records if pipeline else ()

    @property
    def spends(self) -> dict[str, Spend]:
        """Return calls, tokens and cost of `target`, `judge` and `persona`, also of an errored probe.

        It includes `operation` if there were any.
        """
        spending = self.outcome.spending
        operation = {"operation": spending.operation} if spending.operation.calls else {}
        return {"target": spending.target, "judge": spending.judge, "persona": spending.persona, **operation}

    def to_json(self, run_id: str) -> Json:
        """Return a transcript, or an errored probe, in the API's fields."""
        head = {"id": transcript_id(run_id, self.probe.index), "runId": run_id, "status": str(self.status)}
        if self.transcript is not None:
            return transcript_json(run_id, self.probe.column, self.probe.case, self.repeat, self.transcript) | head
        return head | _error_json(self)


def transcript_json(run_id: str, column: Column, case: CaseView, repeat: int, transcript: Transcript) -> Json:
    identity = transcript_id(run_id, transcript.probe_index)
    view = TranscriptView(
        id=identity,
        run_id=run_id,
        column=column,
        case=case,
        repeat=repeat,
        transcript=transcript,
        definition_snapshot=None,
        content_available=True,
    )
    output = transcript.conversation.output
    return {**as_json(TranscriptResponse.of(view)), "output": dict(output) if output else None}


def _error_json(result: ProbeResult) -> Json:
    probe = result.probe
    case = CaseFields.from_value(probe.case, repeat=probe.repeat)
    return {
        **as_json(case),
        "index": probe.index,
        **as_json(ColumnFields(**ColumnFields.fields_of_column(probe.column))),
        "threadId": probe.thread_id,
        "error": as_json(ProbeErrorResponse.from_value(result.error)) if result.error else None,
    }


def as_json(response: ResponseModel) -> Json:
    return response.model_dump(mode="json", by_alias=True)
