import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from hashlib import sha256

from cupel_core.base.deferred import dataclass
from cupel_core.domain.analysis.jobs import JobStatus
from cupel_core.domain.reports.trials import Trial
from cupel_core.domain.runs.run import RunFailure

ALGORITHM = "report-1"
"""A report's id contains this version, which changes when the same inputs would give another document."""


class ReportFormat(StrEnum):
    JSON = "json"
    MARKDOWN = "md"
    HTML = "html"


@dataclass(frozen=True)
class ReportInputs:
    """Identifies a report by its inputs: equal inputs give the same report."""

    run_id: str
    revision: str
    rescore_ids: tuple[str, ...] = ()
    summarizer_model: str | None = None
    prompt_version: int = 0
    judge_accuracy: str | None = None
    """Names what people's labels say of the judge; None without labels."""

    @property
    def report_id(self) -> str:
        summarizer = [self.summarizer_model, self.prompt_version] if self.summarizer_model else []
        text = json.dumps([ALGORITHM, self.run_id, self.revision, self.rescore_ids, summarizer, self.judge_accuracy])
        return f"rep_{sha256(text.encode()).hexdigest()[:24]}"


@dataclass(frozen=True)
class ReportRecord:
    workspace: str
    run_id: str
    id: str
    created_at: datetime
    summarizer_model: str | None = None
    status: JobStatus = JobStatus.QUEUED
    """A stored status is never RUNNING, which only the job knows."""
    completed_at: datetime | None = None
    failure: RunFailure | None = None
    texts_expire_at: datetime | None = None
    """The first of the quoted conversations expires then; afterwards, no text of the report is shown."""
    is_summary_missing: bool = False
    """The summarizer gave none, for example because the budget did not allow its call."""
    trial: Trial | None = None
    trial_refusal: str | None = None

    @property
    def job_id(self) -> str:
        return f"job_{self.id}"

    @property
    def result_id(self) -> str:
        return f"{self.run_id}/{self.id}"

    def completed(
        self, texts_expire_at: datetime | None, now: datetime, *, is_summary_missing: bool = False
    ) -> "ReportRecord":
        return replace(
            self,
            status=JobStatus.COMPLETED,
            completed_at=now,
            texts_expire_at=texts_expire_at,
            is_summary_missing=is_summary_missing,
        )

    def failed(self, failure: RunFailure, now: datetime) -> "ReportRecord":
        return replace(self, status=JobStatus.FAILED, completed_at=now, failure=failure)

    def shows_texts(self, now: datetime) -> bool:
        return self.texts_expire_at is None or self.texts_expire_at > now


def earliest(times: Iterable[datetime | None]) -> datetime | None:
    return min((time for time in times if time is not None), default=None)
