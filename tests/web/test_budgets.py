"""Budgets in a browser: the start that has to be confirmed, what is used, raising it."""

import re

import pytest
from playwright.sync_api import Page, expect

from cupel_core.base.messages import RunRef
from cupel_core.domain.access import AccessRole
from cupel_core.domain.runs.run import Action, PauseReason, Run
from cupel_core.store import runs
from tests.answered_runs import AnsweredRun
from tests.run_budgets import run_budget
from tests.started_runs import NOW, RunSetup
from tests.unit.api.client import Client
from tests.unit.api.test_budgets import charge
from tests.unit.api.test_workspace_budgets import paused_run, set_limits
from tests.web.conftest import Open, check_screens, violations
from tests.web.server import Server

PRICES = [{"model": "steady", "inputUsdPerMillion": 10, "outputUsdPerMillion": 100}]


@pytest.fixture
def client(server: Server) -> Client:
    """Of a workspace whose model has a price."""
    client = Client(None)
    client.token = client.issue()
    assert client.put("/v1/providers/sim", {"prices": PRICES}).status == 200
    made = client.post("/v1/definitions", {"name": "Facts", "content": {"system": "Be brief."}}).json()
    client.post(f"/v1/definitions/{made['id']}/scenarios", {"items": [{"prompt": f"hello {n}"} for n in range(20)]})
    return client


@pytest.fixture
def exhausted(server: Server) -> Run:
    run = RunSetup(workspace="acme", budget=run_budget(1.0, needed_nano_usd=10**8)).start()
    charge(run, 9 * 10**8, uncertain=10**8)
    return runs.transition(RunRef("acme", run.id), Action.PAUSE, NOW, pause_reason=PauseReason.BUDGET)


def choose_only(page: Page, model: str) -> None:
    chosen = page.get_by_role("group", name=re.compile("Models")).get_by_role("checkbox", checked=True)
    while chosen.count():
        chosen.first.uncheck()
    page.get_by_label("Search models").fill(model)
    page.get_by_role("checkbox", name=model).check()


def test_a_start_above_its_budget_is_confirmed(open_page: Open, client: Client) -> None:
    page = open_page("/new", bypass_csp=True)
    page.get_by_label("Search models").wait_for()
    choose_only(page, "sim/steady")
    page.get_by_label("Budget in USD").fill("0.25")
    estimate = page.get_by_role("complementary", name="Estimate")
    expect(estimate.get_by_role("img", name=re.compile(r"budget \$0\.25"))).to_be_visible()
    page.get_by_role("button", name=re.compile(r"Start, about \$")).click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("more than its budget of $0.25")
    assert violations(page) == []
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    assert client.get("/v1/runs").json()["items"] == []
    page.get_by_role("button", name=re.compile(r"Start, about \$")).click()
    dialog.get_by_role("button", name="Start anyway").click()
    expect(page.get_by_role("heading", name="Budget")).to_be_visible()
    [run] = client.get("/v1/runs").json()["items"]
    assert run["spend"]["budget"]["maxBudgetUsd"] == 0.25


def test_a_start_above_the_budget_of_the_day_is_confirmed(open_page: Open, client: Client) -> None:
    set_limits(client, dayUsd=0.001)
    page = open_page("/new")
    page.get_by_label("Search models").wait_for()
    choose_only(page, "sim/steady")
    page.get_by_role("button", name="Start").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("are left of the workspace's budget for the day")
    expect(dialog).not_to_contain_text("confirmedUsd")
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_have_count(0)
    assert client.get("/v1/runs").json()["items"] == []
    page.get_by_role("button", name="Start").click()
    dialog.get_by_role("button", name="Start anyway").click()
    expect(page.get_by_text(re.compile("Pending$"))).to_be_visible()
    [run] = client.get("/v1/runs").json()["items"]
    page = open_page(f"/runs/{run['id']}/settings")
    page.get_by_role("button", name="Run it again…").click()
    page.get_by_role("button", name="Start", exact=True).click()
    page.get_by_role("button", name="Start anyway").click()
    expect(page.get_by_text(re.compile("Pending$"))).to_be_visible()
    assert [each["rerunOf"] for each in client.get("/v1/runs").json()["items"]] == [run["id"], None]


def test_a_schedule_above_the_budget_of_its_runs_is_confirmed(open_page: Open, client: Client) -> None:
    page = open_page("/schedules")
    page.get_by_text("New schedule").click()
    page.get_by_label("Name").fill("Nightly")
    page.get_by_label("When").fill("rate(1 day)")
    page.get_by_label("Definition").select_option(index=1)
    page.get_by_label("Models").fill("sim/steady")
    page.get_by_label("Budget per run in USD").fill("0.25")
    page.get_by_role("button", name="Create", exact=True).click()
    page.get_by_role("button", name="Start anyway").click()
    expect(page.get_by_text("Created.")).to_be_visible()
    [schedule] = client.get("/v1/schedules").json()["items"]
    confirmed = schedule["run"]["confirmedUsd"]
    assert confirmed > 0.25
    page.get_by_role("link", name="Nightly").click()
    page.get_by_label("Repeats per scenario").fill("7")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Start anyway").click()
    expect(page.get_by_role("heading", name="Schedules")).to_be_visible()
    [schedule] = client.get("/v1/schedules").json()["items"]
    assert (schedule["run"]["repeats"], schedule["run"]["confirmedUsd"] > confirmed) == (7, True)


def test_a_scale_run_shows_what_its_trial_adds(open_page: Open, client: Client) -> None:
    client.put("/v1/settings", {"judgeModel": "sim/steady"})
    page = open_page("/new/scale")
    page.get_by_label("Search models").wait_for()
    choose_only(page, "sim/steady")
    page.get_by_label("System prompt").fill("Be brief.")
    page.get_by_label("First user message").fill("Hello")
    estimate = page.get_by_role("complementary", name="Estimate")
    expect(estimate.get_by_text("Report", exact=True)).to_be_visible()
    expect(estimate.get_by_text("Trial")).to_have_count(0)
    page.get_by_role("checkbox", name=re.compile("Try the revised prompt")).check()
    expect(estimate.get_by_text("Trial", exact=True)).to_be_visible()
    expect(estimate.get_by_text(re.compile(r"\d+ further conversations, if the report"))).to_be_visible()


def test_an_estimate_that_rises_meanwhile_is_shown(open_page: Open, client: Client) -> None:
    page = open_page("/new")
    page.get_by_label("Search models").wait_for()
    choose_only(page, "sim/steady")
    page.get_by_label("Budget in USD").fill("0.25")
    page.get_by_role("button", name=re.compile(r"Start, about \$")).click()
    client.put("/v1/providers/sim", {"prices": [{**PRICES[0], "outputUsdPerMillion": 200}]})
    dialog = page.get_by_role("dialog")
    before = dialog.inner_text()
    dialog.get_by_role("button", name="Start anyway").click()
    expect(dialog.get_by_role("alert")).to_contain_text("has changed")
    assert dialog.inner_text() != before
    assert client.get("/v1/runs").json()["items"] == []


def test_what_is_no_amount_is_named(open_page: Open, client: Client) -> None:
    page = open_page("/new")
    page.get_by_label("Budget in USD").fill("a lot")
    expect(page.get_by_text("An amount such as 5 or 0.25")).to_be_visible()
    expect(page.get_by_role("button", name="Start")).to_be_disabled()


def test_a_retry_above_what_is_left_is_confirmed(open_page: Open, client: Client) -> None:
    run = AnsweredRun(answer=lambda _: None, models=("sim/steady",), workspace="acme", budget=run_budget(0.000001))
    run_id = run.completed().id
    page = open_page(f"/runs/{run_id}", bypass_csp=True)
    page.get_by_role("button", name="Retry 1 error").click()
    question = page.get_by_role("alert").filter(has_text="The retry is expected to cost $")
    expect(question).to_be_visible()
    assert violations(page) == []
    page.get_by_role("button", name="Keep the errors").click()
    expect(question).to_have_count(0)
    page.get_by_role("button", name="Retry 1 error").click()
    page.get_by_role("button", name="Retry anyway").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    assert client.get(f"/v1/runs/{run_id}").json()["status"] == "RUNNING"


def test_a_budget_that_is_used_up_is_raised(open_page: Open, exhausted: Run) -> None:
    page = open_page(f"/runs/{exhausted.id}")
    expect(page.get_by_text("The budget is used up")).to_be_visible()
    expect(page.get_by_role("img", name="$0.90 of $1.00 spent")).to_be_visible()
    page.get_by_label("New budget in USD").fill("3")
    page.get_by_role("button", name="Raise and resume").click()
    expect(page.get_by_role("img", name="$0.90 of $3.00 spent")).to_be_visible()
    expect(page.get_by_text("The budget is used up")).to_have_count(0)


def test_a_run_that_waits_for_the_next_day_says_when_it_resumes(open_page: Open, client: Client) -> None:
    set_limits(client, dayUsd=1, timezone="Europe/Berlin")
    run = paused_run()
    page = open_page(f"/runs/{run.id}", bypass_csp=True)
    cause = page.get_by_text("because the workspace's budget of the day is used up; it resumes at")
    ends_at = client.get("/v1/budgets").json()["day"]["endsAt"]
    expect(cause.locator("time")).to_have_attribute("datetime", ends_at)
    assert violations(page) == []


def test_a_viewer_sees_the_budget_and_changes_nothing(open_page: Open, exhausted: Run) -> None:
    page = open_page(f"/runs/{exhausted.id}", role=AccessRole.VIEWER)
    expect(page.get_by_role("heading", name="Budget")).to_be_visible()
    expect(page.get_by_label("New budget in USD")).to_have_count(0)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_screens_are_accessible_and_safe(open_page: Open, client: Client, exhausted: Run, theme: str) -> None:
    page = open_page("/runs", color_scheme=theme, bypass_csp=True)
    check_screens(page, {"budget": f"/runs/{exhausted.id}", "new": "/new"})
