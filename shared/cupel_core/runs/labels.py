"""Changes of a run's labels: its name, tags and metadata, which may change at any time.

Such a change is one transaction of the run and an event, on condition that neither was changed meanwhile. The event
names the changed fields, not their values, and is not sent to the webhook.
"""

from datetime import datetime

from cupel_core.base.messages import RunRef
from cupel_core.base.preconditions import UNCONDITIONAL, Precondition, content_etag
from cupel_core.domain.codec import encode
from cupel_core.domain.runs.labels import LabelChanges, RunLabels
from cupel_core.domain.runs.run import Run
from cupel_core.store import runs


def labels_etag(run: Run) -> str:
    """Return the ETag of a run. It covers the labels, which are all that can be edited."""
    return content_etag(encode(run.labels))


def update_labels(
    workspace: str, run_id: str, changes: LabelChanges, now: datetime, precondition: Precondition = UNCONDITIONAL
) -> None:
    def change(labels: RunLabels) -> RunLabels:
        precondition.check(content_etag(encode(labels)))
        return changes.apply_to(labels)

    runs.update_labels(RunRef(workspace, run_id), change, now)
