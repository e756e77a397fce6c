"""Replies of the simulated models: a rule over the scores of the case's dimensions, with seeded noise.

Each behaves differently, so that an analysis has differences to detect. With m the mean score, clamped to 1-5:

- `steady` answers m, give or take half a point: ratings follow the scenario closely.
- `bold` answers 1 or 5 on m's side of the middle (at random at the middle itself), and 2 or 4 one time in five.
- `contrarian` answers 6 - m, give or take half a point: ratings fall as scores rise.
- `flaky` fails one probe in ten and answers the others exactly as `steady` does.
- `echo` repeats its prompt verbatim, whatever the scores, like promptfoo's provider of that name.
- `lenient` answers as `steady` does. As a judge, it errs in a known way: a conversation is good if its last rating is 3
  or more, and `lenient` lets 95 % of the good ones pass, but also 40 % of the others.

For a case without dimensions, m is derived from its scenario, so that models can still be compared on it.
"""

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from random import Random

from cupel_core.domain.conversations.model_request import MessageRole, ModelRequest
from cupel_core.domain.conversations.tools import Tool, ToolCall, ToolMode
from cupel_core.domain.text.json_example import example_of

MODELS = ("steady", "bold", "contrarian", "flaky", "echo", "lenient")
LEAST_GOOD_RATING = 3
LENIENT_SENSITIVITY, LENIENT_SPECIFICITY = 0.95, 0.6
FAILURE_RATE = 0.1
LOWEST, HIGHEST, MIDDLE = 1.0, 5.0, 3.0
DEFAULT_LABEL = "Rating"


def turn_rng(model_name: str, request: ModelRequest, purpose: str = "answer") -> Random:
    """Return the random generator of one turn of one probe, which is the same in every process and redelivery."""
    answers = sum(message.role is MessageRole.ASSISTANT for message in request.messages)
    name = "steady" if model_name == "flaky" else model_name
    key = request.simulation_key
    variant = (key.variant,) if key.variant else ()
    return _seeded(purpose, name, _scenario(request), key.repeat, key.seed, answers, *variant)


def should_fail(model_name: str, request: ModelRequest) -> bool:
    key = request.simulation_key
    rng = _seeded("failure", _scenario(request), key.repeat, key.seed)
    return model_name == "flaky" and rng.random() < FAILURE_RATE


def _scenario(request: ModelRequest) -> str:
    """Return the scenario's id or, outside of a run, the first two messages."""
    return request.simulation_key.scenario_id or "\n".join(m.content for m in request.messages[:2])


def _seeded(*parts: str | int) -> Random:
    digest = hashlib.sha256("\n".join(map(repr, parts)).encode()).digest()
    return Random(int.from_bytes(digest[:8]))  # noqa: S311 - reproducible, not secret


def tool_calls(model_name: str, request: ModelRequest) -> tuple[ToolCall, ...]:
    """Return the next of the calls that the user's last message requests, one in each reply.

    `find_order {"number": "A-17"}` requests this call, and `find_order` alone one with arguments that satisfy its
    schema. Without any, there is one call: of the function that must be called, or of a random one.
    """
    tools, choice = request.parameters.tools, request.parameters.tool_choice
    if not tools or (choice and choice.mode is ToolMode.NONE):
        return ()
    rng, question = turn_rng(model_name, request, "tool"), _last_question(request)
    said = request.messages[question].content if question is not None else ""
    made = sum(message.role is MessageRole.ASSISTANT for message in request.messages[(question or 0) + 1 :])
    allowed = [tool for tool in tools if choice and tool.name == choice.name] or list(tools)
    wanted = _requested_calls(said, allowed) or [(rng.choice(allowed), None)]
    if made >= len(wanted):
        return ()
    tool, arguments = wanted[made]
    written = json.dumps(example_of(tool.schema, rng)) if arguments is None else arguments
    answers = sum(message.role is MessageRole.ASSISTANT for message in request.messages)
    return (ToolCall(f"call_{answers + 1}", tool.name, written),)


def _last_question(request: ModelRequest) -> int | None:
    positions = [n for n, message in enumerate(request.messages) if message.role is MessageRole.USER]
    return positions[-1] if positions else None


def _requested_calls(text: str, tools: Sequence[Tool]) -> list[tuple[Tool, str | None]]:
    """Return the functions that a text names, each with the JSON object that follows its name, or None without one."""
    by_name = {tool.name: tool for tool in tools}
    names = "|".join(map(re.escape, sorted(by_name, key=len, reverse=True)))
    matches = re.finditer(rf"(?<![\w-])({names})(?![\w-])[ \t(]*", text)
    return [(by_name[match[1]], _object_at(text, match.end())) for match in matches]


def _object_at(text: str, start: int) -> str | None:
    if not text.startswith("{", start):
        return None
    try:
        return text[start : json.JSONDecoder().raw_decode(text, start)[1]]
    except (ValueError, RecursionError):
        return None


def _results_note(request: ModelRequest) -> str:
    """Return a text with the results of functions that were called since the user's last message."""
    results = [message for message in request.messages[(_last_question(request) or 0) :] if message.tool_call_id]
    names = {call.id: call.name for message in request.messages for call in message.tool_calls}
    lines = (f"{names.get(message.tool_call_id or '')} returned: {message.content}" for message in results)
    return "".join(f"\n\n{line}" for line in lines)


def lenient_verdict(model_name: str, request: ModelRequest) -> bool | None:
    """Return what the judge `lenient` says of the conversation in a request; None for other models, and if the request
    contains no rating."""
    ratings = _RATING.findall(request.messages[-1].content) if model_name == "lenient" and request.messages else []
    if not ratings:
        return None
    is_good = int(ratings[-1]) >= LEAST_GOOD_RATING
    is_right = turn_rng(model_name, request, "judge").random() < (
        LENIENT_SENSITIVITY if is_good else LENIENT_SPECIFICITY
    )
    return is_good == is_right


def simulated_answer(model_name: str, request: ModelRequest) -> str:
    if model_name == "echo":
        return echo_answer(request)
    mean = mean_score(request)
    rating = _RULES[model_name](mean, turn_rng(model_name, request))
    scores = request.simulation_key.dimensions
    if scores:
        basis = f"The scores of this case average {mean:.1f} over {len(scores)} dimension{'s' * (len(scores) > 1)}"
    else:
        basis = f"This case has no scores and counts as {mean:.1f}"
    note, label = _results_note(request), requested_label(request)
    return (
        f"This is a simulated answer; no language model was asked. {basis}, "
        f"and the rule of sim/{model_name} makes that {rating}.{note}\n\n{label}: {rating}"
    )


def echo_answer(request: ModelRequest) -> str:
    """Return a single user message as it is, and a chat as the JSON of its messages."""
    first, *more = request.messages
    if first.role is MessageRole.USER and not more:
        return first.content
    chat = [{"role": str(message.role), "content": message.content} for message in request.messages]
    return json.dumps(chat, ensure_ascii=False, indent=2)


def mean_score(request: ModelRequest) -> float:
    """Return the mean dimension score, clamped to 1-5; without dimensions, return a number that depends only on the
    scenario."""
    scores = request.simulation_key.dimensions
    if not scores:
        return _seeded("score", _scenario(request)).uniform(LOWEST, HIGHEST)
    return _clamped(sum(scores.values()) / len(scores))


def _clamped(value: float) -> float:
    return min(HIGHEST, max(LOWEST, value))


def _noisy_rating(value: float, rng: Random) -> int:
    return round(_clamped(value + rng.gauss(0, 0.5)))


def _steady(mean: float, rng: Random) -> int:
    return _noisy_rating(mean, rng)


def _bold(mean: float, rng: Random) -> int:
    high = rng.random() < 0.5 if mean == MIDDLE else mean > MIDDLE
    mild = rng.random() < 0.2
    return (4 if mild else 5) if high else (2 if mild else 1)


def _contrarian(mean: float, rng: Random) -> int:
    return _noisy_rating(LOWEST + HIGHEST - mean, rng)


_RULES: dict[str, Callable[[float, Random], int]] = {
    "steady": _steady,
    "bold": _bold,
    "contrarian": _contrarian,
    "flaky": _steady,
    "lenient": _steady,
}

_RATING = re.compile(r"\w: ([1-5])\b")

# `Rating: N`, `Final answer: <1-5>`, `Decision: [number]`, `Score: 1-5`; two words only if the first is capitalized.
_BLANK = r"[NXn]\b|#|_+|<[^<>\n]*>|\[[^\[\]\n]*\]|\{[^{}\n]*\}|[1-5]\b"
_REQUEST = re.compile(rf"\b([A-Z]\w*(?: [a-z]\w*)?|\w+):[ \t]*(?:{_BLANK})")


def requested_label(request: ModelRequest) -> str:
    """Return the label of the requested last line (`Rating: N`) from the newest user message with one, else from the
    system."""
    user_messages = [m.content for m in reversed(request.messages) if m.role is MessageRole.USER]
    for text in (*user_messages, request.system or ""):
        labels = _REQUEST.findall(text)
        if labels:
            return str(labels[-1])
    return DEFAULT_LABEL
