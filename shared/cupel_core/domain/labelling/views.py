"""Labels and label sets as requests ask for them and as readers see them."""

from datetime import datetime
from typing import NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.labelling.judged_probes import JudgedProbe
from cupel_core.domain.labelling.label_sets import Draw, LabelSet, LabelSetProgress
from cupel_core.domain.labelling.labels import Label
from cupel_core.domain.runs.identifiers import transcript_id
from cupel_core.domain.runs.views import ProbeView


@dataclass(frozen=True)
class NewLabel:
    """A person's verdict or comment on one transcript, to be stored."""

    criterion: str
    value: str | None
    note: str | None = None
    labeller: str | None = None
    """Who says so; None for the caller."""
    label_set_id: str | None = None
    is_verdict_visible: bool = False

    def of_transcript(self, judged: JudgedProbe, labeller: str, now: datetime) -> Label:
        return Label(
            probe_index=judged.probe_index,
            retry_round=judged.retry_round,
            criterion=self.criterion,
            labeller=labeller,
            value=self.value,
            created_at=now,
            updated_at=now,
            note=self.note,
            label_set_id=self.label_set_id,
            content_expires_at=judged.content_expires_at,
            blind_value=None if self.is_verdict_visible else self.value,
            is_revealed=self.is_verdict_visible,
        )


@dataclass(frozen=True)
class ImportedLabel(NewLabel):
    """A label in a file. It names its transcript by the probe's id, or by a scenario and what else identifies it."""

    probe_id: str | None = None
    scenario: str | None = None
    """The scenario's id or name."""
    model: str | None = None
    """The target's id, or its model."""
    prompt_id: str | None = None
    persona_id: str | None = None
    repeat: int | None = None


@dataclass(frozen=True)
class LabelSetSpec:
    criterion: str
    count: int
    seed: int | None = None
    """None for a new one at random."""
    model: str | None = None
    prompt_id: str | None = None
    rescore_id: str | None = None
    instructions: str | None = None
    adjudicator: str | None = None


@dataclass(frozen=True)
class LabelView:
    run_id: str
    label: Label

    @property
    def probe_id(self) -> str:
        return transcript_id(self.run_id, self.label.probe_index)


class LabelSetView(NamedTuple):
    label_set: LabelSet
    progress: LabelSetProgress


class LabelSetItem(NamedTuple):
    """A transcript of a label set as a labeller sees it: without the judge's verdict."""

    position: int
    draw: Draw
    probe: ProbeView
    label: LabelView | None
    """The reader's own label."""


class RevealedVerdict(NamedTuple):
    label: LabelView
    verdict: str | None
    """`pass`, `fail` or a code; None if the judge could not decide."""
    reason: str | None
    """Text of the judge; None if that was erased."""


class ImportCounts(NamedTuple):
    """Counts imported labels by what became of them."""

    created: int
    changed: int
    unchanged: int
