"""The keys of the page in a browser: what they do, what lists them, and switching them off."""

import re

import pytest
from playwright.sync_api import Page, expect

from cupel_core.domain.runs.run import Run
from tests.web.conftest import Open, check_screen, load, settled
from tests.web.samples import sample_run
from tests.web.server import Server


@pytest.fixture
def run(server: Server) -> Run:
    return sample_run()


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def test_two_keys_go_to_a_screen(open_page: Open) -> None:
    page = settled(open_page("/runs"))
    screens = {"d": "definitions", "e": "experiments", "q": "queue", "s": "settings", "c": "compare", "r": "runs"}
    for key, screen in screens.items():
        press(page, "g", key)
        expect(page).to_have_url(re.compile(f"/{screen}$"))
        settled(page)


def test_the_keys_of_a_screen_are_listed(open_page: Open, run: Run) -> None:
    page = settled(open_page(f"/runs/{run.id}?t=1"))
    expect(page.get_by_role("article")).to_be_visible()
    press(page, "?")
    dialog = page.get_by_role("dialog", name="Keyboard shortcuts")
    listed = dialog.get_by_role("region", name="Answers").get_by_role("term")
    expect(listed).to_have_text(["n", "p", "j", "k", "]", "[", "Esc"])
    review = dialog.get_by_role("region", name="Review").get_by_role("term")
    expect(review).to_have_text(["0", "1", "s", "m"])
    expect(dialog.get_by_role("region", name="Messages").get_by_role("term")).to_have_text(["t", "T"])
    everywhere = dialog.get_by_role("region", name="On every screen").get_by_role("term")
    expect(everywhere).to_have_text(["?", "/", ".", "c", "gr", "gd", "ge", "gc", "gq", "gs"])
    press(page, "n", "g", "q")
    expect(page).to_have_url(re.compile(r"t=1$"))
    press(page, "Escape")
    expect(dialog).to_have_count(0)
    expect(page.get_by_role("article")).to_be_visible()
    press(page, "Escape")
    expect(page.get_by_role("article")).to_have_count(0)


def test_a_field_gets_what_is_typed(open_page: Open, run: Run) -> None:
    page = settled(open_page("/runs"))
    expect(page.get_by_role("row")).to_have_count(2)
    press(page, "/")
    field = page.get_by_label("Name contains")
    expect(field).to_be_focused()
    page.keyboard.type("g q ? / . j c")
    expect(field).to_have_value("g q ? / . j c")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page).to_have_url(re.compile(r"/runs\?name="))


def test_modifiers_leave_a_key_to_the_browser(open_page: Open, run: Run) -> None:
    page = settled(open_page(f"/runs/{run.id}"))
    expect(page.get_by_role("grid")).to_be_visible()
    press(page, "Control+j", "Alt+j", "Meta+j", "j")
    expect(page).to_have_url(re.compile(r"t=\d+$"))
    expect(page.get_by_role("gridcell", selected=True)).to_have_count(1)


def test_rows_and_their_actions_are_reached(open_page: Open, run: Run) -> None:
    page = settled(open_page("/runs"))
    press(page, "j")
    expect(page.get_by_role("row").nth(1).get_by_role("link").first).to_be_focused()
    press(page, "Enter")
    expect(page).to_have_url(re.compile(f"/runs/{run.id}$"))
    retry = page.get_by_role("button", name="Retry 1 error")
    expect(retry).to_be_visible()
    press(page, ".")
    expect(retry).to_be_focused()
    load(page, f"/runs/{run.id}?t=1")
    expect(page.get_by_role("article")).to_be_visible()
    press(page, ".")
    expect(page.get_by_role("button", name="Previous failure")).to_be_focused()


def test_a_link_is_copied(open_page: Open, run: Run) -> None:
    page = settled(open_page(f"/runs/{run.id}?t=1", permissions=["clipboard-read", "clipboard-write"]))
    press(page, "c")
    expect(page.get_by_role("status").filter(has_text="Link copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == page.url


def test_the_same_scenario_and_its_messages_are_walked(open_page: Open, run: Run) -> None:
    page = settled(open_page(f"/runs/{run.id}?t=1"))
    article = page.get_by_role("article")
    expect(article).to_contain_text("sim/steady")
    for key, target in (("]", "sim/bold"), ("]", "sim/contrarian"), ("]", "sim/contrarian"), ("[", "sim/bold")):
        press(page, key)
        expect(article).to_contain_text(target)
        expect(article.get_by_role("heading")).to_have_text("Refund of a late order")
        expect(article).to_contain_text("repeat 2")
    messages = article.get_by_role("list", name="Messages").get_by_role("listitem")
    press(page, "t")
    expect(messages.nth(0)).to_be_focused()
    press(page, "t", "t", "T")
    expect(messages.nth(1)).to_be_focused()


def test_the_targets_of_an_opened_row_are_walked(open_page: Open, run: Run) -> None:
    page = settled(open_page(f"/runs/{run.id}?t=4%26beside=true"))
    expect(page.get_by_role("article")).to_have_count(3)
    press(page, "]", "]", "]", "[")
    expect(page).to_have_url(re.compile("t=24"))


def test_keys_of_one_character_can_be_switched_off(open_page: Open, run: Run) -> None:
    page = settled(open_page("/settings"))
    switch = page.get_by_role("checkbox", name="Single-key shortcuts")
    switch.uncheck()
    assert page.evaluate("localStorage.getItem('cupel.keys')") == "off"
    page.get_by_role("heading", name="Keyboard").click()
    press(page, "g", "r", "?")
    load(page, f"/runs/{run.id}?t=1")
    assert page.get_by_role("dialog").count() == 0
    press(page, "n", "Escape")
    expect(page).not_to_have_url(re.compile(r"t="))
    # What acts only while an element has the focus remains.
    page.get_by_role("grid").get_by_role("gridcell").and_(page.locator("[tabindex='0']")).focus()
    before = page.locator("[role=gridcell]:focus").get_attribute("aria-colindex")
    press(page, "ArrowRight")
    expect(page.locator("[role=gridcell]:focus")).to_have_attribute("aria-colindex", str(int(before or 0) + 1))
    page.get_by_role("button", name="Shortcuts", exact=True).click()
    page.get_by_role("dialog").get_by_role("checkbox").check()
    press(page, "Escape", "g", "r")
    expect(page).to_have_url(re.compile("/runs$"))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_list_of_keys_is_accessible(open_page: Open, run: Run, theme: str) -> None:
    page = settled(open_page(f"/runs/{run.id}?t=1", color_scheme=theme, bypass_csp=True))
    expect(page.get_by_role("article")).to_be_visible()
    # What is folded is opened for the check, which the dialog would cover.
    page.get_by_role("article").get_by_text("Details", exact=True).click()
    press(page, "?")
    expect(page.get_by_role("dialog")).to_be_visible()
    check_screen(page, "keys")
