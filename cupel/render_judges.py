"""Shows judges side by side, and signs that a judge has changed, as text."""

from collections.abc import Iterator

from rich.table import Table

from cupel.json_types import Json
from cupel.markup import escape
from cupel.render_calibration import share_text
from cupel.tables import table
from cupel_core.domain.calibration.drift import FLIPS_NEEDED
from cupel_core.domain.text.figures import format_decimal, format_percent, format_usd

_RUN = "the run's own"


def comparison_table(found: Json) -> Table:
    rows = table(
        "judge",
        "rescore",
        "agreement",
        "people pass",
        "people fail",
        "kappa",
        "cost",
        "agrees with itself",
        right=["cost"],
    )
    for each in found["judges"]:
        figures = each["agreement"]
        rows.add_row(
            escape(each["judgeModel"] or "no model"),
            escape(each["rescoreId"] or _RUN),
            share_text(figures["agreement"]),
            share_text(figures["sensitivity"]),
            share_text(figures["specificity"]),
            format_decimal(figures["kappa"]),
            format_usd(each["costUsd"]),
            format_percent(each["selfConsistency"]),
        )
    return rows


def choice_lines(found: Json) -> Iterator[str]:
    yield f"compared on {found['transcripts']} labelled transcripts, which all judges have graded"
    if found["crossFitAccuracy"]:
        yield (
            f"most agreement: {found['bestRescoreId'] or _RUN}; chosen from {len(found['judges'])} on the same labels, "
            "so its agreement is too high"
        )
        yield f"agreement of a judge that is chosen on other labels: {share_text(found['crossFitAccuracy'])}"


def drift_lines(found: Json) -> Iterator[str]:
    to_pass, to_fail = found["toPass"], found["toFail"]
    yield f"{found['judgeModel'] or 'no model'}: {'stale' if found['isStale'] else 'no sign of drift'}"
    yield (
        f"{len(to_pass) + len(to_fail)} of {found['canaries']} verdicts flipped: {len(to_pass)} to pass, "
        f"{len(to_fail)} to fail (p {found['p']:.2g})"
    )
    if found["undecided"]:
        yield f"{found['undecided']} transcripts have no verdict before or now and do not count"
    yield from (f"  {each}: fail before, pass now" for each in to_pass)
    yield from (f"  {each}: pass before, fail now" for each in to_fail)
    if not found["isStale"]:
        yield (
            f"this finds only a judge that became much stricter or more lenient: {FLIPS_NEEDED} flips in one direction "
            "and none in the other are needed"
        )
