"""Makes assertions of the expected answers of a dataset; `SCORERS` lists the values of `--scorer`."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from cupel_core.domain.definitions.datasets import DatasetScorer
from cupel_core.domain.scoring.assertion_values import escape_variables
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.interop.imports.samples import Sample

type AnswerComparison = Callable[[list[str]], tuple[Assertion, ...]]

_LONG_ANSWER = 100


def target_assertions(targets: list[str], sample: Sample) -> tuple[Assertion, ...]:
    """Return the assertions that compare as the sample's scorer does; none without an expected answer."""
    if not targets:
        return ()
    if sample.scorer is None and all(len(target) > _LONG_ANSWER for target in targets):
        why = f"it has more than {_LONG_ANSWER} characters, which an answer rarely contains word for word; with "
        sample.notes.change(sample.where, "expected answer", f"{why}--scorer factuality, a model compares")
    return SCORERS[sample.scorer or DatasetScorer.INCLUDES](targets)


def ideal_assertions(ideal: list[str], sample: Sample) -> tuple[Assertion, ...]:
    """Return the assertions for a sample of OpenAI's evals, whose Includes and Match differ from Inspect's scorers."""
    kind = _KINDS_OF_EVALS.get(sample.scorer or DatasetScorer.MATCH)
    return _one_for_each(kind, ideal) if kind and ideal else target_assertions(ideal, sample)


def _one_for_all(kind: str, targets: list[str], config: Mapping[str, Any] | None = None) -> tuple[Assertion, ...]:
    return (Assertion(kind, value=escape_variables(targets), config=config),)


def _one_for_each(kind: str, targets: list[str]) -> tuple[Assertion, ...]:
    """Return assertions of which one must pass: a set with the score of one passed assertion as its threshold."""
    parts = tuple(Assertion(kind, value=escape_variables(text)) for text in targets)
    return parts if len(parts) < 2 else (Assertion("assert-set", threshold=1 / len(parts), parts=parts),)


SCORERS: Mapping[DatasetScorer, AnswerComparison] = {
    DatasetScorer.INCLUDES: partial(_one_for_all, "icontains-any"),
    DatasetScorer.MATCH: partial(_one_for_all, "match"),
    DatasetScorer.EXACT: partial(_one_for_all, "exact-match"),
    DatasetScorer.NUMERIC: partial(_one_for_all, "match", config={"numeric": True}),
    DatasetScorer.FUZZY: partial(_one_for_all, "fuzzy-match"),
    DatasetScorer.JSON: partial(_one_for_all, "json-match"),
    DatasetScorer.FACTUALITY: partial(_one_for_each, "factuality"),
}
"""Comparisons as in the scorers of Inspect, and in FuzzyMatch and JsonMatch of OpenAI's evals."""

_KINDS_OF_EVALS = {
    DatasetScorer.INCLUDES: "contains",
    DatasetScorer.MATCH: "starts-with",
    DatasetScorer.EXACT: "equals",
}
