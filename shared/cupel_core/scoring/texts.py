from collections.abc import Callable
from typing import Any

import orjson

from cupel_core.domain.scoring.assertion_rules import ASSERTION_KINDS
from cupel_core.domain.scoring.assertion_values import parse_list, to_text
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.domain.text.counts import count_of
from cupel_core.domain.text.javascript_values import words
from cupel_core.domain.text.json_equality import is_same_json
from cupel_core.domain.text.patterns import QUICK_SECONDS
from cupel_core.scoring.assertion_context import AssertionContext
from cupel_core.scoring.check_result import CheckResult, binary, graded, quote


def threshold_of(assertion: Assertion) -> float:
    return next(t for t in (assertion.threshold, ASSERTION_KINDS[assertion.kind].threshold, 0.0) if t is not None)


def equals(assertion: Assertion, context: AssertionContext) -> CheckResult:
    """Compare an object or a list as JSON, everything else as text."""
    value, output = assertion.value, context.output
    same = _is_json_of(value, output) if isinstance(value, dict | list) else to_text(value) == output
    return binary(same, f"the output {'equals' if same else 'differs from'} {quote(to_text(value))}")


def _is_json_of(value: Any, output: str) -> bool:
    try:
        return is_same_json(value, orjson.loads(output))
    except orjson.JSONDecodeError:
        return False


def _unchanged(text: str) -> str:
    return text


def contains(assertion: Assertion, context: AssertionContext, fold: Callable[[str], str] = _unchanged) -> CheckResult:
    return _contained((to_text(assertion.value),), context.output, fold, all)


def icontains(assertion: Assertion, context: AssertionContext) -> CheckResult:
    return contains(assertion, context, str.lower)


def contains_any(
    assertion: Assertion, context: AssertionContext, fold: Callable[[str], str] = _unchanged
) -> CheckResult:
    return _contained(parse_list(assertion.value), context.output, fold, any)


def icontains_any(assertion: Assertion, context: AssertionContext) -> CheckResult:
    return contains_any(assertion, context, str.lower)


def contains_all(
    assertion: Assertion, context: AssertionContext, fold: Callable[[str], str] = _unchanged
) -> CheckResult:
    return _contained(parse_list(assertion.value), context.output, fold, all)


def icontains_all(assertion: Assertion, context: AssertionContext) -> CheckResult:
    return contains_all(assertion, context, str.lower)


def _contained(
    texts: tuple[str, ...], output: str, fold: Callable[[str], str], enough: Callable[[list[bool]], bool]
) -> CheckResult:
    output = fold(output)
    present = [fold(text) in output for text in texts]
    present_texts = [quote(text) for text, is_present in zip(texts, present, strict=True) if is_present]
    missing = [quote(text) for text, is_present in zip(texts, present, strict=True) if not is_present]
    parts = [
        f"the output {verb} {', '.join(quoted_texts)}"
        for verb, quoted_texts in (("has", present_texts), ("lacks", missing))
        if quoted_texts
    ]
    return binary(enough(present), "; ".join(parts))


def starts_with(assertion: Assertion, context: AssertionContext) -> CheckResult:
    starts = context.output.startswith(assertion.value)
    return binary(starts, f"the output {'starts' if starts else 'does not start'} with {quote(assertion.value)}")


def regex(assertion: Assertion, context: AssertionContext, timeout_seconds: float = QUICK_SECONDS) -> CheckResult:
    """Raises TimeoutError."""
    from cupel_core.scoring.pattern_search import matches

    is_match = matches(assertion.value, context.output, timeout_seconds)
    return binary(is_match, f"the output {'matches' if is_match else 'does not match'} {quote(assertion.value)}")


def word_count(assertion: Assertion, context: AssertionContext) -> CheckResult:
    """Require exactly this number of words, or from `min` to `max`."""
    value, count = assertion.value, len(words(context.output))
    bounds = value if isinstance(value, dict) else {"min": float(value), "max": float(value)}
    low, high = bounds.get("min"), bounds.get("max")
    is_within = (low is None or count >= low) and (high is None or count <= high)
    expected = " to ".join(f"{bound:g}" for bound in dict.fromkeys((low, high)) if bound is not None)
    edge = "" if low is not None and high is not None else "at least " if high is None else "at most "
    return binary(is_within, f"the output has {count_of(count, 'word')}; expected {edge}{expected}")


def levenshtein(assertion: Assertion, context: AssertionContext) -> CheckResult:
    from rapidfuzz.distance import Levenshtein

    limit = threshold_of(assertion)
    cutoff = int(min(limit, max(len(context.output), len(assertion.value))))
    distance = Levenshtein.distance(context.output, assertion.value, score_cutoff=cutoff)
    is_close = distance <= limit
    return binary(
        is_close, f"the edit distance is {distance if is_close else f'more than {int(limit)}'}; the limit is {limit:g}"
    )


def rouge_n(assertion: Assertion, context: AssertionContext) -> CheckResult:
    from cupel_core.scoring.text_metrics import rouge_1

    return graded("ROUGE-1", rouge_1(context.output, assertion.value), threshold_of(assertion))


def bleu(assertion: Assertion, context: AssertionContext) -> CheckResult:
    from cupel_core.scoring import text_metrics

    references = assertion.value if isinstance(assertion.value, list) else [assertion.value]
    return graded("BLEU", text_metrics.promptfoo_bleu(context.output, references), threshold_of(assertion))


def gleu(assertion: Assertion, context: AssertionContext) -> CheckResult:
    from cupel_core.scoring import text_metrics

    references = assertion.value if isinstance(assertion.value, list) else [assertion.value]
    return graded("GLEU", text_metrics.promptfoo_gleu(context.output, references), threshold_of(assertion))
