"""The assertions that compare an answer with the expected ones of a sample, by the scorer of the import."""

from collections.abc import Sequence
from typing import Any

from cupel_core.domain.definitions.datasets import DatasetScorer
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.domain.scoring.match_values import choice_error, has_several_answers, letter_of
from cupel_core.imports.json_documents import escape_placeholders

_KINDS = {
    DatasetScorer.INCLUDES: "icontains-any",
    DatasetScorer.MATCH: "match",
    DatasetScorer.EXACT: "exact-match",
    DatasetScorer.NUMERIC: "match",
    DatasetScorer.FUZZY: "fuzzy-match",
    DatasetScorer.JSON: "json-match",
}
"""As the scorers of Inspect, and FuzzyMatch and JsonMatch of OpenAI's evals."""
_KINDS_OF_EVALS = {
    DatasetScorer.INCLUDES: "contains",
    DatasetScorer.MATCH: "starts-with",
    DatasetScorer.EXACT: "equals",
}
"""As Includes and Match of OpenAI's evals."""


def target_assertions(targets: list[str], scorer: DatasetScorer | None) -> tuple[Assertion, ...]:
    if not targets:
        return ()
    scorer = scorer or DatasetScorer.INCLUDES
    config = {"numeric": True} if scorer is DatasetScorer.NUMERIC else None
    return (Assertion(_KINDS[scorer], value=escape_placeholders(targets), config=config),)


def ideal_assertions(ideal: list[str], scorer: DatasetScorer | None) -> tuple[Assertion, ...]:
    """Those of a sample of OpenAI's evals."""
    kind = _KINDS_OF_EVALS.get(scorer or DatasetScorer.MATCH)
    if kind is None:
        return target_assertions(ideal, scorer)
    return _one_of(tuple(Assertion(kind, value=escape_placeholders(text)) for text in ideal))


def choice_assertions(target: str | list[str], choices: Sequence[Any]) -> tuple[Assertion, ...]:
    return (Assertion("choice", value={"target": target, "choices": len(choices)}),) if target else ()


def choice_target_error(target: str | list[str], choices: Sequence[Any]) -> str | None:
    """What is wrong with the letters of the right choices, in words for the author of a sample."""
    return choice_error({"target": target, "choices": len(choices)}) if target else None


def choice_prompt(question: str, choices: Sequence[Any], target: str | list[str]) -> str:
    """The prompt of Inspect's `multiple_choice()`, with `multiple_correct` if the target has several letters."""
    letters = [letter_of(position) for position in range(len(choices))]
    options = "\n".join(f"{letter}) {choice}" for letter, choice in zip(letters, choices, strict=True))
    is_multiple = bool(target) and has_several_answers(target)
    several = " where multiple answers may be correct" if is_multiple else ""
    name, number = ("LETTERS", "one or more") if is_multiple else ("LETTER", "one")
    return (
        f"Answer the following multiple choice question{several}. The entire content of your response should be of the "
        f"following format: 'ANSWER: ${name}' (without quotes) where {name} is {number} of {','.join(letters)}.\n\n"
        f"{question}\n\n{options}"
    )


def _one_of(parts: tuple[Assertion, ...]) -> tuple[Assertion, ...]:
    """Assertions of which one must pass: a set with the score of one passed assertion as its threshold."""
    if len(parts) < 2:
        return parts
    return (Assertion("assert-set", threshold=1 / len(parts), parts=parts),)
