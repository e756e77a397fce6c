"""Computes assertions by code: its arguments, and how its return value becomes a result, are as in promptfoo.

The code itself runs where its author evaluates (`CodeRunner`); a stack has no runner.
"""

import json
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, NamedTuple, Protocol

from cupel_core.domain.scoring.assertion_rules import CODE_FILE, VALUE_FUNCTION
from cupel_core.domain.scoring.assertion_values import to_text
from cupel_core.domain.scoring.assertions import Assertion, AssertionResult
from cupel_core.domain.scoring.unscored import UnscoredCode
from cupel_core.domain.text.javascript_values import well_formed
from cupel_core.domain.text.storable import storable
from cupel_core.scoring.assertion_context import AssertionContext
from cupel_core.scoring.check_result import CheckResult, CodeFailed, NotComputable, TransformFailed

PYTHON, JAVASCRIPT = "python", "javascript"
_DEFAULT_FUNCTION = "get_assert"
_DEFAULT_SCORING_FUNCTION = "func"
_DEFAULT_TRANSFORM_FUNCTION = "get_transform"
_MAX_COMPONENTS = 100
_MAX_TEXT_LENGTH = 5_000


class Code(NamedTuple):
    """Contains either `text`, or a `file` with the function that is called."""

    language: str
    text: str | None = None
    file: str | None = None
    function: str | None = None
    is_transform: bool = False
    """True if the code is a transform, which may return any value instead of the result of an assertion."""


class CodeRunner(Protocol):
    async def __call__(self, code: Code, arguments: list[Any]) -> Any:
        """Return the JSON that the code returns for these arguments. Raises CodeFailed if the code raises an exception,
        and NotComputable if it cannot be loaded or exceeds a limit."""


def code_of(language: str, value: str) -> Code:
    """Return the code of an assertion's value: `file://check.py:function`, or the code itself."""
    match = CODE_FILE.fullmatch(value.strip())
    if match is None:
        return Code(language, text=value)
    return Code(language, file=match["path"], function=match["function"])


def scoring_function_of(value: str) -> Code:
    match = CODE_FILE.fullmatch(value)
    if match is None:
        raise NotComputable(f"{value} is not the name of a file of code", UnscoredCode.CODE)
    return Code(PYTHON if match["path"].endswith(".py") else JAVASCRIPT, file=match["path"], function=match["function"])


def value_function_of(value: str) -> Code:
    """Return the code that computes an assertion's value, which is always in a file."""
    code = scoring_function_of(value)
    default = _DEFAULT_FUNCTION if code.language == PYTHON else None
    return code._replace(function=code.function or default, is_transform=True)


async def check_by_code(assertion: Assertion, context: AssertionContext, run: CodeRunner) -> CheckResult:
    """Check an answer by an assertion's code. Raises CodeFailed if the code fails or returns anything but a result, and
    NotComputable as `CodeRunner` does."""
    code = code_of(assertion.kind, assertion.value)
    if code.language == PYTHON and code.file and not code.function:
        code = code._replace(function=_DEFAULT_FUNCTION)
    returned = await run(code, [context.answer, _context(assertion, context)])
    return read_result(returned, assertion.threshold, assertion.kind)


async def value_by_code(function: str, assertion: Assertion, context: AssertionContext, run: CodeRunner) -> Any:
    """Return the value of an assertion that a function returns for the answer. Raises CodeFailed if the code fails, and
    NotComputable as `CodeRunner` does."""
    return await run(value_function_of(function), [context.answer, _context(assertion, context)])


async def transform_by_code(transform: str, context: AssertionContext, run: CodeRunner) -> Any:
    """Apply a transform that is code to the answer: an expression, a body of several lines, or a file's function.
    Raises TransformFailed if the code fails or returns nothing, and NotComputable as `CodeRunner` does."""
    code = transform_code_of(transform)
    given = {
        "vars": dict(context.variables),
        "prompt": {"raw": context.prompt, "label": context.prompt},
        "metadata": dict(context.metadata),
    }
    try:
        value = await run(code, [context.answer, given])
    except CodeFailed as error:
        raise TransformFailed(str(error)) from None
    if value is None:
        raise TransformFailed("it returned nothing")
    return well_formed(value) if isinstance(value, str) else value


def transform_code_of(transform: str) -> Code:
    code = code_of(JAVASCRIPT, transform)
    if code.file is not None and code.file.endswith(".py"):
        code = code._replace(language=PYTHON, function=code.function or _DEFAULT_TRANSFORM_FUNCTION)
    return code._replace(is_transform=True)


async def score_by_code(
    function: str,
    metrics: Mapping[str, float],
    results: Sequence[AssertionResult],
    threshold: float | None,
    run: CodeRunner,
) -> CheckResult:
    code = scoring_function_of(function)
    if code.language == PYTHON and not code.function:
        code = code._replace(function=_DEFAULT_SCORING_FUNCTION)
    components = [_component(result) for result in results]
    # Without a threshold, a default that the code gives to the field applies.
    limit = {} if threshold is None else {"threshold": threshold}
    returned = await run(code, [dict(metrics), {**limit, "componentResults": components}])
    if not isinstance(returned, Mapping):
        raise CodeFailed("a scoring function returns an object with pass, score and reason")
    return read_result(returned, None, code.language)


def _context(assertion: Assertion, context: AssertionContext) -> dict[str, Any]:
    variables = dict(context.variables)
    config = {name: value for name, value in (assertion.config or {}).items() if name != VALUE_FUNCTION}
    return {
        "prompt": context.prompt,
        "vars": variables,
        "test": {**_test(context), "vars": variables, "metadata": dict(context.metadata)},
        **({"config": config} if config else {}),
        "providerResponse": {
            "output": context.answer,
            "cost": context.cost_usd,
            "latencyMs": context.latency_ms,
            "finishReason": context.finish_reason,
        },
        "metadata": dict(context.metadata),
    }


def _test(context: AssertionContext) -> dict[str, Any]:
    """Return the test as it was written where it was imported from, or the scenario in the same form."""
    source = context.metadata.get("promptfoo")
    written = source.get("test") if isinstance(source, Mapping) else None
    if isinstance(written, Mapping):
        return dict(written)
    assertions = [assertion.to_json() for assertion in context.assertions]
    return {"description": context.name, "options": {}, "assert": assertions}


def _component(result: AssertionResult) -> dict[str, Any]:
    return {
        "pass": bool(result.passed),
        "score": result.score or 0,
        "reason": result.error or result.reason,
        "assertion": {"type": result.type, "metric": result.metric, "weight": result.weight},
    }


def read_result(returned: Any, threshold: float | None, language: str) -> CheckResult:
    """Read what code returned: true or false, a number, or an object with `pass`, `score` and `reason`. Python may also
    return these as text, and an object's names in snake case. Raises CodeFailed for anything else."""
    if language == PYTHON and isinstance(returned, str):
        returned = _parsed(returned)
    match returned:
        case bool():
            return CheckResult(returned, float(returned), f"the code returned {to_text(returned)}")
        case int() | float() if isfinite(returned):
            passed = returned > 0 if threshold is None else returned >= threshold
            return CheckResult(passed, _share(returned), f"the code returned {to_text(returned)}")
        case {"pass": bool()} | {"pass_": bool()}:
            return _graded(returned, threshold if language == PYTHON else None, language)
    raise CodeFailed(
        f"the code returned {_shown(returned)}; it must be true or false, a number, or {{pass, score, reason}}"
    )


def _parsed(text: str) -> Any:
    """Read text as Python's printed values: `True`, `0.5`, or JSON."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        return json.loads(text)
    except ValueError:
        return text


def _graded(data: Mapping[str, Any], threshold: float | None, language: str) -> CheckResult:
    passed, score = _passed(data), _number(data.get("score"))
    if score is None or not isinstance(data.get("reason"), str):
        if passed:
            raise CodeFailed(f"the code returned {_shown(data)}; a pass must have a score and a reason")
        score = 0.0
    reason = to_text(data.get("reason") or f"the code returned {'a pass' if passed else 'a failure'}")
    if threshold is not None and score < threshold:
        passed, reason = False, f"the score {score:g} is below {threshold:g}: {reason}"
    return CheckResult(passed, _share(score), reason, (*_components(data, language), *_named_scores(data, language)))


def _passed(data: Mapping[str, Any]) -> bool:
    return bool(data.get("pass", data.get("pass_")))


def _components(data: Mapping[str, Any], language: str) -> tuple[AssertionResult, ...]:
    given = data.get("componentResults", data.get("component_results"))
    items = [item for item in given if isinstance(item, Mapping)] if isinstance(given, list) else []
    return tuple(_component_result(item, language) for item in items[:_MAX_COMPONENTS])


def _component_result(item: Mapping[str, Any], language: str) -> AssertionResult:
    passed, score, assertion = _passed(item), _number(item.get("score")), item.get("assertion")
    kind = assertion.get("type") if isinstance(assertion, Mapping) else None
    return AssertionResult(
        type=storable(kind if isinstance(kind, str) else language, 200),
        passed=passed,
        score=_share(float(passed) if score is None else score),
        reason=storable(to_text(item.get("reason") or ""), _MAX_TEXT_LENGTH),
    )


def _named_scores(data: Mapping[str, Any], language: str) -> tuple[AssertionResult, ...]:
    given = data.get("namedScores", data.get("named_scores"))
    scores = {name: _number(value) for name, value in given.items()} if isinstance(given, Mapping) else {}
    return tuple(
        AssertionResult(language, score > 0, _share(score), "", metric=storable(str(name), 200))
        for name, score in list(scores.items())[:_MAX_COMPONENTS]
        if score is not None
    )


def _number(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    return float(value) if is_number else None


def _share(score: float) -> float:
    """Limit a score to 0 … 1, because promptfoo's may be any number."""
    return min(1.0, max(0.0, float(score)))


def _shown(value: Any) -> str:
    text = to_text(value)
    return text if len(text) <= 200 else f"{text[:200]}…"
