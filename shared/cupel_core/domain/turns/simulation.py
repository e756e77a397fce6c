"""What the simulated models say. They know nothing: a rule over the scores of the case's dimensions, with seeded noise.

Each leaves a different mark, so that an analysis has something to find. With m the mean of the scores, limited to 1-5:

- `steady` answers m, give or take half a point: ratings follow the scenario closely.
- `bold` answers 1 or 5 on m's side of the middle (a coin decides at the middle itself), 2 or 4 once in five: extremes.
- `contrarian` answers 6 - m, give or take half a point: the ratings fall as the scores rise.
- `flaky` fails one probe in ten and answers the others exactly as `steady` does.
- `echo` answers what it was asked, word by word, whatever the scores: promptfoo's provider of that name.

A case without dimensions gets an m of its own from its scenario, so that models can still be compared on it.
"""

import hashlib
import json
import re
from collections.abc import Callable
from random import Random

from cupel_core.domain.turns.model_request import Conversation, Role

MODELS = ("steady", "bold", "contrarian", "flaky", "echo")
FAILURE_RATE = 0.1
LOWEST, HIGHEST, MIDDLE = 1.0, 5.0, 3.0
DEFAULT_WORD = "Rating"


def draw(model_name: str, conversation: Conversation, purpose: str = "answer") -> Random:
    """The noise of one turn of one probe: the same whenever and wherever it is asked for again."""
    said = sum(message.role is Role.ASSISTANT for message in conversation.messages)
    name = "steady" if model_name == "flaky" else model_name
    case = conversation.case
    return _seeded(purpose, name, _scenario(conversation), case.repeat, case.seed, said)


def fails(model_name: str, conversation: Conversation) -> bool:
    """Decided by the probe, not the turn: a probe fails as a whole."""
    case = conversation.case
    luck = _seeded("failure", _scenario(conversation), case.repeat, case.seed)
    return model_name == "flaky" and luck.random() < FAILURE_RATE


def _scenario(conversation: Conversation) -> str:
    """Outside of a run there is no scenario; then what was first said stands for it."""
    return conversation.case.scenario_id or "\n".join(m.content for m in conversation.messages[:2])


def _seeded(*parts: str | int) -> Random:
    digest = hashlib.sha256("\n".join(map(repr, parts)).encode()).digest()
    return Random(int.from_bytes(digest[:8]))  # noqa: S311 - reproducible, not secret


def answer_of(model_name: str, conversation: Conversation) -> str:
    if model_name == "echo":
        return echo_of(conversation)
    mean = mean_score(conversation)
    rating = _RULES[model_name](mean, draw(model_name, conversation))
    scores = conversation.case.dimensions
    if scores:
        seen = f"The scores of this case average {mean:.1f} over {len(scores)} dimension{'s' * (len(scores) > 1)}"
    else:
        seen = f"This case has no scores and counts as {mean:.1f}"
    return (
        f"This is a simulated answer; no language model was asked. {seen}, "
        f"and the rule of sim/{model_name} makes that {rating}.\n\n{asked_word(conversation)}: {rating}"
    )


def echo_of(conversation: Conversation) -> str:
    """A prompt that is one text comes back as it is, a chat as the JSON of its messages."""
    first, *more = conversation.messages
    if first.role is Role.USER and not more:
        return first.content
    chat = [{"role": str(message.role), "content": message.content} for message in conversation.messages]
    return json.dumps(chat, ensure_ascii=False, indent=2)


def mean_score(conversation: Conversation) -> float:
    """Limited to 1-5; of a case without dimensions, a number that only its scenario decides."""
    scores = conversation.case.dimensions
    if not scores:
        return _seeded("score", _scenario(conversation)).uniform(LOWEST, HIGHEST)
    return _limited(sum(scores.values()) / len(scores))


def _limited(value: float) -> float:
    return min(HIGHEST, max(LOWEST, value))


def _near(value: float, rng: Random) -> int:
    return round(_limited(value + rng.gauss(0, 0.5)))


def _steady(mean: float, rng: Random) -> int:
    return _near(mean, rng)


def _bold(mean: float, rng: Random) -> int:
    high = rng.random() < 0.5 if mean == MIDDLE else mean > MIDDLE
    mild = rng.random() < 0.2
    return (4 if mild else 5) if high else (2 if mild else 1)


def _contrarian(mean: float, rng: Random) -> int:
    return _near(LOWEST + HIGHEST - mean, rng)


_RULES: dict[str, Callable[[float, Random], int]] = {
    "steady": _steady,
    "bold": _bold,
    "contrarian": _contrarian,
    "flaky": _steady,
}

# `Rating: N`, `Final answer: <1-5>`, `Decision: [number]`, `Score: 1-5`; two words only when the first is capitalised.
_BLANK = r"[NXn]\b|#|_+|<[^<>\n]*>|\[[^\[\]\n]*\]|\{[^{}\n]*\}|[1-5]\b"
_REQUEST = re.compile(rf"\b([A-Z]\w*(?: [a-z]\w*)?|\w+):[ \t]*(?:{_BLANK})")


def asked_word(conversation: Conversation) -> str:
    """The word of the last line such as `Rating: N` that was asked for: by the newest user message, else the system."""
    spoken = [m.content for m in reversed(conversation.messages) if m.role is Role.USER]
    for text in (*spoken, conversation.system or ""):
        words = _REQUEST.findall(text)
        if words:
            return str(words[-1])
    return DEFAULT_WORD
