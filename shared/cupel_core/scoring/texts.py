"""What the words of an output are compared with."""

from collections.abc import Callable
from typing import Any

import orjson

from cupel_core.domain.scoring.assertion_rules import KINDS
from cupel_core.domain.scoring.assertion_values import listed, written
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.scoring.assertion_context import Evidence
from cupel_core.scoring.check_result import Outcome, found, measured, shown


def threshold_of(assertion: Assertion) -> float:
    """Its own, or that of its kind."""
    return next(t for t in (assertion.threshold, KINDS[assertion.kind].threshold, 0.0) if t is not None)


def equals(assertion: Assertion, evidence: Evidence) -> Outcome:
    """An object or a list is compared as JSON, everything else as text."""
    value, output = assertion.value, evidence.output
    same = _is_same_json(value, output) if isinstance(value, dict | list) else written(value) == output
    return found(same, f"the output {'equals' if same else 'differs from'} {shown(written(value))}")


def _is_same_json(value: Any, output: str) -> bool:
    try:
        return _is_same(value, orjson.loads(output))
    except orjson.JSONDecodeError:
        return False


def _is_same(one: Any, other: Any) -> bool:
    """To Python, True is 1."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_is_same(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_is_same, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _as_is(text: str) -> str:
    return text


def contains(assertion: Assertion, evidence: Evidence, fold: Callable[[str], str] = _as_is) -> Outcome:
    return _contained((written(assertion.value),), evidence.output, fold, all)


def icontains(assertion: Assertion, evidence: Evidence) -> Outcome:
    return contains(assertion, evidence, str.lower)


def contains_any(assertion: Assertion, evidence: Evidence, fold: Callable[[str], str] = _as_is) -> Outcome:
    return _contained(listed(assertion.value), evidence.output, fold, any)


def icontains_any(assertion: Assertion, evidence: Evidence) -> Outcome:
    return contains_any(assertion, evidence, str.lower)


def contains_all(assertion: Assertion, evidence: Evidence, fold: Callable[[str], str] = _as_is) -> Outcome:
    return _contained(listed(assertion.value), evidence.output, fold, all)


def icontains_all(assertion: Assertion, evidence: Evidence) -> Outcome:
    return contains_all(assertion, evidence, str.lower)


def _contained(
    texts: tuple[str, ...], output: str, fold: Callable[[str], str], enough: Callable[[list[bool]], bool]
) -> Outcome:
    output = fold(output)
    present = [fold(text) in output for text in texts]
    there = [shown(text) for text, is_there in zip(texts, present, strict=True) if is_there]
    missing = [shown(text) for text, is_there in zip(texts, present, strict=True) if not is_there]
    told = [f"the output {verb} {', '.join(which)}" for verb, which in (("has", there), ("lacks", missing)) if which]
    return found(enough(present), "; ".join(told))


def starts_with(assertion: Assertion, evidence: Evidence) -> Outcome:
    begins = evidence.output.startswith(assertion.value)
    return found(begins, f"the output {'begins' if begins else 'does not begin'} with {shown(assertion.value)}")


def regex(assertion: Assertion, evidence: Evidence) -> Outcome:
    from cupel_core.scoring.pattern_search import matches

    there = matches(assertion.value, evidence.output)
    return found(there, f"the output {'matches' if there else 'does not match'} {shown(assertion.value)}")


def word_count(assertion: Assertion, evidence: Evidence) -> Outcome:
    """Exactly so many words, or from `min` to `max`."""
    value, count = assertion.value, len(evidence.output.split())
    bounds = value if isinstance(value, dict) else {"min": float(value), "max": float(value)}
    low, high = bounds.get("min"), bounds.get("max")
    inside = (low is None or count >= low) and (high is None or count <= high)
    wanted = " to ".join(f"{bound:g}" for bound in dict.fromkeys((low, high)) if bound is not None)
    edge = "" if low is not None and high is not None else "at least " if high is None else "at most "
    return found(inside, f"the output has {count} words; {edge}{wanted} are asked for")


def levenshtein(assertion: Assertion, evidence: Evidence) -> Outcome:
    from rapidfuzz.distance import Levenshtein

    most = threshold_of(assertion)
    distance = Levenshtein.distance(evidence.output, assertion.value, score_cutoff=int(most))
    near = distance <= most
    return found(near, f"the edit distance is {distance if near else f'more than {int(most)}'}; the limit is {most:g}")


def rouge_n(assertion: Assertion, evidence: Evidence) -> Outcome:
    from cupel_core.scoring.overlap import rouge_1

    return measured("ROUGE-1", rouge_1(evidence.output, assertion.value), threshold_of(assertion))


def bleu(assertion: Assertion, evidence: Evidence) -> Outcome:
    from cupel_core.scoring import overlap

    references = assertion.value if isinstance(assertion.value, list) else [assertion.value]
    return measured("BLEU", overlap.bleu(evidence.output, references), threshold_of(assertion))
