from cupel_core.base.deferred import dataclass

MAX_COUNT = 1_000


@dataclass(frozen=True)
class ScaleRunLimits:
    """A field that is None has the limit of the API."""

    count: int | None = None
    concurrency: int | None = None

    def violations(self, count: int, concurrency: int | None) -> dict[str, str]:
        wrong = {}
        if self.count is not None and count > self.count:
            wrong["count"] = f"must be at most {self.count}: maxScaleRunCount of the workspace's settings"
        if self.concurrency is not None and (concurrency is None or concurrency > self.concurrency):
            wrong["maxConcurrency"] = (
                f"must be at most {self.concurrency}: maxScaleRunConcurrency of the workspace's settings"
            )
        return wrong
