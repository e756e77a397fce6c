"""History and settings of a run in a browser, repeating it, and expanding its sample."""

import csv
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from cupel_core.domain.access import AccessRole
from tests.answered_runs import AnsweredRun
from tests.unit.api.client import Client
from tests.web.conftest import Open, check_screens, load
from tests.web.samples import HOSTILE, PAYLOADS, SCENARIOS, sample_run
from tests.web.server import Server


@pytest.fixture
def run_id(client: Client) -> str:
    """Just started."""
    body = {"name": f"Facts {PAYLOADS[0]}", "content": {"system": HOSTILE}}
    key = client.post("/v1/definitions", body).json()["id"]
    client.post(f"/v1/definitions/{key}/scenarios", {"items": [{"prompt": "hello"}, {"prompt": "bye"}]})
    targets = [{"model": "sim/steady", "label": PAYLOADS[1], "params": {"temperature": 0}}]
    started = client.post("/v1/runs", {"definitionId": key, "targets": targets, "repeats": 3})
    assert started.status == 201, started.text
    return str(started.json()["run"]["id"])


def test_the_history_has_every_event(open_page: Open, client: Client, run_id: str) -> None:
    page = open_page(f"/runs/{run_id}/history")
    rows = page.get_by_role("region", name="Table: events").get_by_role("row")
    expect(rows).to_have_count(2)
    expect(rows.nth(1)).to_contain_text("Run created")
    page.get_by_role("button", name="Pause").click()
    expect(rows.nth(2)).to_contain_text("Run paused")
    expect(rows.nth(2)).to_contain_text("from pending to paused")
    expect(rows.nth(2).get_by_role("time")).to_have_text(re.compile(r"\d:\d\d:\d\d"))
    assert [each["seq"] for each in client.get(f"/v1/runs/{run_id}/events").json()["items"] if each["seq"]] == [1, 2]


def test_a_run_is_repeated_with_its_settings_after_a_question(open_page: Open, client: Client, run_id: str) -> None:
    page = open_page(f"/runs/{run_id}/settings")
    expect(page.get_by_role("definition").filter(has_text=re.compile("^100%, seed"))).to_be_visible()
    expect(page.get_by_role("cell", name='{"temperature":0}')).to_be_visible()
    expect(page.get_by_role("region", name="Content of the definition")).to_contain_text("[U+202E]")
    page.get_by_role("button", name="Run it again").click()
    expect(page.get_by_role("dialog")).to_contain_text("6 conversations")
    page.get_by_role("dialog").get_by_role("button", name="Start").dblclick()
    expect(page.get_by_role("heading", name="No results yet")).to_be_visible()
    again, first = client.get("/v1/runs").json()["items"]
    assert (first["id"], again["rerunOf"], again["progress"]["total"]) == (run_id, run_id, 6)


def test_a_sample_is_expanded(open_page: Open, client: Client) -> None:
    run = sample_run(sample_percentage=40)
    page = open_page(f"/runs/{run.id}")
    page.get_by_role("button", name="Expand").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(f"40% of {len(SCENARIOS)} scenarios")
    dialog.get_by_label("Share of scenarios").fill("40")
    expect(dialog.get_by_role("button", name="Expand")).to_be_disabled()
    dialog.get_by_label("Share of scenarios").fill("80")
    dialog.get_by_role("button", name="Expand").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    found = client.get(f"/v1/runs/{run.id}").json()
    assert (found["config"]["samplePercentage"], found["progress"]["total"]) == (80, 48)


def test_a_viewer_is_offered_no_change(open_page: Open, run_id: str) -> None:
    page = open_page(f"/runs/{run_id}/settings", role=AccessRole.VIEWER)
    expect(page.get_by_role("heading", name="Targets")).to_be_visible()
    expect(page.locator("main").get_by_role("button")).to_have_text(["Actions"])


def test_a_run_is_cancelled_after_a_question_and_another_tab_follows(open_page: Open, run_id: str) -> None:
    page, other = open_page(f"/runs/{run_id}"), open_page(f"/runs/{run_id}/history")
    page.get_by_role("button", name="Cancel…").click()
    expect(page.get_by_role("alert")).to_contain_text("6 conversations will not run")
    page.get_by_role("button", name="Keep running").click()
    expect(page.get_by_role("alert")).to_have_count(0)
    page.get_by_role("button", name="Cancel…").click()
    page.get_by_role("button", name="Cancel the run").click()
    for each in (page, other):
        expect(each.get_by_text(re.compile("Cancelled$"))).to_be_visible()
        expect(each.get_by_role("button", name="Pause")).to_have_count(0)


def test_errors_are_explained_and_retried(open_page: Open, client: Client) -> None:
    run = sample_run()
    page = open_page(f"/runs/{run.id}")
    errors = page.get_by_role("region", name="Errors by target and cause")
    expect(errors).to_contain_text("The provider did not answer in time. A retry may succeed.")
    errors.get_by_role("link", name="conversation 7").click()
    expect(page.get_by_role("article")).to_contain_text("no answer")
    page.get_by_role("button", name="Retry 1 error").click()
    expect(page.get_by_text(re.compile("Running$"))).to_be_visible()
    assert client.get(f"/v1/runs/{run.id}").json()["status"] == "RUNNING"


@pytest.mark.parametrize("width", [1024, 1680])
def test_the_figures_of_a_run_are_in_sight_without_scrolling_sideways(open_page: Open, width: int) -> None:
    run = sample_run()
    page = load(open_page("/runs", viewport={"width": width, "height": 900}), f"/runs/{run.id}")
    table = page.get_by_role("region", name="Results by target")
    expect(table.get_by_role("columnheader", name="Cost")).to_be_in_viewport(ratio=1)
    assert table.evaluate("region => region.scrollWidth - region.clientWidth") == 0


def test_the_facts_of_a_run_take_two_rows_on_a_phone_and_lose_nothing(open_page: Open) -> None:
    run = AnsweredRun(workspace="acme").completed()
    page = open_page(f"/runs/{run.id}", viewport={"width": 390, "height": 800})
    facts = page.get_by_role("main").locator("header p")
    expect(facts.locator("> *")).to_have_text(
        ["✓ Completed", "answered version 1", "2 conversations", re.compile("^created "), "cost $0"]
    )
    rows = facts.evaluate("facts => facts.clientHeight / parseFloat(getComputedStyle(facts).lineHeight)")
    assert 1.5 < rows < 2.5
    expect(page.get_by_role("link", name="Compare with another run")).to_be_visible()


def test_failure_tags_lead_to_their_conversations(open_page: Open, client: Client) -> None:
    run = sample_run()
    page = open_page(f"/runs/{run.id}")
    tag = page.get_by_role("list", name="Failure tags").get_by_role("button", name="GOAL_MISS")
    count = int(tag.inner_text().split()[-1])
    tag.click()
    listed = client.get(f"/v1/runs/{run.id}/transcripts", query={"tag": "GOAL_MISS", "limit": "50"}).json()["items"]
    assert len(listed) == count
    expect(page.get_by_role("status").filter(has_text=f"{count} of 60 conversations")).to_be_visible()


def test_results_are_downloaded_as_a_table(open_page: Open, client: Client) -> None:
    run = sample_run()
    page = open_page(f"/runs/{run.id}")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download as CSV").click()
    rows = list(csv.DictReader(Path(download.value.path()).read_text().splitlines()))
    figures = client.get(f"/v1/runs/{run.id}/results").json()["columns"]
    assert [row["target"] for row in rows] == ["sim/steady", "sim/bold", "sim/contrarian"]
    assert [float(row["pass rate"]) for row in rows] == [each["estimate"]["passRate"]["share"] for each in figures]


def test_the_run_of_another_workspace_does_not_exist(open_page: Open, server: Server) -> None:
    run = sample_run(workspace="other")
    page = open_page(f"/runs/{run.id}")
    expect(page.get_by_role("heading", name=f"Run {run.id}: not found")).to_be_visible()


@pytest.mark.parametrize(
    ("query", "label", "value"),
    [
        ("?outcome=failed&check=llm-rubric&t=1", "Failed check", "llm-rubric"),
        ("?mode=differ&order=lowest&q=refund&lines=6", "Order", "lowest"),
        ("?outcome=failed&by=time&order=-score", "Order", "-score"),
    ],
)
def test_back_forward_and_reload_keep_filters(
    open_page: Open, server: Server, query: str, label: str, value: str
) -> None:
    run = sample_run()
    page = load(open_page("/runs"), f"/runs/{run.id}{query}")
    field = page.locator("main search").get_by_role("combobox", name=label)
    expect(field).to_have_value(value)
    address = page.url
    for act in (page.reload, page.go_back, page.go_forward):
        act()
    expect(field).to_have_value(value)
    assert page.url == address


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_screens_are_accessible_and_safe(open_page: Open, run_id: str, theme: str) -> None:
    page = open_page("/runs", color_scheme=theme, bypass_csp=True)
    check_screens(page, {"run-history": f"/runs/{run_id}/history", "run-settings": f"/runs/{run_id}/settings"})
