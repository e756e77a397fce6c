"""Compares runs on a stack: requests a comparison, waits for it, and checks the verdicts that a pipeline may refuse."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from cupel.counts import count_of
from cupel.errors import CupelError
from cupel.json_types import Json
from cupel.render_comparison import format_difference, row_title, rows_of
from cupel.session import Session
from cupel.watch import MAX_WAIT_SECONDS, WAIT_GROWTH
from cupel_core.domain.analysis.verdicts import ComparisonVerdict
from cupel_core.domain.statistics import MIN_SCENARIOS

if TYPE_CHECKING:
    from cupel.client import Client


_FIRST_WAIT_SECONDS = 0.1
"""Runs of some hundred scenarios are compared in a few tenths of a second."""


class FailIf(StrEnum):
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
    """Return the comparison with its figures, once it is computed. Raises CupelError if that is impossible."""
    comparison = client.create_comparison(request)
    with session.err.status("comparing") as display:
        for comparison in _poll(session, client, comparison):  # noqa: B020 - each is the same comparison, later
            if comparison["status"] == "QUEUED" and session.err.is_terminal:
                display.update(_stage(client.get_job(comparison["jobId"])))
    if comparison["status"] == "FAILED":
        raise CupelError(f"the runs cannot be compared: {comparison['failure']['why']}")
    return comparison


@dataclass(frozen=True)
class ComparisonGate:
    """Decides whether a comparison fails a pipeline. An inconclusive one fails it, unless that is allowed."""

    fail_if: frozenset[FailIf] = frozenset()
    largest_drop: float | None = None
    """Every target must be shown to be lower by less than this (non-inferiority)."""
    allow_inconclusive: bool = False

    def violations(self, figures: Json) -> list[str]:
        return [f"{row_title(row)}: {why}" for row in rows_of(figures) if (why := self._violation(figures, row))]

    def _violation(self, figures: Json, row: Json) -> str | None:
        refused = frozenset[ComparisonVerdict]().union(*(each.verdicts for each in self.fail_if))
        if row["verdict"] in refused:
            return str(row["verdict"])
        if not self.allow_inconclusive and (row["p"] is None or row["verdict"] == ComparisonVerdict.NOT_COMPARABLE):
            return f"{_why_untested(row)}; --allow-inconclusive accepts that"
        bounds = row["equivalenceInterval"]
        if self.largest_drop is None or bounds is None or bounds[0] > -self.largest_drop:
            return None
        return f"it may be lower by {_drop(figures, self.largest_drop)} or more (by up to {_drop(figures, -bounds[0])})"


def _why_untested(row: Json) -> str:
    scenarios = row["scenarios"]
    if scenarios < MIN_SCENARIOS:
        return f"nothing can be told from {count_of(scenarios, 'scenario')} (at least {MIN_SCENARIOS} are needed)"
    return "there is no test of this difference"


def detectable_drops(figures: Json) -> Iterator[str]:
    """Say what each row could have found, so that a passed gate is not overrated."""
    for row in rows_of(figures):
        if row["minimumDetectableEffect"] is not None:
            drop = _drop(figures, row["minimumDetectableEffect"])
            yield f"{row_title(row)}: a drop of {drop} or more would have been found in 80% of cases"


def _drop(figures: Json, amount: float) -> str:
    return format_difference(figures, amount).removeprefix("+")


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
