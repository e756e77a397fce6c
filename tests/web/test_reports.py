"""The report of a run in a browser."""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from playwright.sync_api import expect

from cupel_core.analysis.reports import compute
from cupel_core.analysis.reports.summarize import write_summary
from cupel_core.domain.access import AccessRole
from cupel_core.domain.conversations.model_request import ModelRequest, Reply, Usage
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.runs.run import Run
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.providers.account import Account
from cupel_core.store import run_items
from tests.unit.api.client import Client
from tests.unit.api.test_trials import complete
from tests.web.conftest import Open, check_screens
from tests.web.jobs import carry_out_jobs
from tests.web.samples import PAYLOADS, SHORT_HOSTILE, sample_run
from tests.web.server import Server

SYSTEM = "You are a clerk of a shop. Be brief. Say what is possible within 30 days."
REVISED = (
    f"You are a clerk of a shop. Be brief, and name the refund. Say what is possible within 60 days. {SHORT_HOSTILE}"
)


class Summarizer:
    """Replaces the call of a model; quotes what a conversation that it was shown says."""

    async def __call__(self, _: Account, model: str, request: ModelRequest, __: float) -> Reply:
        text = str(request.messages[1].content)
        first = re.findall(r"run_\w+-\d+", text)[0]
        index = int(first.rpartition("-")[2])
        quote = f"answer {index}, and a sentence."
        finding = {
            "title": f"Does not name the refund {PAYLOADS[0]}",
            "description": f"The target answers without the refund. {SHORT_HOSTILE}",
            "tags": ["GOAL_MISS"],
            "evidence": [{"transcriptId": first, "quote": quote}],
        }
        reply: dict[str, Any] = {
            "failureModes": [finding],
            "hallucinations": [],
            "goalFailures": [{**finding, "title": "Misses the goal"}],
            "inconsistencies": [],
            "summary": f"It answers in two sentences, and often forgets the refund. {SHORT_HOSTILE}",
            "revisedPrompt": REVISED,
            "rationale": "Failed conversations do not name the refund, so the prompt asks for it.",
        }
        return Reply(json.dumps(reply), f"{model}-1", Usage(10, 5), "stop")


@pytest.fixture
def run(server: Server, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setattr(compute, "write_summary", partial(write_summary, attempt=Summarizer()))
    return sample_run(content=Content(system=SYSTEM), grader_config=GraderConfig(judge_model="sim/steady"))


@pytest.fixture
def reported(run: Run) -> Run:
    client = Client(None)
    assert client.post(f"/v1/runs/{run.id}/reports", token=client.issue()).status == 202
    carry_out_jobs()
    return run


def test_a_report_is_made_watched_and_read(open_page: Open, run: Run) -> None:
    page = open_page(f"/runs/{run.id}/report")
    expect(page.get_by_role("heading", name="No report yet")).to_be_visible()
    expect(page.get_by_label("Summary and revised prompt by")).to_have_value("sim/steady")
    page.get_by_role("button", name="Create report").click()
    expect(page.get_by_text("The report is queued.")).to_be_visible()
    carry_out_jobs()
    expect(page.get_by_role("heading", name="Revised system prompt")).to_be_visible()
    expect(page.get_by_text("Pass rate", exact=True)).to_be_visible()
    quotation = page.get_by_role("article").filter(has_text="Misses the goal").get_by_role("link")
    name = quotation.inner_text()
    quotation.click()
    expect(page).to_have_url(re.compile(r"[?&]t=\d+"))
    expect(page.get_by_role("region", name="Conversation", exact=True).get_by_role("article")).to_contain_text(name)


def test_prompt_and_rationale_are_copied_apart(open_page: Open, reported: Run) -> None:
    page = open_page(f"/runs/{reported.id}/report", permissions=["clipboard-read", "clipboard-write"])
    for button, text in (
        ("Copy prompt", REVISED),
        ("Copy rationale", "Failed conversations do not name the refund, so the prompt asks for it."),
    ):
        page.get_by_role("button", name=button).click()
        expect(page.get_by_text("Copied").first).to_be_visible()
        assert page.evaluate("navigator.clipboard.readText()") == text
        expect(page.get_by_text("Copied")).to_have_count(0)
    page.get_by_role("button", name="Copy as Markdown").click()
    expect(page.get_by_text("Copied").first).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()").startswith("# Report")


def test_a_refused_clipboard_leaves_the_text_selected(open_page: Open, reported: Run) -> None:
    page = open_page(f"/runs/{reported.id}/report")
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error()) }")
    page.get_by_role("button", name="Copy prompt").click()
    expect(page.get_by_role("textbox", name="Copy prompt")).to_have_value(REVISED)
    assert page.evaluate("getSelection().toString()") == REVISED


def test_the_changes_of_the_prompt_are_marked(open_page: Open, reported: Run) -> None:
    changes = open_page(f"/runs/{reported.id}/report").get_by_role("region", name="Changes")
    expect(changes.locator("del").first).to_have_text("30")
    expect(changes.locator("ins").filter(has_text="name the refund")).to_have_count(1)


def test_what_a_summary_costs_is_confirmed_before_it_is_asked_for(open_page: Open, run: Run) -> None:
    client = Client(None)
    client.token = client.issue()
    client.put("/v1/providers/openai", {"apiKey": "sk-test", "enabled": True})
    page = open_page(f"/runs/{run.id}/report")
    page.get_by_label("Summary and revised prompt by").select_option("openai/gpt-4.1")
    page.get_by_role("button", name="Create report").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("about $0.064 at most")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    assert client.get(f"/v1/runs/{run.id}/reports").json()["items"] == []


def test_a_revised_prompt_is_tried_after_its_cost_was_confirmed(open_page: Open, reported: Run) -> None:
    run_items.to_item(replace(reported, definition_name="Refunds")).save()
    page = open_page(f"/runs/{reported.id}/report")
    section = page.get_by_role("region", name="Trial of the revised prompt")
    section.get_by_label("Total budget for both prompts").fill("much")
    expect(section.get_by_text("An amount such as 2 or 0.50")).to_be_visible()
    section.get_by_label("Total budget for both prompts").fill("")
    section.get_by_role("button", name="Try it…").click()
    expect(page.get_by_role("dialog")).to_contain_text("60 conversations about 5 scenarios")
    page.get_by_role("dialog").get_by_role("button", name="Run them for about").click()
    expect(section).to_contain_text("Both prompts are running on 5 scenarios")
    client = Client(None)
    client.token = client.issue()
    report = client.get(f"/v1/runs/{reported.id}/reports").json()["items"][0]["id"]
    trial = client.get(f"/v1/runs/{reported.id}/reports/{report}/trial").json()
    with ThreadPoolExecutor(1) as pool:  # Playwright has an event loop in this thread.
        pool.submit(complete, trial, lambda index: index % 4 > 2, lambda _: True).result()
    expect(section).to_contain_text("The revised prompt helps")
    expect(section.get_by_role("row", name=re.compile("LIMIT"))).to_be_visible()
    section.get_by_role("link", name="compare them in detail").click()
    expect(page).to_have_url(re.compile(rf"compare\?a={trial['originalRunId']}&b={trial['revisedRunId']}"))


def test_a_viewer_reads_reports_and_makes_none(open_page: Open, reported: Run) -> None:
    page = open_page(f"/runs/{reported.id}/report", role=AccessRole.VIEWER)
    expect(page.get_by_role("heading", name="Failure modes")).to_be_visible()
    expect(page.get_by_text("Create another report")).to_have_count(0)
    expect(page.get_by_role("heading", name="Trial of the revised prompt")).to_be_visible()
    expect(page.get_by_role("button", name="Try it…")).to_have_count(0)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_screen_is_accessible_and_safe(open_page: Open, reported: Run, theme: str) -> None:
    page = open_page("/runs", color_scheme=theme, bypass_csp=True)
    empty = sample_run()
    check_screens(page, {"report": f"/runs/{reported.id}/report", "report-none": f"/runs/{empty.id}/report"})
