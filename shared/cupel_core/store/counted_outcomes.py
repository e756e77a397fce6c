"""Outcomes as they are counted, read from their digests, and the counts of them in files in the bucket.

Counting reads no text, neither from pages nor from the bucket.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from cupel_core.base.errors import NotFound
from cupel_core.base.messages import RunRef
from cupel_core.domain.analysis.counted_outcomes import CountedCost, CountedOutcome
from cupel_core.domain.analysis.counts import MAX_FILE_BYTES, VERSION, Counts
from cupel_core.domain.codec import decode
from cupel_core.domain.conversations.reply_ends import ReplyEnd, end_of
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.scoring.unscored import UnscoredCause
from cupel_core.store import blobs, object_names, outcomes, rescore_results
from cupel_core.store.outcome_items import StoredOutcome


def list_run(ref: RunRef, indexes: range) -> Iterator[CountedOutcome]:
    """Yield the probes that have an outcome, ascending and lazily."""
    return map(counted, outcomes.list_stored(ref, indexes))


def list_rescore(ref: RunRef, rescore_id: str, indexes: range) -> Iterator[CountedOutcome]:
    """Yield the outcomes with the results of a rescore, without corrections and without transcripts that it has not
    graded."""
    graded = dict(rescore_results.list_bodies(ref, rescore_id, indexes))
    for outcome in list_run(ref, indexes):
        if not outcome.is_completed:
            yield outcome
        elif outcome.probe_index in graded:
            yield outcome._replace(**_result(graded[outcome.probe_index], is_corrected=False))


def counted(stored: StoredOutcome) -> CountedOutcome:
    """Return what is counted of an outcome. Reading it costs a fraction of what a Transcript costs."""
    return _transcript(stored) if stored.completed else _error(stored)


def _transcript(stored: StoredOutcome) -> CountedOutcome:
    body, summary = stored.body, stored.summary or {}
    correction = stored.correction
    turns = body["turnCount"]
    tokens = (body["inputTokens"], body["outputTokens"])
    costs = [CountedCost("target", turns, body["costUsd"] if turns else 0.0, *tokens)]
    costs += (each._replace(kind="target", models={}) for each in _costs({"unusable": body.get("unusable")}))
    others = {name: body.get(name) for name in ("judge", "persona", "operation")}
    costs += _costs({**others, "summary": summary.get("spend")})
    return CountedOutcome(
        probe_index=stored.index,
        is_completed=True,
        code=summary.get("decisionCode"),
        duration_ms=body["durationMs"],
        turns=turns,
        turn_durations_ms=body.get("turnMs") or ((body["durationMs"],) if turns == 1 else ()),
        input_tokens=body["inputTokens"],
        output_tokens=body["outputTokens"],
        model_version=body["modelVersion"],
        costs=costs,
        is_cut=end_of(body.get("finishReason")) is ReplyEnd.CUT,
        omitted_parameters=tuple(body.get("omittedParameters", ())),
        **_result({**body.get("scored", {}), **(correction or {})}, is_corrected=correction is not None),
    )


def _result(scored: Mapping[str, Any], *, is_corrected: bool) -> dict[str, Any]:
    return {
        "success": scored.get("success"),
        "score": scored.get("score"),
        "cause": decode(UnscoredCause, cause) if (cause := scored.get("cause")) and not is_corrected else None,
        "metrics": scored.get("metrics") or {},
        "metric_weights": scored.get("metricWeights") or {},
        "tags": scored.get("tags") or (),
        "checks": scored.get("checks") or {},
        "left_out": {} if is_corrected else scored.get("leftOut") or {},
    }


def _error(stored: StoredOutcome) -> CountedOutcome:
    body = stored.body
    costs = tuple(_costs(body.get("spending") or {}))
    return CountedOutcome(stored.index, is_completed=False, error_code=body["code"], costs=costs)


def _costs(spends: Mapping[str, Mapping[str, Any] | None]) -> Iterable[CountedCost]:
    for kind, spend in spends.items():
        if spend:
            counted_spend = decode(Spend, spend)
            usage, models = counted_spend.usage, counted_spend.models
            tokens = (usage.input_tokens, usage.output_tokens)
            calls, cost, uncertain = counted_spend.calls, counted_spend.cost_usd, counted_spend.uncertain_usd
            yield CountedCost(kind, calls, cost, *tokens, models, uncertain)


def save_counts(ref: RunRef, revision: str, first_leaf: int, counts: Counts) -> None:
    """Save one file for 10,000 probes. `revision` identifies the outcomes that were counted. A file is written once.
    Computing it again from the same outcomes writes the same bytes."""
    blobs.put_bytes(object_names.count_file(ref, revision, VERSION, first_leaf), counts.encode())


def find_counts(ref: RunRef, revision: str, first_leaf: int) -> Counts | None:
    """Return the counts from this leaf on, or None if they are not stored. Raise InvalidCountFile."""
    try:
        return Counts.decode(
            blobs.get_bytes(object_names.count_file(ref, revision, VERSION, first_leaf), MAX_FILE_BYTES)
        )
    except NotFound:
        return None
