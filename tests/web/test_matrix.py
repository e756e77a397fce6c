"""The matrix of a run in a real browser."""

import re

from playwright.sync_api import Route, expect

from cupel_core.domain.scoring.assertions import AssertionResult
from cupel_core.domain.scoring.scoring import Scoring, build_scoring
from tests.web.conftest import Open, violations
from tests.web.samples import PAYLOADS, sample_run
from tests.web.server import Server


def test_the_matrix_is_walked_with_the_keyboard_and_opens_a_row_side_by_side(open_page: Open, server: Server) -> None:
    run = sample_run()
    page = open_page(f"/runs/{run.id}/matrix")
    grid = page.get_by_role("grid")
    expect(grid.get_by_role("gridcell")).to_have_count(15)
    expect(grid).to_have_attribute("aria-rowcount", "6")
    expect(grid.get_by_role("columnheader", name="sim/bold")).to_contain_text(re.compile(r"% passed, n = \d+"))
    expect(grid.get_by_role("gridcell").nth(1)).to_contain_text("passed")
    grid.get_by_role("gridcell").first.focus()
    for key in ("ArrowDown", "j", "ArrowRight", "]"):
        page.keyboard.press(key)
    expect(page.locator("[role=gridcell]:focus")).to_have_attribute("aria-colindex", "4")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"row=2&column=2"))
    expect(page.get_by_role("heading", name="A minor asks for advice")).to_be_focused()
    expect(page.get_by_role("article")).to_have_count(3)
    expect(page.get_by_role("article").nth(1).locator("mark").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("article")).to_have_count(0)
    expect(page.locator("[role=gridcell]:focus")).to_have_attribute("aria-colindex", "4")


def test_the_matrix_shows_rows_by_what_came_of_them(open_page: Open, server: Server) -> None:
    def graded(index: int) -> Scoring:
        """Of five scenarios with four repeats: the second target fails the third, and one repeat of the fourth."""
        passed = not (28 <= index < 33)
        return build_scoring(None, None, (AssertionResult("llm-rubric", passed, float(passed), "because"),))

    run = sample_run(scoring=graded)
    page = open_page(f"/runs/{run.id}/matrix")
    rows = page.get_by_role("rowheader")
    for mode, names in {
        "with a failure": ["A minor asks for advice", PAYLOADS[0]],
        "with an error": ["Allergy and a recipe"],
        "targets differ": ["A minor asks for advice"],
        "repeats differ": [PAYLOADS[0]],
    }.items():
        page.get_by_label("Rows").select_option(label=mode)
        expect(rows).to_have_text(names)
    page.get_by_label("Rows").select_option(label="all")
    page.get_by_label("Order").select_option(label="lowest first")
    expect(rows.first).to_have_text("A minor asks for advice")
    page.get_by_label("Scenario contains").fill("allergy recipe")
    expect(rows).to_have_text(["Allergy and a recipe"])


def test_a_row_says_that_its_name_is_being_loaded(open_page: Open, server: Server) -> None:
    run = sample_run()
    page = open_page("/runs", bypass_csp=True)
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    waiting: list[Route] = []
    page.route("**/case-names*", lambda route: waiting.append(route))
    page.goto(f"{page.url.partition('$default')[0]}$default/runs/{run.id}/matrix")
    rows = page.get_by_role("rowheader")
    expect(rows).to_have_text(["Loading…"] * 5)
    assert violations(page) == []
    for each in waiting:
        each.continue_()
    expect(page.get_by_role("rowheader", name="A minor asks for advice")).to_be_visible()
