"""Shows how far a judge agrees with people, and corrected pass rates, as lines of text."""

from collections.abc import Iterator

from cupel.columns import column_of
from cupel.json_types import Json
from cupel.terminal import NO_VALUE
from cupel_core.domain.text.figures import format_decimal, format_percent, with_interval

_SHOWN_DISAGREEMENTS = 10


def plan_lines(plan: Json, half_width: float) -> Iterator[str]:
    yield ""
    yield f"labels needed in all for ± {format_percent(half_width)}:"
    for column in plan["columns"]:
        least = f"labels of all transcripts would leave ± {format_percent(column['leastHalfWidth'])}"
        number = "no number is enough" if column["labels"] is None else str(column["labels"])
        repeats = ", several of some scenarios" if column["hasRepeats"] else ""
        yield f"  {column_of(column).name}: {number}{repeats}; {least}"


def calibration_lines(found: Json) -> Iterator[str]:
    yield f"judge: {found['judgeModel'] or 'no model'}, criterion: {found['criterion']}"
    if found["calibrationRun"]:
        yield f"corrected with the errors of the same judge in {found['calibrationRun']}"
    labelled = [column["agreement"]["labels"] for column in found["columns"]]
    labelled += [column["transcripts"] for column in found["codes"]]
    if not any(labelled):
        yield "no transcript has a blind label: draw some with `cupel labels sample`, or import them"
    for column in found["columns"]:
        yield ""
        yield column_of(column).name
        yield from _agreement_lines(column["agreement"])
        yield from _corrected_lines(column)
    for column in found["codes"]:
        yield ""
        yield column_of(column).name
        yield from _code_lines(column)
    yield from _people_lines(found)
    if any(labelled) and not found["isDrawn"]:
        yield "the labelled transcripts were not drawn at random by a label set: they may not stand for the others"
    for each in found["disagreements"][:_SHOWN_DISAGREEMENTS]:
        yield f"  {each['probeId']}: the judge says {each['verdict']}, people say {each['label']}"
    if (more := len(found["disagreements"]) - _SHOWN_DISAGREEMENTS) > 0:
        yield f"  and {more} more disagreements (--json lists them)"


def _agreement_lines(figures: Json) -> Iterator[str]:
    counts = figures["counts"]
    if not figures["labels"]:
        yield "  labels: none that count" + _also(figures)
        return
    yield f"  labels: {figures['labels']} from {figures['scenarios']} scenarios" + _also(figures)
    constant = format_percent(figures["constantAccuracy"])
    yield f"  agreement: {share_text(figures['agreement'])}; of a judge that always says the same: {constant}"
    yield f"  kappa: {_kappa(figures['kappa'], figures['kappaInterval95'])}"
    yield f"  people pass, judge passes: {share_text(figures['sensitivity'])}"
    yield f"  people fail, judge fails: {share_text(figures['specificity'])}"
    yield f"  judge passes, people pass: {share_text(figures['passPredictiveValue'])}"
    yield f"  judge fails, people fail: {share_text(figures['failPredictiveValue'])}"
    yield (
        f"  both pass {counts['bothPassed']}, only the judge passes {counts['onlyJudgePassed']}, "
        f"only people pass {counts['onlyLabelPassed']}, both fail {counts['bothFailed']}"
    )


def _code_lines(column: Json) -> Iterator[str]:
    yield f"  labels: {column['transcripts']}" + _also(column)
    yield f"  same code: {share_text(column['agreement'])}"
    yield f"  kappa, quadratic weights: {_kappa(column['kappa'], None)}"
    if column["mean"] is None:
        yield f"  corrected mean: {NO_VALUE} ({column['message']})"
        return
    yield f"  mean by the judge: {format_decimal(column['judgeMean'])}"
    yield f"  corrected mean: {with_interval(column['mean'], column['interval95'], format_decimal)}"
    labels_only = with_interval(column["labelsOnlyMean"], column["labelsOnlyInterval95"], format_decimal)
    yield f"  by the labels alone: {labels_only}"


def _also(figures: Json) -> str:
    skipped = f", {figures['skipped']} skipped" if figures["skipped"] else ""
    return skipped + (f", {figures['undecided']} undecided by the judge" if figures["undecided"] else "")


def _corrected_lines(column: Json) -> Iterator[str]:
    corrected = column["corrected"]
    if corrected["rate"] is None:
        yield f"  corrected pass rate: {NO_VALUE} ({corrected['message']})"
        return
    yield f"  pass rate by the judge: {format_percent(corrected['judgeRate'])}"
    yield f"  corrected pass rate: {with_interval(corrected['rate'], corrected['interval95'], format_percent)}"
    yield f"  by the labels alone: {share_text(corrected['labelsOnly'])}"
    if (skips := column["skips"]) and skips["skipsAsFailures"]["rate"] is not None:
        low, high = skips["skipsAsFailures"]["rate"], skips["skipsAsPasses"]["rate"]
        yield f"  with the skipped transcripts as failures or passes: {format_percent(low)} to {format_percent(high)}"


def _people_lines(found: Json) -> Iterator[str]:
    if found["people"]["ceiling"]:
        yield ""
        yield (
            f"people agree with each other: {share_text(found['people']['ceiling'])} "
            f"of {found['people']['transcripts']} transcripts that several have labelled"
        )
    if found["conflicts"]:
        number, first = len(found["conflicts"]), found["conflicts"][0]
        yield f"people disagree evenly on {number} transcripts, such as {first}: a further person decides"
    if found["ignored"]:
        yield f"{found['ignored']} labelled transcripts were not drawn by a label set and do not count"
    if found["unblind"]:
        yield f"{found['unblind']} labels were made with a visible verdict and do not count"


def share_text(share: Json | None) -> str:
    return NO_VALUE if share is None else with_interval(share["share"], share["interval95"], format_percent)


def _kappa(kappa: float | None, interval: list[float] | None) -> str:
    if kappa is None:
        return f"{NO_VALUE} (judge and people always say the same)"
    return with_interval(kappa, interval, format_decimal)
