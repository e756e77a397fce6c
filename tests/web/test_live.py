"""A run that is watched: what the event stream changes, how seldom it asks, and what is shown while it is cut off."""

import re

import pytest
from playwright.sync_api import Page, Request, Route, expect

from cupel_core.domain.runs.run import Action, Run
from cupel_core.store import runs
from tests.answered_runs import AnsweredRun
from tests.run_budgets import run_budget
from tests.started_runs import NOW, ref_of
from tests.unit.api.client import Client
from tests.web.conftest import Open, load, settled
from tests.web.server import Server

WATCHED_MS = 6_000
HIDE = """() => {
  Object.defineProperty(document, 'visibilityState', { get: () => 'hidden', configurable: true });
  Object.defineProperty(document, 'hidden', { get: () => true, configurable: true });
  document.dispatchEvent(new Event('visibilitychange'));
}"""
SHOW = """() => {
  delete document.visibilityState; delete document.hidden;
  document.dispatchEvent(new Event('visibilitychange'));
}"""


@pytest.fixture
def run(server: Server) -> Run:
    return AnsweredRun(workspace="acme", budget=run_budget(1.0)).start()


def requests_of(page: Page) -> list[str]:
    seen: list[str] = []

    def note(request: Request) -> None:
        if "/v1/" in request.url:
            seen.append(request.url)

    page.on("request", note)
    return seen


def test_what_happens_elsewhere_is_seen_within_seconds_with_its_time(open_page: Open, run: Run) -> None:
    page = open_page(f"/runs/{run.id}")
    expect(page.get_by_text(re.compile("Running$"))).to_be_visible()
    client = Client(None)
    client.token = client.issue()
    assert client.post(f"/v1/runs/{run.id}/pause").status == 200
    expect(page.get_by_text(re.compile("Paused$"))).to_be_visible(timeout=6_000)
    expect(page.get_by_text("just now: paused by request")).to_be_visible()
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_text("just now: resumed")).to_be_visible(timeout=6_000)
    runs.transition(ref_of(run), Action.SUMMARIZE, NOW)
    runs.transition(ref_of(run), Action.COMPLETE, NOW, completed_at=NOW)
    expect(page.get_by_text(re.compile("Completed$"))).to_be_visible(timeout=6_000)
    expect(page.get_by_role("heading", name="Progress")).to_have_count(0)


def test_a_paused_run_says_so_once_and_does_not_go_on(open_page: Open, server: Server) -> None:
    run = AnsweredRun(workspace="acme", models=("sim/steady", "sim/bold")).start()
    runs.transition(ref_of(run), Action.PAUSE, NOW)
    page = open_page(f"/runs/{run.id}")
    expect(page.get_by_text("No call starts until the run is resumed.")).to_be_visible()
    expect(page.get_by_text("the run is paused")).to_have_count(1)
    expect(page.get_by_text("goes on without this page")).to_have_count(0)


def test_results_that_go_on_say_how_old_they_are(open_page: Open, server: Server) -> None:
    run = AnsweredRun(workspace="acme").summarizing()
    page = open_page(f"/runs/{run.id}")
    expect(page.get_by_text(re.compile(r"So far: \d+ of \d+ conversations counted by \d+:\d+"))).to_be_visible()


def test_results_that_are_not_counted_yet_are_announced(open_page: Open, server: Server) -> None:
    run = AnsweredRun(workspace="acme").summarizing()
    page = open_page("/runs")

    def uncounted(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, json={**answer.json(), "recorded": 0})

    page.route(f"**/v1/runs/{run.id}/results", uncounted)
    load(page, f"/runs/{run.id}")
    expect(page.get_by_text(re.compile(r"conversations ended. The first results are being counted"))).to_be_visible()
    expect(page.get_by_text("No results yet")).to_have_count(0)


@pytest.mark.parametrize("tab", ["", "/settings"])
def test_it_asks_at_most_once_a_second_and_nothing_while_hidden(open_page: Open, run: Run, tab: str) -> None:
    page = settled(open_page(f"/runs/{run.id}{tab}"))
    seen = requests_of(page)
    page.wait_for_timeout(WATCHED_MS)
    assert 3 <= len(seen) <= WATCHED_MS / 1_000 + 1, seen
    page.evaluate(HIDE)
    page.wait_for_timeout(1_500)
    seen.clear()
    page.wait_for_timeout(WATCHED_MS / 2)
    assert seen == []
    page.evaluate(SHOW)
    page.wait_for_timeout(2_500)
    assert len(seen) > 0


def test_a_cut_connection_is_said_and_no_event_is_lost_or_doubled(open_page: Open, run: Run) -> None:
    page = open_page(f"/runs/{run.id}/history")
    rows = page.get_by_role("region", name="Table: events").get_by_role("row")
    expect(rows).to_have_count(3)
    page.context.set_offline(True)
    expect(page.get_by_text("Reconnecting: figures are those of")).to_be_visible()
    client = Client(None)
    client.token = client.issue()
    for change in ("pause", "resume", "pause"):
        assert client.post(f"/v1/runs/{run.id}/{change}").status == 200
    page.context.set_offline(False)
    expect(rows).to_have_count(6)
    expect(page.get_by_text("Reconnecting")).to_have_count(0)
    numbers = [int(row.get_by_role("cell").first.inner_text()) for row in rows.all()[1:]]
    assert numbers == [1, 2, 3, 4, 5]


def test_a_run_that_is_over_is_not_asked_for(open_page: Open, server: Server) -> None:
    page = settled(open_page(f"/runs/{AnsweredRun(workspace='acme').completed().id}"))
    seen = requests_of(page)
    page.wait_for_timeout(3_000)
    assert seen == []


def ended_with_an_error() -> Run:
    return AnsweredRun(workspace="acme", answer=lambda index: None if index == 0 else "yes").completed()


def test_a_run_that_another_tab_retries_is_followed_on_return(open_page: Open, server: Server) -> None:
    run = ended_with_an_error()
    page, other = (settled(open_page(f"/runs/{run.id}")) for _ in range(2))
    seen = requests_of(other)
    other.evaluate(HIDE)
    page.get_by_role("button", name="Retry 1 error").click()
    expect(page.get_by_text(re.compile("Running$"))).to_be_visible()
    other.wait_for_timeout(3_000)
    assert seen == []
    expect(other.get_by_text(re.compile("Completed$")).first).to_be_visible()
    other.evaluate(SHOW)
    expect(other.get_by_text(re.compile("Running$"))).to_be_visible(timeout=6_000)
    page.get_by_role("button", name="Pause").click()
    expect(other.get_by_text(re.compile("Paused$"))).to_be_visible(timeout=6_000)


def test_a_run_that_has_ended_anew_elsewhere_is_read_again_on_focus(open_page: Open, server: Server) -> None:
    run = ended_with_an_error()
    page = settled(open_page(f"/runs/{run.id}"))
    client = Client(None)
    client.token = client.issue()
    assert client.post(f"/v1/runs/{run.id}/retry").status == 200
    runs.transition(ref_of(run), Action.SUMMARIZE, NOW)
    runs.transition(ref_of(run), Action.COMPLETE, NOW, completed_at=NOW)
    seen = requests_of(page)
    page.evaluate("dispatchEvent(new Event('focus'))")
    page.wait_for_timeout(3_000)
    asked = [each.partition(run.id)[2] for each in seen]
    assert asked.count("") == 1
    assert "/results" in asked


def test_coming_back_to_an_unchanged_run_asks_once(open_page: Open, server: Server) -> None:
    run = AnsweredRun(workspace="acme").completed()
    page = settled(open_page(f"/runs/{run.id}"))
    seen = requests_of(page)
    page.evaluate(HIDE)
    page.evaluate(SHOW)
    page.evaluate("dispatchEvent(new Event('focus'))")
    page.wait_for_timeout(4_000)
    assert [each.rpartition("/v1/")[2] for each in seen] == [f"runs/{run.id}"]


def test_a_screen_whose_script_is_not_loaded_says_so_inside_the_shell(open_page: Open, run: Run) -> None:
    page = settled(open_page(f"/runs/{run.id}"))
    page.context.set_offline(True)
    page.get_by_role("link", name="Analysis").click()
    failure = page.get_by_role("alert").filter(has_text="This screen")
    expect(failure).to_be_visible()
    expect(page.get_by_role("navigation", name="Main")).to_be_visible()
    page.context.set_offline(False)
    failure.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("link", name="Analysis")).to_have_attribute("aria-current", "page")
    expect(failure).to_have_count(0)
