"""Defines the types of assertions and what each requires, and validates assertions written by users."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.scoring import grader_values, match_values, tool_values
from cupel_core.domain.scoring.assertion_values import (
    any_text_error,
    elements_error,
    has_variables,
    is_amount,
    placeholder_error,
    references_error,
    required_error,
    rubric_error,
    text_error,
    text_or_number_error,
    texts_error,
    url_error,
    variable_names,
    words_error,
)
from cupel_core.domain.scoring.assertions import COMPARISONS, MAX_SCORE, NOT, SELECT_BEST
from cupel_core.domain.text.finite_numbers import is_finite_number
from cupel_core.domain.text.javascript_patterns import javascript_pattern_error
from cupel_core.domain.text.json_schema import schema_errors
from cupel_core.domain.text.near_names import did_you_mean, unknown_field_message
from cupel_core.domain.text.validation_messages import of_missing

MAX_ASSERTIONS = 100
"""A scenario or definition has at most this many, including the parts of sets."""
MAX_NESTING = 3
"""Sets may be nested this deep: promptfoo has one level, and a test's own threshold adds one around it."""
MAX_NAME_LENGTH = 200
ASSERT_SET = "assert-set"
AVERAGE, SUM = AGGREGATIONS = ("average", "sum")
"""The `method` of a `max-score` is one of these, and makes one score of several."""
LLM_RUBRIC = "llm-rubric"
RUBRIC_PROMPT = "rubricPrompt"
"""In the `config` of an `llm-rubric`, it is the judge's prompt, with `{{output}}`, `{{rubric}}` and the scenario's
variables."""
MAX_RUBRIC_PROMPT_LENGTH = 20_000
RUBRIC_RANGE = "range"
"""In the `config` of an `llm-rubric`, it has the lowest and the highest score that `rubricPrompt` requests."""
SCORING_FUNCTION = "scoringFunction"
"""In the `config` of a set, it is code that computes the set's result from those of its parts."""
VALUE_FUNCTION = "valueFunction"
"""In the `config` of an assertion with a value, it is code that returns the value for an answer."""
CODE_FILE = re.compile(r"file://(?P<path>[^:]+\.(?:py|js|cjs|mjs|ts|cts|mts))(?::(?P<function>[\w.]+))?")
CODE_REFUSED = (
    "is code, which a stack does not run: use a webhook, or evaluate with `cupel run --in-process --allow-code` or "
    "cupel.evaluate(…, allow_code=True)"
)
MAX_TURN = 100
OF_ALL_TURNS = frozenset({"latency", "cost", "finish-reason", ASSERT_SET, *COMPARISONS})
"""Measured once per conversation, or have answers of their own."""
TRAJECTORY = "trajectory:"
"""Types that check what a target called in a whole conversation have this prefix."""
_FIELDS = (
    "type",
    "value",
    "threshold",
    "weight",
    "metric",
    "provider",
    "tag",
    "config",
    "transform",
    "turn",
    "default",
    "assert",
)

type ValueRule = Callable[[Any], str | None]


class AssertionIssue(NamedTuple):
    """Describes an error in a field such as `assertions.2.threshold`; the message continues after the field's name."""

    field: str
    message: str


@dataclass(frozen=True)
class AssertionKind:
    """Defines the rules of one assertion type. `threshold` is its default."""

    value: ValueRule = lambda _: None
    config: Callable[[Mapping[str, Any]], str | None] = lambda _: None
    threshold: float | None = None
    needs_threshold: bool = False
    is_fraction: bool = False
    may_negate: bool = True
    needs_judge: bool = False
    needs_embedder: bool = False


def assertion_issues(
    assertions: Any, field: str = "assertions", *, allow_code: bool = False
) -> tuple[AssertionIssue, ...]:
    """Return the errors in JSON assertions of a scenario or a definition. Code is only allowed where its author runs
    it: in process."""
    if not isinstance(assertions, list):
        return (AssertionIssue(field, "must be a list"),)
    if _count(assertions) > MAX_ASSERTIONS:
        return (AssertionIssue(field, f"must be at most {MAX_ASSERTIONS}, including the parts of sets"),)
    return tuple(_list_issues(assertions, field, 0, allow_code))


def _count(assertions: list[Any]) -> int:
    parts = (assertion.get("assert") for assertion in assertions if isinstance(assertion, dict))
    return len(assertions) + sum(_count(part) for part in parts if isinstance(part, list))


def _list_issues(assertions: list[Any], field: str, depth: int, allow_code: bool) -> Iterator[AssertionIssue]:
    for number, assertion in enumerate(assertions):
        yield from _issues(assertion, f"{field}.{number}", depth, allow_code)


def _issues(assertion: Any, field: str, depth: int, allow_code: bool) -> Iterator[AssertionIssue]:
    if not isinstance(assertion, dict):
        yield AssertionIssue(field, "must be an object")
        return
    for name in assertion:
        if name not in _FIELDS:
            yield AssertionIssue(f"{field}.{name}", unknown_field_message(str(name), _FIELDS))
    type_name = assertion.get("type")
    if error := _type_error(type_name, allow_code):
        yield AssertionIssue(f"{field}.type", error)
        return
    name = str(type_name).removeprefix(NOT)
    kind = ASSERTION_KINDS.get(name) or CODE_KINDS[name]
    yield from _value_issues(name, assertion, field)
    yield from _number_issues(kind, assertion, field)
    yield from _turn_issues(name, assertion.get("turn"), f"{field}.turn")
    yield from _transform_issues(name, assertion.get("transform"), f"{field}.transform", allow_code)
    yield from _string_issues(assertion, field)
    yield from _config_issues(name, assertion.get("config"), f"{field}.config", allow_code)
    yield from _part_issues(name, assertion.get("assert"), f"{field}.assert", depth, allow_code)


def value_error(name: str, value: Any, config: Any) -> str | None:
    """Return the error in the value of an assertion of a known type. A rubric may be contained in the judge's own
    prompt."""
    if name == LLM_RUBRIC and not value and isinstance(config, dict) and RUBRIC_PROMPT in config:
        return None
    return (ASSERTION_KINDS.get(name) or CODE_KINDS[name]).value(value)


def _type_error(type_name: Any, allow_code: bool) -> str | None:
    if not isinstance(type_name, str) or not type_name:
        return of_missing(type_name, "must be the name of an assertion type")
    name = type_name.removeprefix(NOT)
    if name in CODE_KINDS:
        return None if allow_code else f"{type_name} {CODE_REFUSED}"
    if name not in ASSERTION_KINDS:
        return f"unknown type {type_name!r}{did_you_mean(name, list(ASSERTION_KINDS))}"
    if type_name.startswith(NOT) and not ASSERTION_KINDS[name].may_negate:
        return f"{name} cannot be negated: negate its parts" if name == ASSERT_SET else f"{name} cannot be negated"
    return None


def _value_issues(name: str, assertion: Mapping[str, Any], field: str) -> Iterator[AssertionIssue]:
    value, config = assertion.get("value"), assertion.get("config")
    if name in ASSERTION_KINDS and isinstance(config, dict) and VALUE_FUNCTION in config:
        return
    # The value of a variable is only known when a conversation is scored.
    error = value_error(name, value, config)
    if error and not has_variables(value):
        yield AssertionIssue(f"{field}.value", of_missing(value, error))
    elif name in ASSERTION_KINDS and (unusable := placeholder_error(value)):
        yield AssertionIssue(f"{field}.value", unusable)


def _number_issues(kind: AssertionKind, assertion: Mapping[str, Any], field: str) -> Iterator[AssertionIssue]:
    threshold, weight = assertion.get("threshold"), assertion.get("weight")
    if threshold is None and kind.needs_threshold:
        yield AssertionIssue(f"{field}.threshold", "is required")
    if threshold is not None and not is_amount(threshold):
        yield AssertionIssue(f"{field}.threshold", "must be a number of at least 0")
    elif threshold is not None and kind.is_fraction and threshold > 1 and not _has_own_scale(assertion):
        yield AssertionIssue(f"{field}.threshold", "must be a number from 0 to 1")
    if weight is not None and not is_amount(weight):
        yield AssertionIssue(f"{field}.weight", "must be a number of at least 0")


def _has_own_scale(assertion: Mapping[str, Any]) -> bool:
    """Return whether the threshold is on the scale of the author's prompt."""
    config = assertion.get("config")
    return isinstance(config, dict) and RUBRIC_PROMPT in config


def _turn_issues(name: str, turn: Any, field: str) -> Iterator[AssertionIssue]:
    if turn is None:
        return
    if name in OF_ALL_TURNS:
        yield AssertionIssue(field, f"is not allowed in {name}, which is about the whole conversation")
    elif isinstance(turn, bool) or not isinstance(turn, int) or not 1 <= turn <= MAX_TURN:
        yield AssertionIssue(field, f"must be a whole number from 1 to {MAX_TURN}")


def may_transform(name: str) -> bool:
    """Return whether assertions of this type check a text, or the result of a transform of it."""
    return name not in OF_ALL_TURNS and not name.startswith(TRAJECTORY)


def _transform_issues(name: str, transform: Any, field: str, allow_code: bool) -> Iterator[AssertionIssue]:
    if transform is not None and not may_transform(name):
        yield AssertionIssue(field, f"is not allowed in {name}, which does not check the text of an answer")
    elif transform is not None:
        from cupel_core.domain.scoring.output_transforms import code_error, transform_error  # few assertions need these

        error = transform_error(transform)
        written = transform if isinstance(transform, list) and transform else [transform]
        if error and not (allow_code and not any(map(code_error, written))):
            yield AssertionIssue(field, error)


def _string_issues(assertion: Mapping[str, Any], field: str) -> Iterator[AssertionIssue]:
    for name in ("metric", "tag", "provider"):
        text = assertion.get(name)
        if text is not None and not (isinstance(text, str) and 0 < len(text.strip()) <= MAX_NAME_LENGTH):
            yield AssertionIssue(f"{field}.{name}", f"must be a string of at most {MAX_NAME_LENGTH} characters")
        elif name == "provider" and text is not None and not all(text.partition("/")):
            yield AssertionIssue(f"{field}.provider", "must be a model: provider/name")
    if not isinstance(assertion.get("default", False), bool):
        yield AssertionIssue(f"{field}.default", "must be true or false")


def _config_issues(name: str, config: Any, field: str, allow_code: bool) -> Iterator[AssertionIssue]:
    if config is None:
        return
    if not isinstance(config, dict):
        yield AssertionIssue(field, "must be an object")
        return
    if name in ASSERTION_KINDS and (error := ASSERTION_KINDS[name].config(config)):
        yield AssertionIssue(field, error)
    if "headers" in config:
        yield AssertionIssue(
            f"{field}.headers", "is not allowed: definitions must not contain secrets; use the evaluator's headers"
        )
    if name == LLM_RUBRIC and RUBRIC_PROMPT in config and (error := rubric_prompt_error(config[RUBRIC_PROMPT])):
        yield AssertionIssue(f"{field}.{RUBRIC_PROMPT}", error)
    if name == LLM_RUBRIC and RUBRIC_RANGE in config and not _is_range(config[RUBRIC_RANGE]):
        yield AssertionIssue(f"{field}.{RUBRIC_RANGE}", "must be the lowest and the highest score: [0, 10]")
    if name == ASSERT_SET and config.get(SCORING_FUNCTION) is not None:
        yield from _function_issues(config[SCORING_FUNCTION], f"{field}.{SCORING_FUNCTION}", allow_code)
    if name in (ASSERT_SET, *COMPARISONS) and VALUE_FUNCTION in config:
        yield AssertionIssue(f"{field}.{VALUE_FUNCTION}", f"is not allowed in {name}")
    elif name in ASSERTION_KINDS and VALUE_FUNCTION in config:
        yield from _function_issues(config[VALUE_FUNCTION], f"{field}.{VALUE_FUNCTION}", allow_code)


def _function_issues(value: Any, field: str, allow_code: bool) -> Iterator[AssertionIssue]:
    if not allow_code:
        yield AssertionIssue(field, CODE_REFUSED)
    elif not (isinstance(value, str) and CODE_FILE.fullmatch(value)):
        yield AssertionIssue(field, "must name a file: file://score.py:function")


def rubric_prompt_error(prompt: Any) -> str | None:
    messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
    if not isinstance(messages, list) or not messages or not all(map(_is_message, messages)):
        return "must be a text, or a list of messages with a role (system, user, assistant) and a content"
    text = "".join(message["content"] for message in messages)
    if len(text) > MAX_RUBRIC_PROMPT_LENGTH:
        return f"must have at most {MAX_RUBRIC_PROMPT_LENGTH:,} characters"
    if "output" not in variable_names(text):
        return "must contain {{output}}, which the judge grades"
    return placeholder_error(text)


def _is_message(message: Any) -> bool:
    if not isinstance(message, dict) or set(message) != {"role", "content"}:
        return False
    return message["role"] in ("system", "user", "assistant") and bool(text_error(message["content"]) is None)


def _part_issues(name: str, parts: Any, field: str, depth: int, allow_code: bool) -> Iterator[AssertionIssue]:
    if name != ASSERT_SET:
        if parts is not None:
            yield AssertionIssue(field, f"is only allowed in an {ASSERT_SET}")
    elif not isinstance(parts, list) or not parts:
        yield AssertionIssue(field, of_missing(parts, "must be a list of assertions"))
    elif depth == MAX_NESTING - 1 and ASSERT_SET in map(_type_of, parts):
        yield AssertionIssue(field, f"must not nest sets more than {MAX_NESTING} deep")
    elif comparisons := COMPARISONS.intersection(map(_type_of, parts)):
        names = " and ".join(sorted(comparisons))
        yield AssertionIssue(field, f"must not contain {names}, which compares models: put it beside the set")
    else:
        yield from _list_issues(parts, field, depth + 1, allow_code)


def _type_of(part: Any) -> Any:
    return part.get("type") if isinstance(part, dict) else None


def _is_range(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(is_finite_number, value)) and value[0] < value[1]


def _pattern(value: Any) -> str | None:
    return text_error(value) or javascript_pattern_error(value)


def _schema(value: Any) -> str | None:
    if isinstance(value, str) and value:
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return "must be a JSON Schema: an object, or its JSON as a string"
    if value in (None, ""):
        return None
    return next(schema_errors(value), None)


def _aggregation(value: Any) -> str | None:
    if value is None:
        return None
    if not isinstance(value, dict) or set(value) - {"method", "weights", "threshold"}:
        return "must be an object with method, weights and threshold, all of them optional"
    if value.get("method", AVERAGE) not in AGGREGATIONS:
        return f"must have a method that is {' or '.join(AGGREGATIONS)}"
    weights = value.get("weights", {})
    if not isinstance(weights, dict) or not all(map(is_finite_number, weights.values())):
        return 'must have weights that are numbers by assertion type: {"weights": {"contains": 2}}'
    if not is_finite_number(value.get("threshold", 0)):
        return "must have a threshold that is a number"
    return None


ASSERTION_KINDS: Mapping[str, AssertionKind] = {
    "equals": AssertionKind(required_error),
    "contains": AssertionKind(text_or_number_error),
    "icontains": AssertionKind(text_or_number_error),
    "contains-any": AssertionKind(texts_error),
    "icontains-any": AssertionKind(texts_error),
    "contains-all": AssertionKind(texts_error),
    "icontains-all": AssertionKind(texts_error),
    "starts-with": AssertionKind(text_error),
    "regex": AssertionKind(_pattern),
    "is-json": AssertionKind(_schema),
    "contains-json": AssertionKind(_schema),
    "is-xml": AssertionKind(elements_error),
    "contains-xml": AssertionKind(elements_error),
    "is-html": AssertionKind(),
    "contains-html": AssertionKind(),
    "levenshtein": AssertionKind(any_text_error, threshold=5),
    "word-count": AssertionKind(words_error),
    "choice": AssertionKind(match_values.choice_error),
    "match": AssertionKind(match_values.targets_error, config=match_values.match_config_error),
    "exact-match": AssertionKind(match_values.targets_error),
    "number-equals": AssertionKind(match_values.number_error, config=match_values.number_config_error),
    "fuzzy-match": AssertionKind(match_values.targets_error),
    "json-match": AssertionKind(match_values.json_targets_error),
    "rouge-n": AssertionKind(text_error, threshold=0.75, is_fraction=True),
    "bleu": AssertionKind(references_error, threshold=0.5, is_fraction=True),
    "gleu": AssertionKind(references_error, threshold=0.5, is_fraction=True),
    "latency": AssertionKind(needs_threshold=True),
    "cost": AssertionKind(needs_threshold=True),
    "finish-reason": AssertionKind(text_error),
    "is-refusal": AssertionKind(),
    "is-valid-openai-tools-call": AssertionKind(),
    "is-valid-openai-function-call": AssertionKind(),
    "is-valid-function-call": AssertionKind(),
    "tool-call-f1": AssertionKind(tool_values.names_error, threshold=1, is_fraction=True),
    "trajectory:tool-used": AssertionKind(tool_values.used_error),
    "trajectory:tool-args-match": AssertionKind(tool_values.args_error),
    "trajectory:tool-sequence": AssertionKind(tool_values.sequence_error),
    "trajectory:step-count": AssertionKind(tool_values.count_error),
    "similar": AssertionKind(references_error, threshold=0.75, is_fraction=True, needs_embedder=True),
    LLM_RUBRIC: AssertionKind(rubric_error, is_fraction=True, needs_judge=True),
    "g-eval": AssertionKind(references_error, threshold=0.7, is_fraction=True, needs_judge=True),
    "factuality": AssertionKind(text_error, needs_judge=True),
    "answer-relevance": AssertionKind(threshold=0, is_fraction=True, needs_judge=True, needs_embedder=True),
    "string-check": AssertionKind(grader_values.string_check_error),
    "text-similarity": AssertionKind(grader_values.text_similarity_error, needs_threshold=True, is_fraction=True),
    "embedding-similarity": AssertionKind(
        grader_values.embedding_similarity_error, needs_threshold=True, is_fraction=True, needs_embedder=True
    ),
    "label-model": AssertionKind(grader_values.label_model_error, needs_judge=True),
    "score-model": AssertionKind(grader_values.score_model_error, threshold=0.5, is_fraction=True, needs_judge=True),
    "webhook": AssertionKind(url_error),
    ASSERT_SET: AssertionKind(is_fraction=True, may_negate=False),
    SELECT_BEST: AssertionKind(text_error, may_negate=False, needs_judge=True),
    MAX_SCORE: AssertionKind(_aggregation, may_negate=False),
}
CODE_KINDS: Mapping[str, AssertionKind] = {"javascript": AssertionKind(text_error), "python": AssertionKind(text_error)}
"""Assertion types that are only allowed in process: `value` is code, or `file://check.py:function`."""
