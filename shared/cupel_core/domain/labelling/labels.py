"""Labels: verdicts of people on transcripts, by which the accuracy of a judge is measured.

A label is about one criterion. It changes no result; a correction of a result does that. A label without a value is a
comment, which counts nowhere as a verdict.
"""

from datetime import datetime
from enum import StrEnum

from cupel_core.base.deferred import dataclass, replace
from cupel_core.base.errors import Invalid

DECISION = "decision"
"""The criterion of the summary's decision code. Its labels are codes."""
RESULT = "result"
"""The criterion of the result of a conversation as the graders computed it."""
CODES = ("1", "2", "3", "4", "5")
MAX_CRITERION_LENGTH = 60
"""Names of checks in statistics are no longer."""
MAX_LABELLER_LENGTH = 200
MAX_NOTE_LENGTH = 2_000
MAX_LABELS_PER_IMPORT = 2_500


class LabelVerdict(StrEnum):
    PASSED = "pass"
    FAILED = "fail"
    SKIPPED = "skip"
    """The labeller cannot decide, or the transcript is not to be counted."""

    @classmethod
    def of(cls, passed: bool) -> "LabelVerdict":
        return cls.PASSED if passed else cls.FAILED


def check_value(criterion: str, value: str | None, note: str | None) -> None:
    """Raise Invalid unless labels of the criterion can have the value, which only a comment lacks."""
    if value is None and note:
        return
    accepted = (*CODES, LabelVerdict.SKIPPED) if criterion == DECISION else tuple(LabelVerdict)
    if value not in accepted:
        listed = ", ".join(accepted)
        raise Invalid.field("value", f"must be one of {listed} for the criterion {criterion}, unless there is a note")


@dataclass(frozen=True)
class Label:
    probe_index: int
    retry_round: int
    """The retry round of the transcript that was read."""
    criterion: str
    labeller: str
    value: str | None
    """A verdict, or a code for the criterion `decision`; None for a comment alone."""
    created_at: datetime
    updated_at: datetime
    note: str | None = None
    label_set_id: str | None = None
    blind_value: str | None = None
    """The last value before the judge's verdict was shown; None if it was visible from the beginning."""
    content_expires_at: datetime | None = None
    """When the content of the transcript expires, which the note may quote."""
    is_revealed: bool = False
    """True once the judge's verdict was shown to the labeller, who may change the label afterwards."""

    @property
    def counted_value(self) -> str | None:
        """The value that a calibration counts; None for a skipped transcript, and if the verdict was visible."""
        return None if self.blind_value == LabelVerdict.SKIPPED else self.blind_value

    def changed(self, other: "Label") -> "Label":
        """Return this label with what the labeller says now. What was said blind stays once the verdict was shown or
        visible, and a comment alone leaves the value as it is."""
        if other.value is None:
            other = replace(other, value=self.value, blind_value=self.blind_value)
        is_revealed = self.is_revealed or other.is_revealed
        return replace(
            other,
            created_at=other.created_at if self.value is None else self.created_at,
            label_set_id=other.label_set_id or self.label_set_id,
            blind_value=self.blind_value if is_revealed else other.blind_value,
            is_revealed=is_revealed,
        )

    def readable_at(self, now: datetime) -> "Label":
        """Return the label without its note, once the content of the transcript has expired."""
        has_expired = self.content_expires_at is not None and self.content_expires_at <= now
        return replace(self, note=None) if has_expired else self

    def says_the_same(self, other: "Label") -> bool:
        return self.changed(other) == replace(self, updated_at=other.updated_at)
