"""Shows how far a judge agrees with people, and corrected pass rates, as lines of text."""

from collections.abc import Iterator

from cupel.json_types import Json
from cupel.terminal import NO_VALUE

_REASONS = {
    "NO_TRANSCRIPTS": "the judge decided no transcript",
    "TOO_FEW_LABELS": "at least {needed} scenarios need a label",
    "UNLABELLED_VERDICT": "no transcript of one of the judge's verdicts has a label",
}
_SHOWN_DISAGREEMENTS = 10


def calibration_lines(found: Json) -> Iterator[str]:
    yield f"judge: {found['judgeModel'] or 'no model'}, criterion: {found['criterion']}"
    if not found["columns"]:
        yield "no transcript has a blind label: draw some with `cupel labels sample`, or import them"
    for column in found["columns"]:
        yield ""
        yield " · ".join(filter(None, (column["targetId"], column["promptId"])))
        yield from _agreement_lines(column["agreement"])
        yield from _corrected_lines(column)
    yield from _people_lines(found)
    if found["columns"] and not found["isDrawn"]:
        yield "the labelled transcripts were not drawn at random by a label set: they may not stand for the others"
    for each in found["disagreements"][:_SHOWN_DISAGREEMENTS]:
        yield f"  {each['probeId']}: the judge says {each['verdict']}, people say {each['label']}"
    if (more := len(found["disagreements"]) - _SHOWN_DISAGREEMENTS) > 0:
        yield f"  and {more} more disagreements (--json lists them)"


def _agreement_lines(figures: Json) -> Iterator[str]:
    counts = figures["counts"]
    yield f"  labels: {figures['labels']} of {figures['scenarios']} scenarios" + _also(figures)
    constant = _percent(figures["constantAccuracy"])
    yield f"  agreement: {_share(figures['agreement'])}; of a judge that always says the same: {constant}"
    yield f"  kappa: {_kappa(figures['kappa'], figures['kappaInterval95'])}"
    yield f"  people pass, judge passes: {_share(figures['sensitivity'])}"
    yield f"  people fail, judge fails: {_share(figures['specificity'])}"
    yield (
        f"  both pass {counts['bothPassed']}, only the judge passes {counts['onlyJudgePassed']}, "
        f"only people pass {counts['onlyLabelPassed']}, both fail {counts['bothFailed']}"
    )


def _also(figures: Json) -> str:
    skipped = f", {figures['skipped']} skipped" if figures["skipped"] else ""
    return skipped + (f", {figures['undecided']} undecided by the judge" if figures["undecided"] else "")


def _corrected_lines(column: Json) -> Iterator[str]:
    corrected = column["corrected"]
    if corrected["rate"] is None:
        yield f"  corrected pass rate: {NO_VALUE} ({why_uncorrected(corrected)})"
        return
    yield f"  pass rate by the judge: {_percent(corrected['judgeRate'])}"
    yield f"  corrected pass rate: {_percent(corrected['rate'])} {_interval(corrected['interval95'])}".rstrip()
    yield f"  by the labels alone: {_share(corrected['labelsOnly'])}"
    if (skips := column["skips"]) and skips["skipsAsFailures"]["rate"] is not None:
        low, high = skips["skipsAsFailures"]["rate"], skips["skipsAsPasses"]["rate"]
        yield f"  with the skipped transcripts as failures or passes: {_percent(low)} to {_percent(high)}"


def why_uncorrected(corrected: Json) -> str:
    reason: str = corrected["reason"]
    return _REASONS.get(reason, reason).format(needed=corrected["labelsNeeded"])


def _people_lines(found: Json) -> Iterator[str]:
    if found["people"]["ceiling"]:
        yield ""
        yield (
            f"people agree with each other: {_share(found['people']['ceiling'])} "
            f"of {found['people']['transcripts']} transcripts that several have labelled"
        )
    if found["conflicts"]:
        number, first = len(found["conflicts"]), found["conflicts"][0]
        yield f"people disagree evenly on {number} transcripts, such as {first}: a further person decides"
    if found["ignored"]:
        yield f"{found['ignored']} labelled transcripts were not drawn by a label set and do not count"
    if found["unblind"]:
        yield f"{found['unblind']} labels were made with a visible verdict and do not count"


def _share(share: Json | None) -> str:
    return NO_VALUE if share is None else f"{_percent(share['share'])} {_interval(share['interval95'])}".rstrip()


def _kappa(kappa: float | None, interval: list[float] | None) -> str:
    if kappa is None:
        return f"{NO_VALUE} (judge and people always say the same one thing)"
    return f"{kappa:.2f}" + (f" [{interval[0]:.2f}, {interval[1]:.2f}]" if interval else "")


def _percent(share: float | None) -> str:
    return NO_VALUE if share is None else f"{share:.1%}"


def _interval(interval: list[float] | None) -> str:
    return "" if interval is None else f"[{interval[0]:.1%}, {interval[1]:.1%}]"
