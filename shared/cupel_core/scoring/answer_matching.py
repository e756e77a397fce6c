import json
import re
import string
from collections.abc import Callable
from typing import Any

from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.domain.scoring.match_values import (
    has_several_answers,
    letter_of,
    target_positions,
    texts_of,
    tolerance_of,
)
from cupel_core.domain.text.counts import count_of
from cupel_core.domain.text.numerals import find_numbers, read_numeral
from cupel_core.scoring.assertion_context import AssertionContext
from cupel_core.scoring.check_result import CheckResult, binary, quote

_PUNCTUATION = string.whitespace + string.punctuation
_NUMERIC_PUNCTUATION = "!?:;()[]{}'\"`"
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_WRAPPERS = (
    re.compile(r"\$\s*([A-Za-z\d][A-Za-z\d ,]*?)\s*\$"),
    re.compile(r"\*\*\s*([A-Za-z\d][A-Za-z\d ,]*?)\s*\*\*"),
)
_PARENTHESES = re.compile(r"(^|[:,])(\s*)\(([A-Za-z\d])\)(?=\s*(?:,|\.|\n|\Z))")
_ANSWER_LINE = re.compile(r"^ANSWER\s*:\s*([A-Za-z\d ,]+)\s*(?:$|\n|\.)", re.IGNORECASE | re.MULTILINE)
_ANSWER = re.compile(r"ANSWER\s*:\s*([A-Za-z\d ,]+)(?:[^\w]|\n|$|\.)", re.IGNORECASE)


def choice(assertion: Assertion, context: AssertionContext) -> CheckResult:
    target, count = assertion.value["target"], assertion.value["choices"]
    expected = [letter_of(position) for position in target_positions(target)]
    options = {letter_of(position) for position in range(count)}
    chosen = chosen_letters(context.output, options, is_multiple=has_several_answers(target))
    wanted = f"expected {', '.join(expected)}"
    if not chosen:
        return binary(False, f"the output names no choice after ANSWER:; {wanted}")
    return binary(chosen == set(expected), f"the output chooses {', '.join(sorted(chosen))}; {wanted}")


def chosen_letters(output: str, options: set[str], *, is_multiple: bool) -> set[str]:
    """Return the choices after the last `ANSWER:` as Inspect's `choice()` does, preferably from a whole line."""
    for wrapper in _WRAPPERS:
        output = wrapper.sub(r"\1", output)
    output = _PARENTHESES.sub(r"\1\2\3", output)
    answers = _ANSWER_LINE.findall(output) or _ANSWER.findall(output)
    if not answers:
        return set()
    answer = answers[-1].strip().rstrip(".").upper()
    if not is_multiple:
        tokens = [token for token in answer.split(",") if token]
        return set(tokens) if len(tokens) == 1 and tokens[0] in options else set()
    answer = answer.replace(" AND ", ",").replace(" ", "")
    separated = {token for token in answer.split(",") if token}
    return next((letters for letters in (separated, set(answer)) if letters <= options), set())


def match(assertion: Assertion, context: AssertionContext) -> CheckResult:
    """Compare as Inspect's `match()` does: without case and outer punctuation, by default at the answer's end."""
    config, targets = assertion.config or {}, texts_of(assertion.value)
    location, is_numeric = config.get("location", "end"), config.get("numeric", False)
    fold = str.casefold if config.get("ignoreCase", True) else str
    answer = fold(context.output.strip())
    matched = any(_is_match(answer, fold(target.strip()), location, is_numeric) for target in targets)
    where = {"begin": "begins with", "end": "ends with", "any": "has", "exact": "is"}[location]
    return _result_of(matched, where, targets)


def _result_of(matched: bool, where: str, targets: list[str]) -> CheckResult:
    quoted = ", ".join(map(quote, targets))
    return binary(matched, f"the output {where} {quoted}" if matched else f"none matches: the output {where} {quoted}")


def _is_match(answer: str, target: str, location: str, is_numeric: bool) -> bool:
    if is_numeric:
        target = _without_formatting(target)
        if _number_text(target) is not None:
            return _is_number(_without_formatting(answer), str(_number_text(target)), location)
    return _COMPARISONS[location](answer.strip(_PUNCTUATION), target.strip(_PUNCTUATION))


_COMPARISONS: dict[str, Callable[[str, str], bool]] = {
    "begin": str.startswith,
    "end": str.endswith,
    "any": lambda answer, target: target in answer,
    "exact": str.__eq__,
}


def _is_number(answer: str, target: str, location: str) -> bool:
    if location == "exact":
        return (_number_text(answer, trims=False) or answer) == target
    numbers = [number for word in re.split(r"\s+", answer) if (number := _number_text(word)) is not None]
    return target in {"begin": numbers[:1], "end": numbers[-1:], "any": numbers}[location]


def _number_text(word: str, *, trims: bool = True) -> str | None:
    """Format a number with five digits, as Inspect compares numbers; None for other words."""
    number = read_numeral(word.strip(_NUMERIC_PUNCTUATION) if trims else word)
    return None if number is None else format(number, ".5g")


def _without_formatting(text: str) -> str:
    """Remove currencies, separators of thousands, emphasis, and full stops that are no decimal points."""
    text = re.sub(r"\\([$,£€*_])", r"\1", text)
    return re.sub(r"\.(?=\s|$|\D)", "", re.sub(r"[$,£€*_]", "", text))


def exact_match(assertion: Assertion, context: AssertionContext) -> CheckResult:
    """Compare as Inspect's `exact()` does: texts are equal without case, articles, punctuation and further spaces."""
    targets, answer = texts_of(assertion.value), _normalized(context.output)
    matched = any(answer == expected for target in targets if (expected := _normalized(target)))
    return _result_of(matched, "is", targets)


def _normalized(text: str) -> str:
    tokens = map(_normalized_token, filter(None, re.split(" |-", text)))
    return " ".join(token for token in tokens if token.strip()).strip()


def _normalized_token(token: str) -> str:
    token = token.casefold()
    if _finite(token) is None:
        bare = token.strip(_PUNCTUATION)
        token = bare if _finite(bare) is not None else _without_punctuation(token)
    number = _finite(token)
    text = token if number is None else str(number)
    return " ".join(_ARTICLES.sub(" ", text).split())


def _without_punctuation(text: str) -> str:
    return text.translate(str.maketrans("", "", string.punctuation))


def _finite(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if abs(number) < float("inf") else None


def fuzzy_match(assertion: Assertion, context: AssertionContext) -> CheckResult:
    """Compare as FuzzyMatch of OpenAI's evals does: one contains the other, without case, articles and punctuation."""
    targets, answer = texts_of(assertion.value), _simplified(context.output)
    return _result_of(
        any(_is_fuzzy_match(answer, _simplified(target)) for target in targets), "has or is part of", targets
    )


def _simplified(text: str) -> str:
    return " ".join(_ARTICLES.sub(" ", _without_punctuation(text.lower())).split())


def _is_fuzzy_match(answer: str, target: str) -> bool:
    if not answer or not target:
        return answer == target
    return answer in target or target in answer


def json_match(assertion: Assertion, context: AssertionContext) -> CheckResult:
    """Compare as JsonMatch of OpenAI's evals does: the JSON is equal, and null equals nothing."""
    try:
        answer = json.loads(context.output)
    except (ValueError, RecursionError):
        return binary(False, "the output is not JSON")
    targets = texts_of(assertion.value)
    return _result_of(any(_is_json_match(answer, json.loads(target)) for target in targets), "is the JSON", targets)


def _is_json_match(answer: Any, target: Any) -> bool:
    if answer is None or target is None:
        return False
    if isinstance(answer, dict) and isinstance(target, dict):
        return all(_is_json_match(answer.get(name), target.get(name)) for name in {**answer, **target})
    if isinstance(answer, list) and isinstance(target, list):
        return len(answer) == len(target) and all(map(_is_json_match, answer, target))
    return bool(answer == target)


def number_equals(assertion: Assertion, context: AssertionContext) -> CheckResult:
    """Require that the last number of the answer equals the expected one, within the tolerance."""
    config, value = assertion.config or {}, assertion.value
    expected = find_numbers(value)[0] if isinstance(value, str) else float(value)
    allowed = tolerance_of(config.get("tolerance"), expected) + 1e-9 * abs(expected)
    location, numbers = config.get("location", "end"), find_numbers(context.output)
    wanted = f"expected {expected:.12g}" + (f" within {config['tolerance']}" if config.get("tolerance") else "")
    if not numbers or (location == "exact" and len(numbers) > 1):
        return binary(False, f"the output has {count_of(len(numbers), 'number')}; {wanted}")
    compared = {"begin": numbers[:1], "any": numbers}.get(location, numbers[-1:])
    is_equal = any(abs(number - expected) <= allowed for number in compared)
    which = {"begin": "the first number", "end": "the last number", "any": "a number", "exact": "the only number"}
    found = next((number for number in compared if abs(number - expected) <= allowed), compared[0])
    subject = which[location] if is_equal or location != "any" else "no number equals it; the first"
    return binary(is_equal, f"{subject} is {found:.12g}; {wanted}")
