"""Shows how far a judge agrees with people, and corrected pass rates, as lines of text."""

from collections.abc import Iterator

from cupel.json_types import Json
from cupel.terminal import NO_VALUE

_REASONS = {
    "NO_TRANSCRIPTS": "the judge decided no transcript",
    "TOO_FEW_LABELS": "at least {needed} scenarios need a label",
    "UNLABELLED_VERDICT": "no transcript of one of the judge's verdicts has a label",
    "UNCALIBRATED_TARGET": "labels of {needed} scenarios of this target are needed in both runs",
    "CALIBRATION_DIFFERS": "the labels of this run contradict the errors of the other one",
    "USELESS_JUDGE": "the judge hardly tells passes from failures",
}
_SHOWN_DISAGREEMENTS = 10


def plan_lines(plan: Json, half_width: float) -> Iterator[str]:
    yield ""
    yield f"labels needed in all for ±{half_width:.1%}:"
    for column in plan["columns"]:
        least = f"labels of all transcripts would leave ±{column['leastHalfWidth']:.1%}"
        number = "no number is enough" if column["labels"] is None else str(column["labels"])
        repeats = ", several of some scenarios" if column["hasRepeats"] else ""
        yield f"  {_title(column)}: {number}{repeats}; {least}"


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
        yield _title(column)
        yield from _agreement_lines(column["agreement"])
        yield from _corrected_lines(column)
    for column in found["codes"]:
        yield ""
        yield _title(column)
        yield from _code_lines(column)
    yield from _people_lines(found)
    if any(labelled) and not found["isDrawn"]:
        yield "the labelled transcripts were not drawn at random by a label set: they may not stand for the others"
    for each in found["disagreements"][:_SHOWN_DISAGREEMENTS]:
        yield f"  {each['probeId']}: the judge says {each['verdict']}, people say {each['label']}"
    if (more := len(found["disagreements"]) - _SHOWN_DISAGREEMENTS) > 0:
        yield f"  and {more} more disagreements (--json lists them)"


def _title(column: Json) -> str:
    return " · ".join(filter(None, (column["targetId"], column["promptId"])))


def _agreement_lines(figures: Json) -> Iterator[str]:
    counts = figures["counts"]
    if not figures["labels"]:
        yield "  labels: none that count" + _also(figures)
        return
    yield f"  labels: {figures['labels']} from {figures['scenarios']} scenarios" + _also(figures)
    constant = percent(figures["constantAccuracy"])
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
        yield f"  corrected mean: {NO_VALUE} ({why_uncorrected(column)})"
        return
    yield f"  mean by the judge: {column['judgeMean']:.2f}"
    yield f"  corrected mean: {column['mean']:.2f} {_limits(column['interval95'])}"
    yield f"  by the labels alone: {column['labelsOnlyMean']:.2f} {_limits(column['labelsOnlyInterval95'])}"


def _limits(interval: list[float]) -> str:
    return f"[{interval[0]:.2f}, {interval[1]:.2f}]"


def _also(figures: Json) -> str:
    skipped = f", {figures['skipped']} skipped" if figures["skipped"] else ""
    return skipped + (f", {figures['undecided']} undecided by the judge" if figures["undecided"] else "")


def _corrected_lines(column: Json) -> Iterator[str]:
    corrected = column["corrected"]
    if corrected["rate"] is None:
        yield f"  corrected pass rate: {NO_VALUE} ({why_uncorrected(corrected)})"
        return
    yield f"  pass rate by the judge: {percent(corrected['judgeRate'])}"
    yield f"  corrected pass rate: {percent(corrected['rate'])} {_interval(corrected['interval95'])}".rstrip()
    yield f"  by the labels alone: {share_text(corrected['labelsOnly'])}"
    if (skips := column["skips"]) and skips["skipsAsFailures"]["rate"] is not None:
        low, high = skips["skipsAsFailures"]["rate"], skips["skipsAsPasses"]["rate"]
        yield f"  with the skipped transcripts as failures or passes: {percent(low)} to {percent(high)}"


def why_uncorrected(corrected: Json) -> str:
    reason: str = corrected["reason"]
    return _REASONS.get(reason, reason).format(needed=corrected["labelsNeeded"])


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
    return NO_VALUE if share is None else f"{percent(share['share'])} {_interval(share['interval95'])}".rstrip()


def _kappa(kappa: float | None, interval: list[float] | None) -> str:
    if kappa is None:
        return f"{NO_VALUE} (judge and people always say the same)"
    return f"{kappa:.2f}" + (f" {_limits(interval)}" if interval else "")


def percent(share: float | None) -> str:
    return NO_VALUE if share is None else f"{share:.1%}"


def _interval(interval: list[float] | None) -> str:
    return "" if interval is None else f"[{interval[0]:.1%}, {interval[1]:.1%}]"
