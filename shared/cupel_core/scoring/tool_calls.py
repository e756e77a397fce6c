"""Checks the functions that a target calls, in promptfoo's vocabulary.

Calls are those that the target made, whether or not they were executed. If it made none, or with a transform, they are
read from the output, in the forms of OpenAI, Anthropic and Google.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from cupel_core.domain.conversations.model_request import Message
from cupel_core.domain.conversations.tool_results import ArgumentsError, arguments_of
from cupel_core.domain.conversations.tools import Tool, ToolCall
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.domain.scoring.tool_values import ArgumentRules, Matcher, matchers_of, sequence_of, tool_names
from cupel_core.scoring.assertion_context import AssertionContext
from cupel_core.scoring.check_result import CheckResult, binary
from cupel_core.scoring.texts import threshold_of
from cupel_core.scoring.written_calls import Form, read_calls, written_names

_MAX_SHOWN = 20
_ANY_FORM = frozenset(Form)


def is_valid_openai_tools_call(_: Assertion, context: AssertionContext) -> CheckResult:
    return _valid(context, frozenset({Form.OPENAI_TOOLS}), parses_text=False)


def is_valid_openai_function_call(_: Assertion, context: AssertionContext) -> CheckResult:
    return _valid(context, frozenset({Form.OPENAI_FUNCTION}), parses_text=False)


def is_valid_function_call(_: Assertion, context: AssertionContext) -> CheckResult:
    return _valid(context, _ANY_FORM, parses_text=True)


def _valid(context: AssertionContext, forms: frozenset[Form], *, parses_text: bool) -> CheckResult:
    calls: Sequence[ToolCall] | None = () if context.is_transformed else context.answer_calls
    if not calls:
        calls = read_calls(context.output if parses_text and context.value is None else context.value, forms)
    if not calls:
        return binary(False, "the answer has no call of a function")
    problem = next(filter(None, (_problem(call, context.tools) for call in calls)), None)
    return binary(problem is None, problem or f"all calls are valid: {_names(calls)}")


def _problem(call: ToolCall, tools: Sequence[Tool]) -> str | None:
    tool = next((tool for tool in tools if tool.name == call.name), None)
    if tool is None:
        return f"it calls {call.name}, but there is no function of this name"
    try:
        arguments = arguments_of(call)
    except ArgumentsError as error:
        return f"it calls {call.name}: {error}"
    from cupel_core.scoring.schemas import violation

    problem = violation(tool.schema, arguments)
    return problem and f"its call of {call.name} violates the schema: {problem}"


def tool_call_f1(assertion: Assertion, context: AssertionContext) -> CheckResult:
    """Compute the F1 of the sets of names; neither order nor number counts."""
    expected = set(tool_names(assertion.value))
    calls = () if context.is_transformed else context.answer_calls
    called = {call.name for call in calls} or written_names(context.output if context.value is None else context.value)
    common = len(expected & called)
    f1 = 2 * common / (len(expected) + len(called)) if expected else 0.0
    reason = f"F1 is {f1:.3f}; expected {_joined(sorted(expected))}, called {_joined(sorted(called))}"
    return CheckResult(f1 >= threshold_of(assertion) - 1e-12, f1, reason)


class TrajectoryStep(NamedTuple):
    """Describes a `message` of the target, or its call of a `tool`."""

    type: str
    name: str
    call: ToolCall | None = None


def tool_used(assertion: Assertion, context: AssertionContext) -> CheckResult:
    """Require calls of all names, or a number of calls of one. Negated, none of several names may be called: `not-` is
    not only the opposite."""
    names = [step.name for step in _steps(assertion, context) if step.type == "tool"]
    value = assertion.value
    if not isinstance(value, dict):
        used = [matcher for matcher in matchers_of(value) if any(map(matcher.matches_name, names))]
        passed = bool(used) if assertion.negated else len(used) == len(matchers_of(value))
        return binary(passed, f"called: {_joined(names)}")
    count = sum(map(Matcher.of(value).matches_name, names))
    least = 1 if value.get("min") is None else value["min"]
    passed = _is_within(count, least, value.get("max"))
    return binary(passed, f"{Matcher.of(value).pattern} was called {count} times; called: {_joined(names)}")


def tool_args_match(assertion: Assertion, context: AssertionContext) -> CheckResult:
    matcher, rules = Matcher.of(assertion.value), ArgumentRules.of(assertion.value)
    calls = [step.call for step in _steps(assertion, context) if step.call and matcher.matches_name(step.name)]
    if not calls:
        return binary(False, f"{matcher.pattern} was not called")
    passed = any(rules.match(_arguments(call)) for call in calls if call.arguments.strip())
    found = "a call has" if passed else "no call has"
    return binary(passed, f"{found} the expected arguments; {matcher.pattern} was called {len(calls)} times")


def tool_sequence(assertion: Assertion, context: AssertionContext) -> CheckResult:
    names = [step.name for step in _steps(assertion, context) if step.type == "tool"]
    expected, is_exact = sequence_of(assertion.value)
    if is_exact:
        same_length = len(names) == len(expected)
        passed = same_length and all(m.matches_name(name) for m, name in zip(expected, names, strict=True))
    else:
        passed = _is_in_order(expected, names)
    return binary(passed, f"called: {_joined(names)}")


def _is_in_order(expected: Sequence[Matcher], names: Iterable[str]) -> bool:
    remaining = iter(names)
    return all(any(map(matcher.matches_name, remaining)) for matcher in expected)


def step_count(assertion: Assertion, context: AssertionContext) -> CheckResult:
    matcher, value = Matcher.of(assertion.value), assertion.value
    count = sum(matcher.matches(step.type, step.name) for step in _steps(assertion, context))
    passed = _is_within(count, value.get("min"), value.get("max"))
    return binary(passed, f"{count} steps match")


def _is_within(count: int, least: float | None, most: float | None) -> bool:
    return (least is None or count >= least) and (most is None or count <= most)


def _steps(assertion: Assertion, context: AssertionContext) -> list[TrajectoryStep]:
    """Return the steps of the whole conversation, or of the answer that the assertion is about."""
    replies = context.replies if assertion.turn is None else context.answer_replies
    return [step for reply in replies for step in _steps_of(reply)]


def _steps_of(reply: Message) -> Iterable[TrajectoryStep]:
    if reply.content.strip():
        yield TrajectoryStep("message", "message")
    for call in reply.tool_calls:
        yield TrajectoryStep("tool", call.name, call)


def _arguments(call: ToolCall) -> object:
    """Return the arguments; text that is no JSON object is compared as it is."""
    try:
        return arguments_of(call)
    except ArgumentsError:
        return call.arguments


def _names(calls: Iterable[ToolCall]) -> str:
    return _joined([call.name for call in calls])


def _joined(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MAX_SHOWN} more" if len(names) > _MAX_SHOWN else ""
    return ", ".join(names[:_MAX_SHOWN]) + more or "nothing"
