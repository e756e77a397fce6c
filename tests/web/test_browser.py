"""The page in a real browser, against the functions in this process."""

import re

import pytest
from playwright.sync_api import expect

from cupel_core.domain.access import AccessRole
from cupel_core.domain.runs.run import Action, Run
from cupel_core.store import runs
from tests.started_runs import NOW, RunSetup, ref_of
from tests.unit.api.client import Client
from tests.web.conftest import MARKUP, Open, check_screen, check_screens, end_sessions, load, settled
from tests.web.samples import sample_run
from tests.web.server import Server


@pytest.fixture
def run(server: Server) -> Run:
    return sample_run()


def test_a_code_opens_a_session_once_and_leaves_the_address(open_page: Open, server: Server, run: Run) -> None:
    codes: list[str] = []
    page = open_page(f"/runs/{run.id}", role=None)
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    client = Client(None)
    codes.append(client.post("/v1/login-codes", token=client.issue()).json()["code"])
    for expected in ("Results", "Sign in"):
        page.goto("about:blank")
        page.evaluate("() => true")
        page.goto(f"{server.address}/#code={codes[0]}&to=/runs/{run.id}")
        expect(page.get_by_role("heading", name=expected, exact=True)).to_be_visible()
        assert codes[0] not in page.url
        assert "cupel_" not in page.url
    expect(page.get_by_role("alert")).to_contain_text("was used")


def test_a_pasted_token_signs_in_and_returns_to_the_address(open_page: Open, server: Server, run: Run) -> None:
    page = open_page(f"/runs/{run.id}", role=None)
    page.get_by_label("paste an API token").fill("cupel_wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("unknown or was revoked")
    page.get_by_label("paste an API token").fill(Client(None).issue())
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Results")).to_be_visible()
    assert page.url == f"{server.address}/runs/{run.id}"


def test_a_session_that_was_revoked_leads_to_the_login_and_back(open_page: Open, run: Run) -> None:
    page = open_page("/runs")
    expect(page.get_by_role("row")).to_have_count(2)
    admin = end_sessions()
    page.get_by_label("Status").select_option("COMPLETED")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.get_by_label("paste an API token").fill(admin)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_label("Status")).to_have_value("COMPLETED")


def test_the_dialog_of_an_ended_session_does_not_cover_the_login(open_page: Open, run: Run) -> None:
    page = open_page("/experiments")
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Runs").click()
    expect(page.get_by_role("row")).to_have_count(2)
    end_sessions()
    page.get_by_label("Status").select_option("COMPLETED")
    dialog = page.get_by_role("dialog", name="Sign in again")
    expect(dialog).to_be_visible()
    page.go_back()
    if "/login" not in page.url:  # The chosen status may have an entry of its own in the history.
        page.go_back()
    expect(dialog).to_have_count(0)
    expect(page.get_by_role("button", name="Sign in")).to_have_count(1)


def test_failures_are_walked_with_n_and_p_and_a_link_shows_the_same(open_page: Open, run: Run) -> None:
    page = open_page(f"/runs/{run.id}")
    expect(page.get_by_role("grid")).to_be_visible()
    seen: list[str] = []
    for _ in range(3):
        page.keyboard.press("n")
        expect(page).to_have_url(re.compile(r"[?&]t=\d+"))
        expect(page.get_by_role("article")).to_contain_text("failed")
        expect(page.get_by_role("article")).to_contain_text("does not name the refund")
        if seen:
            expect(page).not_to_have_url(seen[-1])
        seen.append(page.url)
    assert len(set(seen)) == 3
    page.keyboard.press("p")
    expect(page).to_have_url(seen[1])
    shown = settled(page).get_by_role("article").inner_text()
    other = open_page(seen[1].partition("$default")[2].replace("?", "%3F"))
    expect(other.get_by_role("article")).to_have_text(shown, use_inner_text=True)
    page.keyboard.press("Escape")
    expect(page).not_to_have_url(re.compile("t="))


def test_a_run_is_started_from_the_page_once(open_page: Open, server: Server) -> None:
    client = Client(None)
    client.token = client.issue()
    made = client.post("/v1/definitions", {"name": "Facts", "content": {"system": "Be brief."}}).json()
    client.post(f"/v1/definitions/{made['id']}/scenarios", {"items": [{"prompt": "hello"}, {"prompt": "bye"}]})
    page = open_page("/new")
    expect(page.get_by_role("complementary", name="Estimate")).to_contain_text("6 conversations")
    page.get_by_label("Repeats").fill("2")
    expect(page.get_by_role("complementary", name="Estimate")).to_contain_text("12 conversations")
    page.get_by_role("button", name="Start").dblclick()
    expect(page.get_by_role("heading", name="Facts")).to_be_visible()
    expect(page.get_by_text(re.compile("Pending$"))).to_be_visible()
    assert len(client.get("/v1/runs").json()["items"]) == 1
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_text(re.compile("Paused$"))).to_be_visible()


def test_the_runs_are_listed_with_their_pass_rates_and_by_experiment(open_page: Open, run: Run) -> None:
    page = open_page("/runs")
    row = page.get_by_role("row").nth(1)
    link = row.locator(f"a[href$='/runs/{run.id}']")
    expect(row).to_contain_text(re.compile(r"\d+\.\d% to \d+\.\d%"))
    page.get_by_label("Order").select_option("oldest first")
    expect(page).to_have_url(re.compile("sort=createdAt"))
    expect(link).to_be_visible()
    client = Client(None)
    body = {"name": "Tone", "hypothesis": "Warm is better."}
    key = client.post("/v1/experiments", body, token=client.issue()).json()["id"]
    client.patch(f"/v1/runs/{run.id}", {"tags": ["nightly"]}, token=client.issue())
    load(page, "/runs")
    row.get_by_role("link", name="nightly").click()
    expect(page).to_have_url(re.compile("tag=nightly"))
    expect(link).to_be_visible()
    page.get_by_role("button", name="Tag nightly").click()
    load(page, f"/runs?experiment={key}")
    expect(page.get_by_role("heading", name="No run matches")).to_be_visible()
    page.get_by_role("button", name=f"Experiment {key}").click()
    expect(link).to_be_visible()


def test_the_only_run_offers_the_next_step_and_explains_its_figures(open_page: Open, run: Run) -> None:
    page = open_page("/runs")
    expect(page.get_by_role("link", name="change the prompt")).to_be_visible()
    expect(page.get_by_role("link", name="run it again")).to_be_visible()
    page.get_by_role("link", name="read the results").click()
    page.get_by_text("What these figures mean").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("The share of judged conversations")).to_be_in_viewport()


def test_runs_that_are_started_meanwhile_wait_above_the_list(open_page: Open, run: Run) -> None:
    client = Client(None)
    client.token = client.issue()
    body = {"models": ["sim/steady"], "count": 1, "userMessage": "hello"}
    assert client.post("/v1/scale-runs", {**body, "name": "First"}).status == 201
    page = open_page("/runs")
    expect(page.get_by_role("row")).to_have_count(3)
    assert client.post("/v1/scale-runs", {**body, "name": "Second"}).status == 201
    page.get_by_role("button", name="1 new").click()
    expect(page.get_by_role("row").nth(1)).to_contain_text("Second")
    expect(page.get_by_role("row").last.locator(f"a[href$='/runs/{run.id}']")).to_be_visible()


def test_a_viewer_is_offered_no_change(open_page: Open, run: Run) -> None:
    page = open_page(f"/runs/{run.id}", role=AccessRole.VIEWER)
    expect(page.get_by_role("heading", name="Results")).to_be_visible()
    expect(page.get_by_text("viewer")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("Retry|Pause|Cancel"))).to_have_count(0)
    load(page, "/runs")
    expect(page.get_by_role("row").nth(1)).to_be_visible()
    expect(page.locator("main").get_by_role("link", name="New run")).to_have_count(0)


def test_a_run_that_was_cancelled_at_once_says_how_to_start_it_again(open_page: Open, server: Server) -> None:
    run = RunSetup(workspace="acme").start()
    page = open_page(f"/runs/{run.id}")
    expect(page.get_by_text("Results appear here within seconds")).to_be_visible()
    expect(page.get_by_role("heading", name="No conversations yet")).to_be_visible()
    runs.transition(ref_of(run), Action.CANCEL, NOW, completed_at=NOW)
    load(page, f"/runs/{run.id}")
    page.get_by_text("The run ended before any of its conversations").get_by_role("link", name="settings").click()
    expect(page.get_by_role("button", name="Run it again…")).to_be_visible()


def test_a_run_that_does_not_exist_is_named(open_page: Open) -> None:
    expect(open_page("/runs/run_none").get_by_role("heading", name="Run run_none: not found")).to_be_visible()


SCREENS = {
    "runs": "/runs",
    "run": "/runs/{}",
    "transcript-turn": "/runs/{}?t=1",
    "analysis": "/runs/{}/analysis",
    "beside": "/runs/{}?t=4&beside=true",
    "new": "/new",
    "compare": "/compare",
    "not-found": "/none",
}


def test_nothing_that_a_model_says_is_more_than_text(open_page: Open, run: Run) -> None:
    """With the page's own policy, which the other check of screens switches off."""
    page = open_page("/runs")
    for name, path in SCREENS.items():
        assert load(page, path.format(run.id)).locator(MARKUP).count() == 0, name


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_screens_are_accessible_and_safe(open_page: Open, run: Run, theme: str) -> None:
    page = open_page("/runs", color_scheme=theme, bypass_csp=True)
    check_screens(page, {name: path.format(run.id) for name, path in SCREENS.items()})


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_sign_in_is_accessible(open_page: Open, theme: str) -> None:
    page = settled(open_page("/login", role=None, color_scheme=theme, bypass_csp=True))
    check_screen(page, "login")


def test_on_a_phone_the_header_is_one_line_with_the_navigation(open_page: Open) -> None:
    page = open_page("/settings", viewport={"width": 390, "height": 844})
    header = page.get_by_role("banner").bounding_box()
    assert header
    assert header["height"] <= 56
    expect(page.get_by_role("navigation", name="Main").get_by_role("link", name="Settings")).to_be_in_viewport()
    expect(page.get_by_role("button", name="Sign out")).to_be_in_viewport()


def test_the_theme_is_changed_and_kept_and_the_font_is_that_of_the_page(open_page: Open) -> None:
    page = open_page("/runs")
    page.get_by_role("button", name="Theme: system, change to light").click()
    page.get_by_role("button", name="Theme: light, change to dark").click()
    page.reload()
    expect(page.get_by_role("button", name="Theme: dark, change to system")).to_be_visible()
    assert page.evaluate("getComputedStyle(document.body).colorScheme") == "dark"
    assert page.evaluate("document.fonts.load('14px Inter').then((faces) => faces[0].status)") == "loaded"
