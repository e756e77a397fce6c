"""`make screenshots`: the pictures of README and docs, of the page with a run of two targets. Not part of the tests."""

import base64
from collections.abc import Iterator
from random import Random

import pytest

from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.transcripts import Summary
from cupel_core.domain.scoring.assertions import AssertionResult
from cupel_core.domain.scoring.scoring import Scoring, build_scoring
from tests.answered_runs import AnsweredRun
from tests.conftest import ROOT
from tests.started_runs import NOW
from tests.web.conftest import Open, settled
from tests.web.server import Server

FOLDER = ROOT / "docs" / "images"
QUALITY = 85
MAX_BYTES = 130_000
TARGETS = ("sim/steady", "sim/bold")
REPEATS = 10
QUESTIONS = (
    ("Refund after two months", "I bought a kettle two months ago and it leaks. Can I have my money back?"),
    ("Parcel never came", "My parcel shows as delivered, but it never came. What now?"),
    ("Wrong size", "The shoes are too small. How do I exchange them?"),
    ("Gift without a receipt", "I got this as a gift and have no receipt. Can I return it?"),
    ("Opened software", "I opened the box of the game. May I still send it back?"),
    ("Damaged on arrival", "The lamp was broken when I unpacked it."),
)
GOOD = "You can return it within 30 days of delivery. After that we repair or replace what is faulty, free of charge."
POOR = "I am sorry to hear that. Please contact our support during business hours."
SCREENS = {
    "page-results": "/runs/{}",
    "page-conversation": "/runs/{}?t=4",
    "page-answers": "/runs/{}?lines=6",
    "page-new": "/new/scale",
}


def passes(index: int) -> bool:
    """The second target fails more often, and most often without a receipt."""
    column, scenario = divmod(index // REPEATS, len(QUESTIONS))
    return Random(index).random() > (0.1, 0.35)[column] + (0.3 if scenario == 3 else 0)


def scoring(index: int) -> Scoring:
    passed = passes(index)
    score = round(Random(index).uniform(0.75, 1) if passed else Random(index).uniform(0, 0.5), 2)
    reason = "names the 30 days and what happens afterwards" if passed else "does not name the limit of 30 days"
    tag = None if passed else "GOAL_MISS"
    return build_scoring(None, None, (AssertionResult("llm-rubric", passed, score, reason, tag=tag),))


def duration_ms(index: int) -> int:
    slower = 1.5 if index >= REPEATS * len(QUESTIONS) else 1
    return int(slower * Random(index).lognormvariate(7.3, 0.35))


@pytest.fixture
def run(server: Server) -> Run:
    scenarios = tuple(
        Scenario(
            "", name, (Message(MessageRole.SYSTEM, "You work for an online shop."), Message(MessageRole.USER, text))
        )
        for name, text in QUESTIONS
    )
    return AnsweredRun(
        workspace="acme",
        scenarios=scenarios,
        models=TARGETS,
        repeats=REPEATS,
        answer=lambda index: GOOD if passes(index) else POOR,
        scoring=scoring,
        duration_ms=duration_ms,
        summary=Summary("4", "Explains the policy.", NOW),
    ).completed()


def test_screenshots(open_page: Open, run: Run) -> None:
    for name, path, theme in screenshots():
        page = open_page("/runs", viewport={"width": 1280, "height": 800}, color_scheme=theme)
        page.get_by_role("button", name="Sign out").wait_for()
        page.goto(page.url.partition("$default")[0] + "$default" + path.format(run.id))
        if name == "page-answers":
            page.get_by_role("grid").scroll_into_view_if_needed()
        settled(page).wait_for_timeout(500)
        session = page.context.new_cdp_session(page)
        taken = session.send("Page.captureScreenshot", {"format": "webp", "quality": QUALITY})
        content = base64.b64decode(taken["data"])
        assert len(content) <= MAX_BYTES, name
        (FOLDER / f"{name}.webp").write_bytes(content)


def screenshots() -> Iterator[tuple[str, str, str]]:
    """Name, address and theme."""
    for name, path in SCREENS.items():
        yield name, path, "light"
    yield "page-results-dark", SCREENS["page-results"], "dark"
