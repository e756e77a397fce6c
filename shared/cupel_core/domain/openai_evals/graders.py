"""Converts graders of OpenAI's evals to assertions and back; nothing but the assertion of a grader is stored."""

from collections.abc import Mapping, Sequence
from typing import Any

from cupel_core.domain.openai_evals.models import from_target, to_target
from cupel_core.domain.openai_evals.parameters import grader_params, grader_sampling_params
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.domain.scoring.grader_templates import SAMPLE, namespaces_of
from cupel_core.domain.scoring.grader_values import DEFAULT_RANGE

NAMESPACES = frozenset({"item", SAMPLE})
COSINE = "cosine"
_DIGITS = 9
"""Scores and thresholds that are mapped to another range and back are rounded to this many digits."""


def to_assertion(grader: Mapping[str, Any]) -> dict[str, Any]:
    match grader["type"]:
        case "string_check":
            own = {"type": "string-check", "value": _fields(grader, "operation", "input", "reference")}
        case "text_similarity":
            own = _similarity(grader)
        case "label_model":
            value = {
                "messages": grader["input"],
                "labels": list(grader["labels"]),
                "passingLabels": list(grader["passing_labels"]),
            }
            own = {"type": "label-model", "provider": to_target(grader["model"]), "value": value}
        case _:
            own = _score_model(grader)
    return {**own, "metric": grader["name"]}


def to_grader(assertion: Assertion) -> dict[str, Any] | None:
    """Return the grader of an assertion; None for one that OpenAI's evals do not have."""
    value, name = assertion.value, assertion.metric or assertion.type
    match assertion.type:
        case "string-check":
            return {"type": "string_check", "name": name, **value}
        case "text-similarity" | "embedding-similarity":
            metric = value.get("metric", COSINE)
            texts = _fields(value, "input", "reference")
            similarity = {"type": "text_similarity", "name": name, "evaluation_metric": metric}
            return {**similarity, **texts, "pass_threshold": assertion.threshold}
        case "label-model":
            labels = {"labels": value["labels"], "passing_labels": value["passingLabels"]}
            return {"type": "label_model", "name": name, **_judge(assertion), **labels}
        case "score-model":
            low, high = value.get("range", DEFAULT_RANGE)
            return {
                "type": "score_model",
                "name": name,
                **_judge(assertion),
                "range": [low, high],
                "pass_threshold": score_in_range(
                    assertion, 0.5 if assertion.threshold is None else assertion.threshold
                ),
                **({"sampling_params": grader_sampling_params(value["params"])} if value.get("params") else {}),
            }
    return None


def score_in_range(assertion: Assertion, score: float) -> float:
    """Map a score from 0 to 1 to the range of the assertion's grader."""
    if assertion.kind != "score-model":
        return score
    low, high = assertion.value.get("range", DEFAULT_RANGE)
    return round(float(low + score * (high - low)), _DIGITS)


def uses_sample(graders: Sequence[Assertion]) -> bool:
    texts = (text for grader in graders if isinstance(grader.value, Mapping) for text in _templates(grader.value))
    return any(SAMPLE in namespaces_of(text) for text in texts)


def _templates(value: Mapping[str, Any]) -> list[str]:
    messages = value.get("messages", ())
    return [*(value[name] for name in ("input", "reference") if name in value), *(each["content"] for each in messages)]


def _similarity(grader: Mapping[str, Any]) -> dict[str, Any]:
    threshold, texts = grader["pass_threshold"], _fields(grader, "input", "reference")
    if grader["evaluation_metric"] == COSINE:
        return {"type": "embedding-similarity", "threshold": threshold, "value": texts}
    value = {"metric": grader["evaluation_metric"], **texts}
    return {"type": "text-similarity", "threshold": threshold, "value": value}


def _score_model(grader: Mapping[str, Any]) -> dict[str, Any]:
    low, high = grader.get("range") or DEFAULT_RANGE
    params, threshold = grader_params(grader.get("sampling_params") or {}), grader.get("pass_threshold")
    value = {"messages": grader["input"], "range": [low, high], **({"params": params} if params else {})}
    own = {"type": "score-model", "provider": to_target(grader["model"]), "value": value}
    return own if threshold is None else {**own, "threshold": (threshold - low) / (high - low)}


def _judge(assertion: Assertion) -> dict[str, Any]:
    return {"model": from_target(assertion.provider or ""), "input": assertion.value["messages"]}


def _fields(data: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: data[name] for name in names}
