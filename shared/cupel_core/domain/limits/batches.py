"""Limits that a workspace sets for its batches."""

from cupel_core.deferred import dataclass

MAX_COUNT = 1_000
"""Conversations of each target."""


@dataclass(frozen=True)
class BatchLimits:
    """None for no limit but those of the API."""

    count: int | None = None
    concurrency: int | None = None

    def violations(self, count: int, concurrency: int | None) -> dict[str, str]:
        """By field of the request: what is beyond a limit, and which setting it is."""
        wrong = {}
        if self.count is not None and count > self.count:
            wrong["count"] = f"must be at most {self.count}: maxBatchCount of the workspace's settings"
        if self.concurrency is not None and (concurrency is None or concurrency > self.concurrency):
            wrong["maxConcurrency"] = (
                f"must be at most {self.concurrency}: maxBatchConcurrency of the workspace's settings"
            )
        return wrong
