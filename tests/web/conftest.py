"""A browser and the page."""

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from cupel_core.domain.access import AccessRole
from cupel_core.store.settings import Settings
from tests.conftest import ROOT
from tests.unit.api.client import Client
from tests.web.server import Server
from tests.web.tools import PLAYWRIGHT_FOLDER, find_browser
from web import build

sys.path.append(str(PLAYWRIGHT_FOLDER))
from playwright.sync_api import Browser, Page, Request, expect, sync_playwright

AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
expect.set_options(timeout=20_000)
type Open = Callable[..., Page]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Of one file only: until it ends, Playwright has an event loop in the thread of the tests."""
    program, variables = find_browser()
    environment: dict[str, str | float | bool] = {**os.environ, **variables}
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"], env=environment)
        yield started
        started.close()


@pytest.fixture(scope="session")
def built_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the built page: tests of a stack build it again meanwhile, which deletes its files first."""
    folder = tmp_path_factory.mktemp("page") / "dist"
    with build.lock():
        build.copy(build.BUILT, folder)
    return folder


@pytest.fixture
def server(cloud: Settings, built_page: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    from page import app as page

    monkeypatch.setattr(page, "_FOLDER", built_page)
    page._read.cache_clear()
    page._template.cache_clear()
    with Server() as started:
        yield started


@pytest.fixture
def client(server: Server) -> Client:
    """A client of the served API, with a token of an admin."""
    client = Client(None)
    client.token = client.issue()
    return client


class Watched:
    """What a page must not do: ask another host, break the policy, show a dialog, fail."""

    def __init__(self, page: Page, *addresses: str) -> None:
        self.page, self.addresses = page, addresses
        self.faults: list[str] = []
        page.on("request", self._check)
        page.on("dialog", lambda dialog: (self.faults.append(f"dialog {dialog.message}"), dialog.dismiss()))
        page.on("pageerror", lambda error: self.faults.append(f"error {error}"))
        page.on("console", lambda message: self._note(message))

    def _check(self, request: Request) -> None:
        if not request.url.startswith((*self.addresses, "data:")):
            self.faults.append(f"request to {request.url}")

    def _note(self, message: Any) -> None:
        if "Content Security Policy" in message.text or "TrustedHTML" in message.text:
            self.faults.append(message.text)


@contextmanager
def watched_pages(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Makes pages that may call some addresses, each in a context of its own; fails for what they must not do."""
    contexts, watched = [], []

    def make(*addresses: str, **options: Any) -> Page:
        context = browser.new_context(
            **{"viewport": {"width": 1440, "height": 900}, "color_scheme": "light", **options}
        )
        context.set_default_timeout(20_000)
        contexts.append(context)
        page = context.new_page()
        watched.append(Watched(page, *addresses))
        return page

    yield make
    faults = [fault for each in watched for fault in each.faults]
    for context in contexts:
        context.close()
    assert faults == []


@pytest.fixture
def open_page(browser: Browser, server: Server) -> Iterator[Open]:
    """Open an address of the page, signed in with a code for this role. The page may also call an `issuer`."""

    def open_(
        path: str = "/runs", *, role: AccessRole | None = AccessRole.ADMIN, issuer: str | None = None, **options: Any
    ) -> Page:
        page = make(server.address, *filter(None, [issuer]), **options)
        if role is None:
            page.goto(f"{server.address}{path}")
            return page
        client = Client(None)
        code = client.post("/v1/login-codes", token=client.issue(role=role)).json()["code"]
        page.goto(f"{server.address}/#code={code}&to={path}")
        return page

    with watched_pages(browser) as make:
        yield open_


def violations(page: Page) -> list[str]:
    """What axe finds. The policy of the page forbids scripts in it, so axe runs in the world of the debugger."""
    page.evaluate(AXE.read_text())
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [f"{each['id']}: {each['nodes'][0]['html'][:200]}" for each in found["violations"]]


def settled(page: Page) -> Page:
    """The page once it has loaded what it shows."""
    page.get_by_role("heading").first.wait_for()
    page.wait_for_load_state("networkidle")
    expect(page.get_by_role("status").filter(has_text=re.compile("^Loading"))).to_have_count(0)
    return page


def go(page: Page, path: str) -> Page:
    """To another address of the page, without loading it again."""
    page.evaluate(
        "path => { history.pushState(null, '', path); dispatchEvent(new PopStateEvent('popstate')) }",
        page.url.partition("$default")[0] + "$default" + path,
    )
    return settled(page)


def load(page: Page, path: str) -> Page:
    """Another address of the page, as if it were opened anew in the same tab; for one who is signed in."""
    signed_in = page.get_by_role("button", name="Sign out")
    expect(signed_in).to_be_visible()
    page.goto(page.url.partition("$default")[0] + "$default" + path)
    expect(signed_in).to_be_visible()
    return settled(page)


WIDTHS = (320, 390, 1024, 1680)
LONG_LINES = """() => [...document.querySelectorAll('main p, main li, main dd')].filter(element => {
  if (element.closest('svg, table, figure, dialog') || !element.checkVisibility()) return false
  const zero = document.createElement('span')
  zero.textContent = '0'
  element.append(zero)
  const limit = 63 * zero.getBoundingClientRect().width
  zero.remove()
  const lines = [...element.childNodes].filter(node => node.nodeType === Node.TEXT_NODE).flatMap(node => {
    const range = document.createRange()
    range.selectNodeContents(node)
    return [...range.getClientRects()]
  })
  return lines.some(line => line.width > limit)
}).map(element => element.textContent.slice(0, 80))"""
"""Prose that is wider than `--measure` of tokens.css."""
MARKUP = (
    "main script, main img:not([data-file]), main iframe, main math, main a[href^='javascript'], main a[href^='data']"
)


def check_screens(page: Page, paths: dict[str, str]) -> None:
    """Of each address, by a name. The page must have been opened with `bypass_csp`."""
    for name, path in paths.items():
        check_screen(load(page, path), name)


def check_screen(page: Page, name: str, folder: str | None = os.environ.get("CUPEL_SCREENSHOTS")) -> None:
    """No markup of others, no line that is too long, nothing that axe finds. Everything that is folded is opened.

    `CUPEL_SCREENSHOTS` names a folder for pictures.
    """
    theme = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'")
    _open_folds(page)
    assert page.locator(MARKUP).count() == 0, name
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width, f"{name} at {width}"
        if folder:
            page.wait_for_timeout(200)
            page.screenshot(path=f"{folder}/{name}-{width}-{theme}.png", full_page=True)
    assert page.evaluate(LONG_LINES) == [], name
    assert violations(page) == [], name


def _open_folds(page: Page) -> None:
    closed = page.locator("main details:not([open]) > summary").locator("visible=true")
    while True:
        page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        settled(page)
        if not closed.count():
            return
        closed.first.dispatch_event("click")  # Something that was opened before may cover it.


def end_sessions() -> str:
    """Revoke the tokens that pages have; returns one that is valid."""
    client = Client(None)
    admin = client.issue()
    for each in client.get("/v1/tokens", token=admin).json()["items"]:
        if each["name"].startswith("web page"):
            client.delete(f"/v1/tokens/{each['id']}", token=admin)
    return admin
