"""The pictures of the live view in the documentation: `python -m tests.screenshots` writes them anew."""

import re
from io import StringIO
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console

from cupel.live_view import live_view
from tests.unit.cupel.fake_api import Json, a_delay, a_progress, a_run, a_target

IMAGES = Path(__file__).parents[1] / "docs/images"
WIDTHS = (60, 120)

_RUN_ID = "run_01kaq4c8m2"
_WITHOUT_REMOTE_FONTS = re.sub(r"@font-face \{\{.*?\}\}\s*", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
_SUSPENDED = a_delay(
    "model_suspended",
    provider="anthropic",
    model="anthropic/claude-sonnet-5-5",
    until="2026-01-31T09:31:40.000Z",
    message="10 of the last 20 calls failed: provider_error",
)
_LEARNED = a_delay("learned_limit", provider="openai", limit=20, learnedLimit=12)
_ERRORS = {
    "probes": 14,
    "isComplete": True,
    "causes": [
        {"code": "provider_error", "count": 11, "message": "529: Overloaded"},
        {"code": "timeout", "count": 3, "message": "no answer in 120 s"},
    ],
}


def a_busy_run() -> Json:
    """Three targets: one that is slowed down, one that is suspended, and an agent."""
    slowed = a_target(
        "openai/gpt-6.1-terra",
        1_200,
        731,
        ratePerSecond=9.4,
        etaSeconds=49.9,
        costUsd=0.8312,
        pricedUsd=0.8312,
        results={"judged": 250, "passRate": 0.873, "isComplete": False, "estimatedTokens": 1_284_120},
        delays=[_LEARNED],
    )
    suspended = a_target(
        "anthropic/claude-sonnet-5-5",
        1_200,
        402,
        14,
        ratePerSecond=0.0,
        costUsd=3.914,
        pricedUsd=3.914,
        results={"judged": 201, "passRate": 0.915, "isComplete": False, "estimatedTokens": 702_311},
        errors=_ERRORS,
        delays=[_SUSPENDED],
    )
    agent = a_target(
        "connector/con_support",
        1_200,
        655,
        ratePerSecond=4.1,
        etaSeconds=132.9,
        results={"judged": 218, "passRate": 0.78, "isComplete": False, "estimatedTokens": 911_024},
    )
    return a_progress(slowed, suspended, agent, runId=_RUN_ID, running=32)


def screenshot(width: int) -> str:
    """The live view at this width, as SVG."""
    console = Console(record=True, file=StringIO(), width=width, force_terminal=True, color_system="truecolor")
    console.print(live_view(a_busy_run(), a_run(id=_RUN_ID), width, height=40))
    title = f"cupel watch {_RUN_ID}"
    return console.export_svg(title=title, unique_id=f"watch-{width}", code_format=_WITHOUT_REMOTE_FONTS)


def path_of(width: int) -> Path:
    return IMAGES / f"watch-{width}.svg"


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    for each in WIDTHS:
        path_of(each).write_text(screenshot(each))
