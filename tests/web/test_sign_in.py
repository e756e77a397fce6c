"""Signing in at an identity provider, and again after a session has ended."""

import re
from collections.abc import Iterator
from datetime import timedelta

import pytest
from playwright.sync_api import Page, expect

from cupel_core.domain.runs.run import Run
from cupel_core.store.settings import Settings, settings
from cupel_core.workspace.access import oidc
from tests.issuer import Issuer
from tests.unit.api.client import Client
from tests.web.conftest import WIDTHS, Open, check_screen, end_sessions, settled, violations
from tests.web.samples import sample_run
from tests.web.server import Server


@pytest.fixture
def run(server: Server) -> Run:
    return sample_run()


@pytest.fixture
def issuer(cloud: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Issuer]:
    assert cloud.oidc_client_id == ""
    with Issuer.serve() as served:
        monkeypatch.setenv("OIDC_ISSUER", served.url)
        monkeypatch.setenv("OIDC_CLIENT_ID", "cupel-page")
        settings.cache_clear()
        oidc.clear_key_cache()
        yield served
    settings.cache_clear()
    oidc.clear_key_cache()


def test_the_issuers_token_signs_in_and_leads_back_to_the_address(
    open_page: Open, server: Server, issuer: Issuer, run: Run
) -> None:
    address = f"{server.address}/runs/{run.id}"
    page = open_page(f"/runs/{run.id}", role=None, issuer=issuer.url)
    page.get_by_role("link", name="Sign in with 127.0.0.1").click()
    expect(page.get_by_role("heading", name="Results")).to_be_visible()
    assert page.url == address
    expect(page.get_by_text("acme · member")).to_be_visible()
    (asked,) = issuer.signed_in
    assert asked["code_challenge_method"] == "S256"
    assert asked["scope"] == "openid profile email offline_access"
    assert asked["redirect_uri"] == f"{server.address}/login"
    kept = page.evaluate("JSON.stringify({...sessionStorage, ...localStorage})")
    assert "refresh" not in kept
    page.reload()
    expect(page.get_by_role("heading", name="Results")).to_be_visible()


def test_a_token_is_renewed_before_it_ends(open_page: Open, issuer: Issuer, run: Run) -> None:
    issuer.lifetime = timedelta(seconds=30)
    page = open_page("/runs", role=None, issuer=issuer.url)
    page.get_by_role("link", name="Sign in with").click()
    expect(page.get_by_role("row")).to_have_count(2)
    assert issuer.refreshed > 0
    assert run.id


@pytest.mark.parametrize("query", ["code=stolen&state=none", "error=access_denied&state=none"])
def test_an_answer_that_nobody_asked_for_is_refused(
    open_page: Open, server: Server, issuer: Issuer, query: str
) -> None:
    page = open_page(f"/login?{query}", role=None, issuer=issuer.url)
    expect(page.get_by_role("alert")).to_contain_text("has not asked for it")
    assert page.url == f"{server.address}/login"
    assert issuer.signed_in == []


def fill_form(page: Page) -> None:
    settled(page)
    page.get_by_label("System prompt").fill("Be brief.")
    page.get_by_label("First user message").fill("Where is my order?")


def test_a_session_that_ends_in_mid_work_keeps_what_was_typed(open_page: Open, server: Server) -> None:
    page = open_page("/new/scale", bypass_csp=True)
    fill_form(page)
    admin = end_sessions()
    page.get_by_label("sim/steady").check()
    dialog = page.get_by_role("dialog", name="Sign in again")
    expect(dialog).to_be_visible()
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert violations(page) == []
    dialog.get_by_label("Paste an API token").fill("cupel_wrong")
    dialog.get_by_role("button", name="Sign in").click()
    expect(dialog.get_by_role("alert")).to_contain_text("unknown or was revoked")
    dialog.get_by_label("Paste an API token").fill(admin)
    dialog.get_by_role("button", name="Sign in").click()
    expect(dialog).to_have_count(0)
    expect(page.get_by_label("System prompt")).to_have_value("Be brief.")
    expect(page.get_by_label("First user message")).to_have_value("Where is my order?")
    expect(page.get_by_role("complementary", name="Estimate")).to_contain_text("20 conversations")
    assert page.url == f"{server.address}/new/scale"


def test_another_tab_signs_in_at_the_issuer_for_the_one_whose_session_has_ended(
    open_page: Open, issuer: Issuer
) -> None:
    page = open_page("/new/scale", issuer=issuer.url)
    fill_form(page)
    end_sessions()
    page.get_by_label("sim/steady").check()
    with page.context.expect_page() as opened:
        page.get_by_role("link", name=re.compile("in another tab")).click()
    expect(opened.value.get_by_role("heading", name="Signed in")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_text("acme · member")).to_be_visible()
    expect(page.get_by_label("System prompt")).to_have_value("Be brief.")
    expect(page.get_by_role("complementary", name="Estimate")).to_contain_text("20 conversations")


def test_a_token_is_remembered_for_other_tabs_only_by_consent(open_page: Open, server: Server, run: Run) -> None:
    token = Client(None).issue()
    for is_remembered in (False, True):
        page = open_page("/runs", role=None)
        page.get_by_label("paste an API token").fill(token)
        page.get_by_label("Remember it in this browser").set_checked(is_remembered)
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("row")).to_have_count(2)
        other = page.context.new_page()
        other.goto(f"{server.address}/runs/{run.id}")
        expected = "Results" if is_remembered else "Sign in"
        expect(other.get_by_role("heading", name=expected)).to_be_visible()
        page.get_by_role("button", name="Sign out").click()
        other.reload()
        expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
        assert page.evaluate("localStorage.getItem('cupel.remembered')") is None


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_sign_in_with_an_issuer_is_accessible(open_page: Open, issuer: Issuer, theme: str) -> None:
    page = settled(open_page("/login", role=None, issuer=issuer.url, color_scheme=theme, bypass_csp=True))
    expect(page.get_by_role("link", name="Sign in with")).to_be_visible()
    check_screen(page, "login-issuer")
