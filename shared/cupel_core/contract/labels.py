"""Labels: verdicts of people on transcripts."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from cupel_core.contract.common import RequestModel, ResponseModel, Time, example, read_from, require_one
from cupel_core.contract.fields import SINGLE_LINE, Flag
from cupel_core.domain.labelling.labels import (
    MAX_CRITERION_LENGTH,
    MAX_LABELLER_LENGTH,
    MAX_LABELS_PER_IMPORT,
    MAX_NOTE_LENGTH,
    RESULT,
)
from cupel_core.domain.labelling.views import ImportedLabel, NewLabel

Criterion = Annotated[str, Field(min_length=1, max_length=MAX_CRITERION_LENGTH), SINGLE_LINE]
Labeller = Annotated[str, Field(min_length=1, max_length=MAX_LABELLER_LENGTH), SINGLE_LINE]
LabelValue = Literal["pass", "fail", "skip", "1", "2", "3", "4", "5"]
_Id = Annotated[str, Field(min_length=1, max_length=200), SINGLE_LINE]


class GivenLabel(RequestModel):
    value: LabelValue | None = None
    """`pass`, `fail` or `skip`; for the criterion `decision` a code, or `skip`. Null for a note alone: a comment, which
    counts as no label and leaves an earlier value as it is.

    Example: pass
    """
    note: Annotated[str | None, Field(max_length=MAX_NOTE_LENGTH)] = None
    """Remark of the labeller. Example: The agent names the limit, but two weeks too short."""
    labeller: Labeller | None = None
    """Name of the person; null for the caller. Example: ana"""
    verdict_visible: Flag = False
    """True if the labeller saw the judge's verdict; then the label never counts in the judge's accuracy.

    Example: false
    """


class SaveLabel(GivenLabel):
    model_config = example({"criterion": "result", "value": "fail", "note": "Names the wrong limit."})

    criterion: Criterion = RESULT
    """The name of a check, `result` or `decision`. Example: result"""
    label_set_id: _Id | None = None
    """The label set in which the transcript is labelled; labellers must name one. Example: lbs_01"""

    def new_label(self) -> NewLabel:
        return NewLabel(self.criterion, self.value, self.note, self.labeller, self.label_set_id, self.verdict_visible)


class RevealVerdict(RequestModel):
    model_config = example({"criterion": "result"})

    criterion: Criterion = RESULT
    """The criterion of the label. Example: result"""


class ImportLabel(GivenLabel):
    """Names its transcript by `probeId`, or by `scenario` and as much else as identifies it."""

    probe_id: _Id | None = None
    """Id of the probe, which is also that of its transcript. Example: run_01k1f0aa-7"""
    scenario: Annotated[str | None, Field(min_length=1, max_length=200)] = None
    """Id or name of the scenario. Example: Late refund"""
    model: _Id | None = None
    """The target's label or model; needed if the run has several. Example: openai/gpt-6.1-terra"""
    prompt_id: _Id | None = None
    """Needed if the definition has several prompts. Example: polite"""
    persona_id: _Id | None = None
    """Needed if the scenario has several personas. Example: per_01"""
    repeat: Annotated[int, Field(ge=0, strict=True)] | None = None
    """Number of the repeat, from 0; needed if the run repeats. Example: 0"""
    criterion: Criterion | None = None
    """Null for the one of the request. Example: result"""

    @model_validator(mode="after")
    def _names_a_transcript(self) -> "ImportLabel":
        require_one(self, "probe_id", "scenario")
        return self


class AddLabels(RequestModel):
    model_config = example({"criterion": "result", "labels": [{"probeId": "run_01k1f0aa-7", "value": "fail"}]})

    labels: Annotated[list[ImportLabel], Field(min_length=1, max_length=MAX_LABELS_PER_IMPORT)]
    """Labels to store: all of them, or none if one of them is invalid."""
    criterion: Criterion = RESULT
    """Criterion of the labels that name none. Example: result"""

    def imported(self) -> list[ImportedLabel]:
        return [
            ImportedLabel(
                criterion=each.criterion or self.criterion,
                value=each.value,
                note=each.note,
                labeller=each.labeller,
                is_verdict_visible=each.verdict_visible,
                probe_id=each.probe_id,
                scenario=each.scenario,
                model=each.model,
                prompt_id=each.prompt_id,
                persona_id=each.persona_id,
                repeat=each.repeat,
            )
            for each in self.labels
        ]


class LabelResponse(ResponseModel):
    probe_id: str
    """Id of the probe, which is also that of its transcript. Example: run_01k1f0aa-7"""
    criterion: Annotated[str, read_from("label.criterion")]
    """The name of a check, `result` or `decision`. Example: result"""
    labeller: Annotated[str, read_from("label.labeller")]
    """Who gave the label. Example: ana"""
    value: Annotated[LabelValue | None, read_from("label.value")]
    """The label as it is now; null for a comment alone, which counts as no label. Example: fail"""
    blind_value: Annotated[LabelValue | None, read_from("label.blind_value")]
    """The value before the judge's verdict was shown; null if it was visible from the beginning. Example: fail"""
    note: Annotated[str | None, read_from("label.note")]
    """Remark of the labeller; null without one, or after the conversation's expiry. Example: Names the wrong limit."""
    label_set_id: Annotated[str | None, read_from("label.label_set_id")]
    """Label set in which the transcript was labelled; null for none. Example: lbs_01"""
    retry_round: Annotated[int, read_from("label.retry_round")]
    """Retry round of the labelled transcript. Example: 1"""
    created_at: Annotated[Time, read_from("label.created_at")]
    updated_at: Annotated[Time, read_from("label.updated_at")]
    """Time of the last change. Example: 2026-11-20T09:40:00Z"""


class LabelPage(ResponseModel):
    items: list[LabelResponse]
    next_cursor: str | None


class RevealedVerdictResponse(ResponseModel):
    label: LabelResponse
    """The caller's label, whose blind value does not change any more."""
    verdict: LabelValue | None
    """The judge's verdict; null if it could not decide. Example: pass"""
    reason: str | None
    """Text of the judge; null if that was deleted. Example: The agent explains the limit."""


class LabelImportResponse(ResponseModel):
    """Numbers of labels."""

    created: int
    """Labels that were new. Example: 60"""
    changed: int
    """Labels that replaced earlier ones of the same person. Example: 0"""
    unchanged: int
    """Labels that were stored already. Example: 0"""
