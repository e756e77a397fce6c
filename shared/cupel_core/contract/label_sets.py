"""Label sets: transcripts drawn at random for people to label."""

from typing import Annotated, Any

from pydantic import Field

from cupel_core.contract.common import RequestModel, ResponseModel, Time, example, read_from
from cupel_core.contract.labels import Criterion, Labeller, LabelResponse
from cupel_core.contract.results import MESSAGES_DESCRIPTION, MessageResponse
from cupel_core.domain.conversations.conversation import ConversationState
from cupel_core.domain.conversations.model_request import Message
from cupel_core.domain.labelling.label_sets import DEFAULT_DRAWS, MAX_DRAWS, MAX_INSTRUCTIONS_LENGTH
from cupel_core.domain.labelling.labels import RESULT
from cupel_core.domain.labelling.views import LabelSetItem, LabelSetSpec
from cupel_core.domain.text.json_limits import EXACT_INTEGERS


class CreateLabelSet(RequestModel):
    """One transcript is drawn of each scenario, as long as there are scenarios, and more of those that the judge let
    fail."""

    model_config = example({"criterion": "result", "count": 60})

    criterion: Criterion = RESULT
    """The name of a check, `result` or `decision`. Example: result"""
    count: Annotated[int, Field(ge=1, le=MAX_DRAWS, strict=True)] = DEFAULT_DRAWS
    """Number of transcripts to draw. Example: 60"""
    seed: Annotated[int | None, Field(ge=0, le=EXACT_INTEGERS, strict=True)] = None
    """The same seed draws the same transcripts; null for a new one. Example: 1"""
    model: Annotated[str | None, Field(min_length=1, max_length=200)] = None
    """Target or model to draw from; null for all. Example: openai/gpt-6.1-terra"""
    prompt_id: Annotated[str | None, Field(min_length=1, max_length=200)] = None
    """Prompt to draw from; null for all. Example: polite"""
    rescore_id: Annotated[str | None, Field(min_length=1, max_length=64)] = None
    """Rescore whose verdicts decide how often each is drawn; null for the run's own. Example: rsc_01"""
    instructions: Annotated[str | None, Field(min_length=1, max_length=MAX_INSTRUCTIONS_LENGTH)] = None
    """Tells labellers when a transcript passes. Example: Passes only if the limit is exact."""
    adjudicator: Labeller | None = None
    """Labeller whose labels count where several people have labelled; null for the majority. Example: ana"""

    def spec(self) -> LabelSetSpec:
        return LabelSetSpec(**{name: getattr(self, name) for name in type(self).model_fields})


class StratumResponse(ResponseModel):
    """Transcripts of one target with one verdict of the judge."""

    name: str
    """Target and verdict. Example: "openai/gpt-6.1-terra: failed" """
    population: int
    """Transcripts in it. Example: 40"""
    drawn: int
    """Transcripts that were drawn of these. Example: 24"""


class LabelSetProgressResponse(ResponseModel):
    labelled: int
    """Transcripts with a label that is not `skip`. Example: 12"""
    skipped: int
    """Transcripts of which every label is `skip`. Example: 1"""
    doubled: int
    """Transcripts with labels of two people or more. Example: 3"""
    by_labeller: dict[str, int]
    """Labels by the names of labellers. Example: {"ana": 13, "ben": 3}"""


class LabelSetResponse(ResponseModel):
    id: Annotated[str, read_from("label_set.id")]
    """Example: lbs_01"""
    run_id: Annotated[str, read_from("label_set.run_id")]
    criterion: Annotated[str, read_from("label_set.criterion")]
    """The name of a check, `result` or `decision`. Example: result"""
    rescore_id: Annotated[str | None, read_from("label_set.rescore_id")]
    """Rescore whose verdicts the strata are of; null for the run's own. Example: rsc_01"""
    seed: Annotated[int, read_from("label_set.seed")]
    """Seed that draws the same transcripts again. Example: 1"""
    count: int
    """Transcripts in the set. Example: 60"""
    to_label_twice: int
    """Transcripts that two people are to label. Example: 12"""
    strata: Annotated[list[StratumResponse], read_from("label_set.strata")]
    """Groups of transcripts that were drawn with different probabilities."""
    instructions: Annotated[str | None, read_from("label_set.instructions")]
    """Instructions for labellers. Example: Passes only if the limit is exact."""
    adjudicator: Annotated[str | None, read_from("label_set.adjudicator")]
    """Labeller whose labels count where several people have labelled; null for the majority. Example: ana"""
    created_at: Annotated[Time, read_from("label_set.created_at")]
    created_by: Annotated[str, read_from("label_set.created_by")]
    """Who drew it. Example: ana"""
    progress: LabelSetProgressResponse
    """Counts of labelled transcripts."""


class LabelSetPage(ResponseModel):
    items: list[LabelSetResponse]
    next_cursor: str | None


class LabelSetItemResponse(ResponseModel):
    """A transcript to label. It has neither the judge's verdict nor the name of the target."""

    position: int
    """Position in the label set, from 0. Example: 0"""
    probe_id: Annotated[str, read_from("probe.id")]
    """Id of the probe to label. Example: run_01k1f0aa-7"""
    scenario_id: Annotated[str, read_from("probe.case.scenario_id")]
    scenario_name: Annotated[str | None, read_from("probe.case.scenario_name")]
    """Null only if the run's snapshot is gone."""
    variables: Annotated[dict[str, Any], read_from("probe.case.variables")]
    """The scenario's variables. Example: {"delay": "two months"}"""
    messages: Annotated[list[MessageResponse], Field(description=MESSAGES_DESCRIPTION)]
    """Example: [{"role": "user", "content": "I want my money back."}, {"role": "assistant", "content": "You can return
    it within 30 days."}]"""
    is_doubled: Annotated[bool, read_from("draw.is_doubled")]
    """True if two people are to label it. Example: false"""
    label: LabelResponse | None
    """The caller's own label; null before."""

    @classmethod
    def of(cls, item: LabelSetItem) -> "LabelSetItemResponse":
        conversation = item.probe.conversation
        return cls.from_value(item, messages=[MessageResponse.of(each) for each in _shown(conversation)])


def _shown(conversation: ConversationState | None) -> list[Message]:
    """Return the messages without the target's notes to itself, which can say which model it is."""
    return [each.without_reasoning for each in conversation.messages] if conversation else []


class LabelSetItemPage(ResponseModel):
    items: list[LabelSetItemResponse]
    next_cursor: str | None
