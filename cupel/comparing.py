"""Comparing runs on a stack: request, wait, and the verdicts that a pipeline may refuse."""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import TYPE_CHECKING

from cupel.errors import CupelError
from cupel.json_types import Json
from cupel.session import Session
from cupel.watch import MAX_WAIT_SECONDS, WAIT_GROWTH
from cupel_core.domain.analysis.verdicts import ComparisonVerdict

if TYPE_CHECKING:
    from cupel.client import Client


_FIRST_WAIT_SECONDS = 0.1
"""Runs of some hundred scenarios are compared in a few tenths of a second."""


class FailIf(StrEnum):
    """When a comparison fails a pipeline."""

    LOWER = "lower"
    DIFFERENT = "different"
    INCONCLUSIVE = "inconclusive"

    @property
    def verdicts(self) -> frozenset[ComparisonVerdict]:
        return _REFUSED[self]


_REFUSED = {
    FailIf.LOWER: frozenset({ComparisonVerdict.LOWER}),
    FailIf.DIFFERENT: frozenset({ComparisonVerdict.LOWER, ComparisonVerdict.HIGHER}),
    FailIf.INCONCLUSIVE: frozenset({ComparisonVerdict.INCONCLUSIVE, ComparisonVerdict.NOT_COMPARABLE}),
}


def compare(session: Session, client: "Client", request: Json) -> Json:
    """The comparison with its figures, once it is computed. Raises CupelError if it cannot be."""
    comparison = client.create_comparison(request)
    with session.err.status("comparing") as display:
        for comparison in _poll(session, client, comparison):  # noqa: B020 - each is the same comparison, later
            if comparison["status"] == "QUEUED" and session.err.is_terminal:
                display.update(_stage(client.get_job(comparison["jobId"])))
    if comparison["status"] == "FAILED":
        raise CupelError(f"the runs cannot be compared: {comparison['failure']['why']}")
    return comparison


def rows_of(figures: Json) -> list[Json]:
    """The rows of a comparison, the one of all pairs last."""
    return [*figures["rows"], *([figures["overall"]] if figures["overall"] else [])]


def refused(figures: Json, fail_if: Iterable[FailIf]) -> list[Json]:
    """The rows whose verdicts fail the pipeline."""
    verdicts = frozenset[ComparisonVerdict]().union(*(each.verdicts for each in fail_if))
    return [row for row in rows_of(figures) if row["verdict"] in verdicts]


def _poll(session: Session, client: "Client", comparison: Json) -> Iterator[Json]:
    wait = _FIRST_WAIT_SECONDS
    while True:
        yield comparison
        if comparison["status"] in ("COMPLETED", "FAILED"):
            return
        session.sleep(wait)
        wait = min(MAX_WAIT_SECONDS, wait * WAIT_GROWTH)
        comparison = client.get_comparison(comparison["id"])


def _stage(job: Json) -> str:
    return f"comparing: {job['stage']}" if job["stage"] else "comparing"
